"""Invocations of the shipped operators that pass, and random changes of them that may not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

from xdsl.dialects.builtin import f32, f64, i32, i64

from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.description import (
    DTYPES,
    Argument,
    Invocation,
    ParamValue,
    Tensor,
    ptype_of,
)
from gawee_dialect.opdesc.load import lightnet_dialect

ELEMENTS = {"f": f32, "i": i32, "d": f64}


@dataclass(frozen=True)
class Case:
    """An invocation and the tensors that exist before it."""

    optype: str
    inputs: Mapping[str, Tensor]
    params: Mapping[str, ParamValue]
    outputs: tuple[str, ...] = ("dst",)
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that bear another name, or none, in the invocation."""

    def invocation(self) -> Invocation:
        """Return the invocation; tensors bear the names of their arguments."""

        def arguments(names: Iterator[str] | tuple[str, ...]) -> list[Argument]:
            shown = ((self.renamed.get(name, name), name) for name in names)
            return [Argument(new, name) for new, name in shown if new]

        params = {
            self.renamed.get(name, name): value
            for name, value in self.params.items()
            if self.renamed.get(name, name)
        }
        ins, outs = arguments(tuple(self.inputs)), arguments(self.outputs)
        return Invocation("node", self.optype, ins, outs, params)

    def table(self) -> dict[str, Tensor]:
        """Return the tensor table."""
        return dict(self.inputs)


def tensor(name: str, text: str, *, static: bool = False) -> Tensor:
    """Return a tensor of a shape such as `2x3f`."""
    sizes = tuple(int(each) for each in text[:-1].split("x"))
    return Tensor(name, ELEMENTS[text[-1]], sizes, "LN_MEM_CPU", static)


def case(optype: str, inputs: str, outputs: str = "dst", /, **params: ParamValue) -> Case:
    given = dict(each.split(":") for each in inputs.split())
    tensors = {name: tensor(name, shape) for name, shape in given.items()}
    return Case(optype, tensors, params, tuple(outputs.split()))


WINDOW: dict[str, ParamValue] = {
    "size": (3, 2), "stride": (2, 1), "padding": (1, 0, 1, 1), "autopad": "NOTSET",
}  # fmt: skip
BASES = [
    case("conv2d", "src:2x6x9x8f weight:4x3x3x2f bias:4f", group=2, dilation=(1, 2), **WINDOW),
    case("conv2d", "src:1x3x9x8f weight:4x3x3x2f bias:4f", group=1, dilation=(1, 1),
         **(WINDOW | {"autopad": "SAME_LOWER"})),
    case("deconv2d", "src:2x4x5x6f weight:4x3x3x2f bias:6f", group=2, dilation=(1, 1),
         output_dims=(0, 0, 0, 0), output_padding=(0, 0), **WINDOW),
    case("maxpool2d", "src:2x3x9x8f", **WINDOW),
    case("avgpool2d", "src:2x3x9x8f", **(WINDOW | {"autopad": "VALID"})),
    case("batchnorm", "src:2x3x5x4f scale:3f offset:3f mean:3f var:3f", epsilon=0.001),
    case("slice", "src:2x4f", axis=1, start=1, len=3),
    case("concat", "src1:2x3x4f src2:2x5x4f", axis=1),
    case("transpose", "src:2x3x4f", axes=(2, 0, 1)),
    case("reshape", "src:2x3x4f", dims=(6, 4)),
    case("resize", "src:2x3f", mode="TL_LINEAR", dims=(4, 7)),
    case("upsample", "src:2x3f", mode="TL_NEAREST", scales=(2.0, 1.5)),
    case("maxreduce", "src:2x3x4f", axis=1),
    case("maxreduce_arg", "src:2x3x4f", "dst arg", axis=0),
    case("dot_product", "src1:2x3f src2:2x3f"),
    case("sort1d", "src_key:7f", dir="TL_SORT_DIR_DESCENDING"),
    case("sort1d_by_key", "src_key:7f src_val:7i", "dst_key dst_val", dir="TL_SORT_DIR_ASCENDING"),
    case("pick1d", "src:12f src_index:4i", len=3, stride=2),
    case("arange", "", dtype="TL_INT32", start=1.0, stop=9.5, step=2.0),
    case("rearange", "src:5i", start=1.0, stop=9.5, step=2.0),
    case("create", "", dtype="TL_FLOAT", dims=(2, 3), ran=(0, 1), data=(0,), from_file=False),
    case("elew", "src1:2x3f src2:2x3f", elew_op="TL_POW"),
    case("lrelu", "src:2x3d", negslope=-0.1),
    case("softmax", "src:2x3x5f", axis=2),
    case("submean", "src:5x4x3f", mean=(1.0, 2.0, 3.0), dtype="TL_FLOAT"),
    case("svmr", "src:3x16f"),
    case("ldmr", "src:3x13f"),
    case("detect_yolov3", "feature:1x21x4x5f anchors:3x2f",
         "box_centers box_sizes boxes confs probs", img_width=64, img_height=48),
]  # fmt: skip


