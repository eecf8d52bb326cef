"""Steps one after the other: a body of ops that hands a state from each step to the next."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.graph.movement import CatOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.open_size import indices_of
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.dialect.size_list import SIZE_LIST, OneSize, size_list
from gawee_dialect.dialect.types import (
    AnyTensor,
    is_tensor,
    require,
    require_static,
    shape_text,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location

MARK = "gawee.scan"
"""The attribute of an `scf.for` whose body is a step: ops on whole tensors, kernels to be."""

BATCH_MARK = "gawee.batch"
"""The attribute of a scan, and of its `scf.for`, whose steps are parts of a batch: no step reads
what another one makes, and each is a whole network or a good part of one."""

THREADS_MARK = "gawee.threads"
"""The attribute of such a scan, and of its `scf.for`, that says how many threads compute parts at
the same time, each a part of its own: a kernel of the body is run by one of them."""


@irdl_op_definition
class ScanOp(InferredOp):
    """Run the ops of a body once a step: a recurrence over time.

    `state = initial`; at step t `state, made[t] = body(state, sequences[t])`; the results are the
    last state and all that was made, along a new first axis. With `reverse` the steps are taken
    from the last to the first. The body may read values from around the op, such as weights.

    As Scan of ONNX, with axes of 0, and `jax.lax.scan`.

    ```mlir
    %last, %all = gawee.scan steps 5 initial(%h : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
    ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
      %sum = gawee.add %state, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %next = gawee.tanh %sum : (tensor<2x3xf32>) -> tensor<2x3xf32>
      gawee.yield %next, %sum : tensor<2x3xf32>, tensor<2x3xf32>
    } -> tensor<2x3xf32>, tensor<5x2x3xf32>
    ```

    Constraints:
      C1: there is at least one step.
      C2: a sequence has an element for each step along its first axis.
      C3: the body takes a tensor of the type of each initial state, then one of an element of each
          sequence.
      C4: the body ends in `gawee.yield` of tensors: the next state, which has the type of the
          initial one, then what is made, of static shapes.
    """

    name = "gawee.scan"

    initial = var_operand_def(TensorType)
    sequences = var_operand_def(TensorType)
    steps = prop_def(SIZE_LIST)
    """A list of one size."""
    reverse = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    values = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(Pure())
    custom_directives = (OneSize,)
    assembly_format = (
        "`steps` custom<OneSize>($steps) (`reverse` $reverse^)? "
        "(`initial` `(` $initial^ `:` type($initial) `)`)? "
        "(`over` `(` $sequences^ `:` type($sequences) `)`)? "
        "$body `->` type($values) attr-dict"
    )

    def __init__(
        self,
        initial: Sequence[SSAValue],
        sequences: Sequence[SSAValue],
        body: Region,
        *,
        steps: int,
        reverse: bool = False,
    ):
        types = self.shape_rule(
            [tensor_type(value) for value in initial],
            [tensor_type(value) for value in sequences],
            body,
            steps=steps,
        )
        super().__init__(
            operands=[initial, sequences],
            properties={
                "steps": size_list([steps]),
                "reverse": UnitAttr() if reverse else None,
            },
            result_types=[types],
            regions=[body],
        )

    @staticmethod
    def shape_rule(
        initial: Sequence[AnyTensor], sequences: Sequence[AnyTensor], body: Region, *, steps: int
    ) -> Sequence[AnyTensor]:
        """Return the types of the last state and of what is made at all steps.

        Raises VerifyException where a constraint is broken.
        """
        require(steps >= 1, f"expected at least one step, got {steps}")
        for index, type in enumerate(sequences):
            shape = type.get_shape()
            if shape[:1] != (steps,):
                raise VerifyException(
                    f"expected sequence #{index} of {steps} elements along axis 0, "
                    f"got {shape_text(shape)}"
                )
        taken = [*initial, *map(element_of_sequence, sequences)]
        _require_types("body to take", [each.type for each in body.block.args], taken)
        last = body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("expected body to end in gawee.yield")
        yielded = [value.type for value in last.values]
        _require_types("body to yield the next state", yielded[: len(initial)], initial)
        made: list[AnyTensor] = []
        for index, type in enumerate(yielded[len(initial) :]):
            if not is_tensor(type):
                raise VerifyException(f"expected body to make tensors, got '{type}'")
            require_static(f"what body makes (#{index})", type)
            made.append(type)
        return [*initial, *(sequence_of(type, steps) for type in made)]

    def inferred_types(self) -> Sequence[AnyTensor]:
        count, steps = len(self.results), self.steps.get_values()
        require(len(steps) == 1, f"expected one number of steps, got {len(steps)}")
        types = self.shape_rule(
            [tensor_type(value) for value in self.initial],
            [tensor_type(value) for value in self.sequences],
            self.body,
            steps=self.num_steps,
        )
        require(len(types) == count, f"expected {len(types)} results, got {count}")
        return types

    @property
    def num_steps(self) -> int:
        """How often the body is run."""
        (steps,) = self.steps.get_values()
        return steps

    @property
    def order(self) -> Sequence[int]:
        """The positions along the sequences, in the order of the steps."""
        forward = indices_of(self.num_steps)
        return forward if self.reverse is None else forward[::-1]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What a step returns: the next state, then what it makes."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values


def _require_types(what: str, got: Sequence[Attribute], wanted: Sequence[Attribute]) -> None:
    if list(got) != list(wanted):
        raise VerifyException(f"expected {what} ({_listed(wanted)}), got ({_listed(got)})")


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


def element_of_sequence(type: AnyTensor) -> AnyTensor:
    """Return the type of what a step takes of a sequence: all but its first axis."""
    return TensorType(type.element_type, type.get_shape()[1:])


def sequence_of(type: AnyTensor, steps: int) -> AnyTensor:
    """Return the type of a tensor of each step, along a new first axis."""
    return TensorType(type.element_type, (steps, *type.get_shape()))


def keep_marks(old: Operation, new: Operation) -> None:
    """Mark an op that takes the place of a scan or of its loop as that is marked."""
    for mark in (MARK, BATCH_MARK, THREADS_MARK):
        if mark in old.attributes:
            new.attributes[mark] = old.attributes[mark]


def is_step_loop(op: Operation | None) -> TypeGuard[scf.ForOp]:
    """Whether an op is the loop that a scan became: its body is a step, run as it is written."""
    return type(op) is scf.ForOp and MARK in op.attributes


def is_batch_loop(op: Operation | None) -> TypeGuard[scf.ForOp]:
    """Whether an op is a loop over parts of a batch, whose kernels are functions each."""
    return is_step_loop(op) and BATCH_MARK in op.attributes


def is_thread_loop(op: Operation | None) -> TypeGuard[scf.ParallelOp]:
    """Whether an op is a loop over threads, each of which runs a loop over parts of its own."""
    return isinstance(op, scf.ParallelOp) and any(map(is_batch_loop, op.body.block.ops))


def threads_of(loop: Operation) -> int:
    """Return how many threads compute the steps of a loop, each some of its own: mostly one."""
    mark = loop.attributes.get(THREADS_MARK)
    return mark.value.data if isa(mark, IntegerAttr) else 1


def is_of_one_thread(op: Operation) -> bool:
    """Whether an op is part of a step that a thread computes while others compute other steps."""
    parent = op.parent_op()
    while parent is not None:
        if threads_of(parent) > 1:
            return True
        parent = parent.parent_op()
    return False


def is_branching(op: Operation | None) -> TypeGuard[scf.IfOp | scf.WhileOp]:
    """Whether an op decides when its regions are run, and hands no buffers to them or on."""
    if type(op) not in (scf.IfOp, scf.WhileOp):
        return False
    assert op is not None
    handed = (
        argument for region in op.regions for block in region.blocks for argument in block.args
    )
    return not any(isinstance(value.type, MemRefType) for value in (*op.results, *handed))


def blocks_of_kernels(op: Operation) -> Sequence[Block]:
    """Return the blocks of an op whose kernels are functions each, called from there."""
    return _blocks_of(op) if is_batch_loop(op) or is_branching(op) else ()


def _blocks_of(op: Operation) -> Sequence[Block]:
    return [block for region in op.regions for block in region.blocks]


def scheduled_blocks(function: FuncOp) -> Iterator[Block]:
    """Yield the blocks whose kernels have schedules: those of `kernel_blocks`, and steps of scans.

    Those inside of others come first.
    """
    for block in function.body.blocks:
        yield from _blocks_within(block, _blocks_of_steps)


def _blocks_of_steps(op: Operation) -> Sequence[Block]:
    return _blocks_of(op) if is_step_loop(op) or is_branching(op) else ()


def kernel_blocks(function: FuncOp) -> Iterator[Block]:
    """Yield the blocks whose ops become functions each: of loops over a batch and of branches,
    those inside of others first, then the function's.

    A function of several blocks has none: its ops are run in an order that it computes.
    """
    if len(function.body.blocks) == 1:
        yield from _blocks_within(function.body.block, blocks_of_kernels)


def _blocks_within(
    block: Block, blocks_of: Callable[[Operation], Sequence[Block]]
) -> Iterator[Block]:
    for op in block.ops:
        for inner in blocks_of(op):
            yield from _blocks_within(inner, blocks_of)
    yield block


# The steps of scans, written out one after the other.


def write_steps(builder: Builder, op: ScanOp) -> list[SSAValue]:
    """Insert the body of a scan for every step, on slices of its sequences.

    Returns what takes the place of its results: what steps make is put together at the end.
    """
    count = len(op.initial)
    state: Sequence[SSAValue] = op.initial
    made: dict[int, Sequence[SSAValue]] = {}
    for position in op.order:
        now = [_element(builder, sequence, position) for sequence in op.sequences]
        results = _step(builder, op, [*state, *now])
        state, made[position] = results[:count], results[count:]
    rows = [made[position] for position in range(op.num_steps)]
    return [*state, *(_joined(builder, each) for each in zip(*rows, strict=True))]


def without_scans(module: ModuleOp) -> ModuleOp:
    """Return a module whose scans are written out: itself where it has none."""
    if not any(isinstance(op, ScanOp) for op in module.walk()):
        return module
    written_out = module.clone()
    # From the inside out: what is in a body is then repeated with it.
    for op in reversed([op for op in written_out.walk() if isinstance(op, ScanOp)]):
        _replace_by_steps(op)
    return written_out


def _replace_by_steps(op: ScanOp) -> None:
    inserted: list[Operation] = []
    builder = Builder(InsertPoint.before(op))
    builder.operation_insertion_handler = [inserted.append]
    for old, new in zip(op.results, write_steps(builder, op), strict=True):
        old.replace_all_uses_with(new)
    for each in inserted:
        hand_on_location(op, each)
    op.detach()
    op.erase()


def _element(builder: Builder, sequence: SSAValue, position: int) -> SSAValue:
    _, *shape = tensor_shape(sequence)
    offsets = [position, *(0 for _ in shape)]
    row = builder.insert(SliceOp(sequence, offsets=offsets, sizes=[1, *shape])).output
    return builder.insert(ReshapeOp(row, shape=shape)).output


def _step(builder: Builder, op: ScanOp, taken: Sequence[SSAValue]) -> list[SSAValue]:
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, taken, strict=True))
    for inner in op.body.block.ops:
        if inner is not op.body.block.last_op:
            builder.insert(inner.clone(values))
    return [values.get(value, value) for value in op.yielded]


def _joined(builder: Builder, values: Sequence[SSAValue]) -> SSAValue:
    rows = [
        builder.insert(ReshapeOp(value, shape=(1, *tensor_shape(value)))).output for value in values
    ]
    return builder.insert(CatOp(rows, dim=0)).output
