"""Weights without data take the place of a model's own while it is traced.

They are fake tensors that claim to be in main memory. On the meta device itself a constant that
`forward` makes would have no data, or be on another device than the weights.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module

from xdsl.utils.hints import isa

from gawee_dialect.frontends.npu_ir.pytorch import Module, Tensor, has_data, is_tensor, torch

Table = dict[str, object]


class StandIns:
    """Makes stand-ins, the same one for the same tensor: tied weights stay tied."""

    def __init__(self) -> None:
        fake = import_module("torch._subclasses.fake_tensor")
        symbolic = import_module("torch.fx.experimental.symbolic_shapes")
        # A shape that depends on data becomes a symbol, which conversion then names.
        self._mode = fake.FakeTensorMode(allow_non_fake_inputs=True, shape_env=symbolic.ShapeEnv())
        self._made: dict[int, tuple[Tensor, Tensor]] = {}

    def of(self, original: Tensor) -> Tensor:
        """Return the stand-in of a tensor: shape, strides and dtype, no data."""
        # The original is kept too: its id must not become another tensor's.
        if id(original) not in self._made:
            self._made[id(original)] = (original, self._make(original))
        return self._made[id(original)][1]

    def _make(self, original: Tensor) -> Tensor:
        library = torch()
        with self._mode:
            made: Tensor = library.empty_strided(
                tuple(original.shape), tuple(original.stride()), dtype=original.dtype, device="cpu"
            )
        if not isinstance(original, library.nn.Parameter):
            return made
        return library.nn.Parameter(made, requires_grad=original.requires_grad)

    def of_inputs(self, inputs: object) -> object:
        """Return example inputs with every tensor inside them replaced."""
        tree = import_module("torch.utils._pytree")

        def replaced(leaf: object) -> object:
            return self.of(leaf) if is_tensor(leaf) else leaf

        return tree.tree_map(replaced, inputs)

    @contextmanager
    def inside(self, model: Module) -> Generator[None]:
        """Put stand-ins in the place of all weights, and of other tensors without data.

        Those with data are copied: `forward` may write to them before it is refused.
        """
        replaced: list[tuple[Table, str, object]] = []
        copies: dict[int, Tensor] = {}
        try:
            for table, name, value in list(_tensors(model)):
                replaced.append((table, name, value))
                table[name] = self.of(value)
            for own, name, value in list(_data(model)):
                replaced.append((own, name, value))
                if id(value) not in copies:
                    copies[id(value)] = getattr(value.detach(), "clone")()
                own[name] = copies[id(value)]
            yield
        finally:
            for table, name, value in replaced:
                table[name] = value


def _tensors(model: Module) -> Iterator[tuple[Table, str, Tensor]]:
    for module in model.modules():
        own = vars(module)
        for table in (own["_parameters"], own["_buffers"]):
            assert isa(table, Table)
            yield from ((table, name, value) for name, value in table.items() if is_tensor(value))
        for name, value in own.items():
            if is_tensor(value) and not has_data(value):
                yield own, name, value


def _data(model: Module) -> Iterator[tuple[Table, str, Tensor]]:
    for module in model.modules():
        own = vars(module)
        for name, value in own.items():
            if is_tensor(value) and has_data(value):
                yield own, name, value