def described(optype: str) -> CompiledOperator:
    return described_op(optype).description()


def described_op(optype: str) -> type[DescribedOp]:
    for op in lightnet_dialect().operations:
        if issubclass(op, DescribedOp) and op.name == f"lightnet.{optype}":
            return op
    raise KeyError(optype)


def changed(random: Random) -> Iterator[Case]:
    """Yield every base, then each changed at random in one place or two."""
    yield from BASES
    for base in BASES:
        for _ in range(10):
            made = _change(base, random)
            yield made if random.random() < 0.7 else _change(made, random)


def _change(base: Case, random: Random) -> Case:
    kind = random.choice(("shape", "shape", "dtype", "static", "param", "param", "param", "name"))
    if kind == "param" and base.params:
        name = random.choice(list(base.params))
        return replace(base, params={**base.params, name: _value(base.params[name], random)})
    if kind in ("shape", "dtype", "static") and base.inputs:
        name = random.choice(list(base.inputs))
        return replace(base, inputs={**base.inputs, name: _tensor(base.inputs[name], kind, random)})
    names = [*base.inputs, *base.params, *base.outputs]
    return replace(base, renamed={random.choice(names): random.choice(("", "other"))})


def _tensor(old: Tensor, kind: str, random: Random) -> Tensor:
    if kind == "dtype":
        return replace(
            old, element=random.choice([each for each in DTYPES.values() if each != i64])
        )
    if kind == "static":
        return replace(old, static=not old.static)
    shape = list(old.shape)
    place = random.randrange(len(shape))
    match random.randrange(4):
        case 0:
            shape[place] += random.choice((-1, 1))
        case 1:
            shape[place] = random.randint(1, 20)
        case 2:
            shape.insert(place, random.randint(1, 3))
        case _:
            del shape[place]
    return replace(old, shape=tuple(max(1, each) for each in shape) or (1,))


def _value(old: ParamValue, random: Random) -> ParamValue:
    if random.random() < 0.1:
        return random.choice(("text", True, 2, -1.5, None, (1, 2), ("a",), (False, True)))
    if isinstance(old, tuple):
        values = list(old)
        place = random.randrange(len(values))
        if random.random() < 0.25:
            return tuple(values[:place]) or (*values, values[0])
        new = _value(values[place], random)
        values[place] = new if isinstance(new, int | float) else values[place]
        return tuple(values) if ptype_of(tuple(values)) != "a mixed array" else old
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return random.choice((old + 1, old - 1, random.randint(-3, 20)))
    if isinstance(old, float):
        return random.choice((0.0, -old, old * 100, old + 0.25, 1e300, 5))
    names = ("TL_FLOAT", "TL_LINEAR", "TL_SUM", "SAME_UPPER", "VALID", "NOTSET", "unknown")
    return random.choice(names)
