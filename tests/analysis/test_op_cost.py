"""FLOPs and bytes of single ops at every level, against sums done by hand.

Sizes are odd and all different; f32 unless the text says otherwise.
"""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import Work
from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp, ScatterElementsOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp
from gawee_dialect.dialect.graph.reduction import CumSumOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.target.description import PROCESSORS
from gawee_dialect.universe import all_passes, make_context
from tests.test_completeness import LOWERED_OPS, example_module


def module_of(body: str, arguments: str = "", after: str = "") -> ModuleOp:
    text = f"func.func @main({arguments}) {{\n{body}\nfunc.return\n}}\n{after}"
    return parse_mlir(make_context(), text, "in.mlir")


def ops_of(module: ModuleOp) -> list[Operation]:
    function = find_function(module)
    assert function is not None
    return list(function.body.block.ops)


def work_of(body: str, arguments: str, after: str = "") -> Work:
    """Return the work of the only op that has any."""
    works = [op_work(op) for op in ops_of(module_of(body, arguments, after))]
    (work,) = (each for each in works if each is not None)
    return work


def numbers(work: Work) -> tuple[int, int, int]:
    return work.flops, work.read_bytes, work.write_bytes


# The graph: operands once, the result once, weights included.


def test_grouped_convolution_multiplies_within_groups_and_reads_its_weights() -> None:
    work = work_of(
        "%y = gawee.conv %x, %w bias %b strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] "
        "groups 2 : (tensor<2x4x9x7xf32>, tensor<6x2x3x1xf32>, tensor<6xf32>) "
        "-> tensor<2x6x5x7xf32>",
        "%x: tensor<2x4x9x7xf32>, %w: tensor<6x2x3x1xf32>, %b: tensor<6xf32>",
    )

    assert work.flops == 2 * (2 * 6 * 5 * 7) * (2 * 3 * 1)
    assert work.read_bytes == 4 * (2 * 4 * 9 * 7 + 6 * 2 * 3 * 1 + 6)
    assert work.write_bytes == 4 * (2 * 6 * 5 * 7)
    assert work.footprint == work.bytes
    assert work.intensity == pytest.approx(5040 / 3864)


def test_linear_layer_counts_every_leading_axis() -> None:
    work = work_of(
        "%y = gawee.matmul %x, %w : (tensor<2x5x8xf64>, tensor<3x8xf64>) -> tensor<2x5x3xf64>",
        "%x: tensor<2x5x8xf64>, %w: tensor<3x8xf64>",
    )

    assert numbers(work) == (2 * 2 * 5 * 3 * 8, 8 * (80 + 24), 8 * 30)
    assert work.element_bits == 64


POOLS = {
    "max_pool": (
        "gawee.max_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] dilations [1, 1] "
        "ceil_mode false",
        6,  # a comparison for each element of the window
    ),
    "avg_pool": (
        "gawee.avg_pool %x kernel [3, 2] strides [2, 1] padding [0, 0, 0, 0] "
        "ceil_mode false count_include_pad true",
        6 + 1,  # additions and a division
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_pooling_counts_its_windows(name: str) -> None:
    text, flops = POOLS[name]
    work = work_of(
        f"%y = {text} : (tensor<2x3x7x5xf32>) -> tensor<2x3x3x4xf32>", "%x: tensor<2x3x7x5xf32>"
    )

    assert numbers(work) == (flops * 72, 4 * 210, 4 * 72)


def test_adaptive_pooling_adds_the_elements_of_overlapping_bins() -> None:
    work = work_of(
        "%y = gawee.ad_avg_pool %x output_size [3, 2] : (tensor<2x3x7x5xf32>) "
        "-> tensor<2x3x3x2xf32>",
        "%x: tensor<2x3x7x5xf32>",
    )

    # 7 in 3 bins: [0, 3), [2, 5), [4, 7); 5 in 2 bins: [0, 3), [2, 5). And a division each.
    assert work.flops == 2 * 3 * (3 + 3 + 3) * (3 + 3) + 36


def test_elementwise_reads_a_value_once_although_it_is_both_operands() -> None:
    work = work_of(
        "%y = gawee.mul %x, %x : (tensor<3x5xf16>, tensor<3x5xf16>) -> tensor<3x5xf16>",
        "%x: tensor<3x5xf16>",
    )

    assert numbers(work) == (15, 30, 30)


def test_batch_norm_reads_its_statistics_and_does_six_steps() -> None:
    work = work_of(
        "%y = gawee.batch_norm %x mean %m variance %v scale %s bias %b eps 1.000000e-05 : "
        "tensor<2x3x5xf32>, tensor<3xf32>",
        "%x: tensor<2x3x5xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %s: tensor<3xf32>, "
        "%b: tensor<3xf32>",
    )

    assert numbers(work) == (6 * 30, 4 * (30 + 12), 4 * 30)


def test_reshape_moves_nothing_and_concatenation_moves_everything() -> None:
    module = module_of(
        "%y = gawee.flatten %x start_dim 1 end_dim -1 : (tensor<2x3x5xf32>) -> tensor<2x15xf32>\n"
        "%z = gawee.cat %y, %a dim 1 : (tensor<2x15xf32>, tensor<2x7xf32>) -> tensor<2x22xf32>",
        "%x: tensor<2x3x5xf32>, %a: tensor<2x7xf32>",
    )
    flatten, cat, _ = ops_of(module)

    assert op_work(flatten) == Work()
    assert op_work(cat) == Work(0, 176, 176, 352, 32)


# Structured ops.


def test_matrix_product_reads_what_it_accumulates_into() -> None:
    work = work_of(
        "%y = linalg.matmul ins(%a, %b : tensor<2x5xf32>, tensor<5x3xf32>) "
        "outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>",
        "%a: tensor<2x5xf32>, %b: tensor<5x3xf32>, %c: tensor<2x3xf32>",
    )

    assert numbers(work) == (2 * 2 * 5 * 3, 4 * (10 + 15 + 6), 4 * 6)
    assert work.footprint == 4 * (10 + 15 + 6)


@pytest.mark.parametrize(("type", "arrow"), [("tensor", "-> tensor<1x6x2x3xf32>"), ("memref", "")])
def test_convolution_costs_the_same_on_tensors_and_buffers(type: str, arrow: str) -> None:
    result = "%y = " if arrow else ""
    work = work_of(
        f"{result}linalg.conv_2d_nchw_fchw {{strides = dense<[2, 1]> : tensor<2xi64>, "
        f"dilations = dense<1> : tensor<2xi64>}} "
        f"ins(%x, %w : {type}<1x4x5x5xf32>, {type}<6x4x3x3xf32>) "
        f"outs(%c : {type}<1x6x2x3xf32>) {arrow}",
        f"%x: {type}<1x4x5x5xf32>, %w: {type}<6x4x3x3xf32>, %c: {type}<1x6x2x3xf32>",
    )

    assert numbers(work) == (2 * 36 * 36, 4 * (100 + 216 + 36), 4 * 36)


@pytest.mark.parametrize("type", ["tensor", "memref"])
def test_kernel_accumulates_at_every_point_and_finishes_once_for_each_element(type: str) -> None:
    target = ("%y = ", "") if type == "tensor" else ("", " outs(%c)")
    work = work_of(
        f"""{target[0]}gawee.kernel parallel [2, 3] reduce [5]
          ins(%a, %b : {type}<2x5xf32>, {type}<3xf32>){target[1]}
          maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (i, j)>]
          initial 0.0 : f32
          accumulate {{
          ^bb0(%x: f32, %z: f32, %s: f32):
            %p = arith.mulf %x, %x : f32
            %q = arith.addf %p, %s : f32
            gawee.yield %q : f32
          }} finish {{
          ^bb0(%x: f32, %z: f32, %s: f32):
            %p = arith.addf %z, %s : f32
            gawee.yield %p : f32
          }} : {type}<2x3xf32>""",
        f"%a: {type}<2x5xf32>, %b: {type}<3xf32>, %c: {type}<2x3xf32>",
    )

    assert numbers(work) == (2 * 30 + 6, 4 * (10 + 3), 4 * 6)


def test_pooling_window_has_a_shape_and_is_not_read() -> None:
    work = work_of(
        "linalg.pooling_nchw_max {strides = dense<1> : tensor<2xi64>, "
        "dilations = dense<1> : tensor<2xi64>} "
        "ins(%x, %k : memref<1x2x5x7xf32>, memref<3x2xf32>) outs(%y : memref<1x2x3x6xf32>)",
        "%x: memref<1x2x5x7xf32>, %k: memref<3x2xf32>, %y: memref<1x2x3x6xf32>",
    )

    assert numbers(work) == (6 * 36, 4 * (70 + 36), 4 * 36)


GENERIC = """
linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                iterator_types = ["parallel", "parallel"]}}
    ins(%x : memref<7xf32>) outs(%y : memref<3x7xf32>) {{
^bb0(%a: f32, %b: f32):
  {body}
}}
"""


@pytest.mark.parametrize(
    ("body", "flops"),
    [
        ("linalg.yield %a : f32", 0),
        ("%m = math.fma %a, %a, %a : f32\nlinalg.yield %m : f32", 2),
        ("%e = math.exp %a : f32\n%d = arith.divf %e, %a : f32\nlinalg.yield %d : f32", 2),
        (
            "%c = arith.cmpf ogt, %a, %a : f32\n%s = arith.select %c, %a, %a : f32\n"
            "linalg.yield %s : f32",
            0,
        ),
        (
            "%i = linalg.index 0 : index\n%t = arith.muli %i, %i : index\n"
            "%n = arith.index_cast %t : index to i32\n%f = arith.sitofp %n : i32 to f32\n"
            "%s = arith.addf %f, %a : f32\nlinalg.yield %s : f32",
            1,
        ),
    ],
    ids=["copy", "fma", "exp-div", "select", "index"],
)
def test_generic_counts_its_body_at_every_point(body: str, flops: int) -> None:
    work = work_of(GENERIC.format(body=body), "%x: memref<7xf32>, %y: memref<3x7xf32>")

    assert numbers(work) == (21 * flops, 28, 84)


GATHER = """
linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    outs(%y : memref<{points}xf32>) {{
^bb0(%b: f32):
  %i = linalg.index 0 : index
  %v = memref.load %x[%i] : memref<100xf32>
  linalg.yield %v : f32
}}
"""


@pytest.mark.parametrize(("points", "read"), [(7, 28), (300, 400)])
def test_gather_reads_what_is_gathered_but_no_more_than_there_is(points: int, read: int) -> None:
    arguments = f"%x: memref<100xf32>, %y: memref<{points}xf32>"

    work = work_of(GATHER.format(points=points), arguments)

    assert numbers(work) == (0, read, 4 * points)
    assert work.footprint == read + 4 * points


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        (
            '"memref.copy"(%x, %y) : (memref<3x5xf32>, memref<3x5xf32, strided<[7, 1]>>) -> ()',
            "%x: memref<3x5xf32>, %y: memref<3x5xf32, strided<[7, 1]>>",
            (0, 60, 60),
        ),
        (
            "%y = tensor.pad %x low[1, 0] high[0, 2] {\n^bb0(%i: index, %j: index):\n"
            "tensor.yield %z : f32\n} : tensor<3x5xf32> to tensor<4x7xf32>",
            "%x: tensor<3x5xf32>, %z: f32",
            (0, 60, 112),
        ),
        (
            "%y = tensor.insert_slice %x into %t[1, 2][3, 5][1, 1] : "
            "tensor<3x5xf32> into tensor<9x9xf32>",
            "%x: tensor<3x5xf32>, %t: tensor<9x9xf32>",
            (0, 60, 60),
        ),
        (
            "%y = tensor.extract_slice %t[1, 2][3, 5][1, 1] : tensor<9x9xf32> to tensor<3x5xf32>",
            "%t: tensor<9x9xf32>",
            (0, 60, 60),
        ),
        (
            "%y = linalg.broadcast ins(%x : tensor<3xf32>) outs(%t : tensor<3x5xf32>) "
            "dimensions = [1]",
            "%x: tensor<3xf32>, %t: tensor<3x5xf32>",
            (0, 12, 60),
        ),
        (
            "linalg.fill ins(%z : f32) outs(%y : memref<3x5xf32>)",
            "%z: f32, %y: memref<3x5xf32>",
            (0, 0, 60),
        ),
    ],
    ids=["copy", "pad", "insert", "extract", "broadcast", "fill"],
)
def test_what_only_moves_reads_and_writes(
    text: str, arguments: str, expected: tuple[int, int, int]
) -> None:
    assert numbers(work_of(text, arguments)) == expected


# Calls and loops.

KERNEL = """
func.func private @kernel(%a: memref<2x5xf32>, %b: memref<5x3xf32>, %c: memref<2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x3xf32>)
  linalg.matmul ins(%a, %b : memref<2x5xf32>, memref<5x3xf32>) outs(%c : memref<2x3xf32>)
  func.return
}
"""
CALL = (
    "func.call @kernel(%a, %b, %c) : (memref<2x5xf32>, memref<5x3xf32>, memref<2x3xf32>) -> ()",
    "%a: memref<2x5xf32>, %b: memref<5x3xf32>, %c: memref<2x3xf32>",
)


def test_call_is_the_sum_of_what_it_calls_on_the_memory_it_is_given() -> None:
    work = work_of(*CALL, KERNEL)

    assert numbers(work) == (60, 4 * (10 + 15 + 6), 4 * (6 + 6))
    assert work.footprint == 4 * (10 + 15 + 6)


def test_loops_cost_what_the_structured_ops_did_that_they_were_made_from() -> None:
    module = module_of(*CALL, KERNEL)
    before = op_work(ops_of(module)[0])

    run_passes(make_context(), module, parse_passes("lower-linalg-to-loops,cse", all_passes()))

    assert not [op for op in module.walk() if op.dialect_name() == "linalg"]
    assert op_work(ops_of(module)[0]) == before


def test_steps_are_the_work_of_a_step_each_on_the_memory_of_one() -> None:
    body = """
      %h = linalg.exp ins(%x : tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
    """
    loop = f"""
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %seven = arith.constant 7 : index
      %y = scf.for %i = %zero to %seven step %one iter_args(%x = %s) -> (tensor<2x3xf32>) {{
        {body}
        scf.yield %h : tensor<2x3xf32>
      }}
    """
    step = work_of(body, "%x: tensor<2x3xf32>")

    work = work_of(loop, "%s: tensor<2x3xf32>")

    assert numbers(work) == tuple(7 * each for each in numbers(step))
    assert work.footprint == step.footprint


def test_scan_reads_its_sequences_and_weights_and_does_its_body_at_every_step() -> None:
    work = work_of(
        """
        %y = gawee.scan steps 5 initial(%h : tensor<2x3xf32>) over(%x : tensor<5x2x3xf32>) {
        ^bb0(%state: tensor<2x3xf32>, %now: tensor<2x3xf32>):
          %p = gawee.matmul %state, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
          %n = gawee.add %p, %now : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
          gawee.yield %n : tensor<2x3xf32>
        } -> tensor<2x3xf32>
        """,
        "%h: tensor<2x3xf32>, %x: tensor<5x2x3xf32>, %w: tensor<3x3xf32>",
    )

    assert numbers(work) == (5 * (2 * 2 * 3 * 3 + 6), 4 * (6 + 30 + 9), 4 * 6)


def test_loop_over_unknown_bounds_has_no_known_work_and_neither_has_its_caller() -> None:
    loop = """
      %one = arith.constant 1 : index
      scf.for %i = %one to %n step %one {
        %v = memref.load %x[%i] : memref<9xf32>
        memref.store %v, %x[%i] : memref<9xf32>
      }
    """
    arguments = "%n: index, %x: memref<9xf32>"
    module = module_of(
        "func.call @kernel(%n, %x) : (index, memref<9xf32>) -> ()",
        arguments,
        f"func.func private @kernel({arguments}) {{ {loop} func.return }}",
    )

    assert op_work(ops_of(module_of(loop, arguments))[1]) is None
    assert op_work(ops_of(module)[0]) is None


def test_call_of_a_declaration_has_no_known_work() -> None:
    module = module_of("func.call @f() : () -> ()", "", "func.func private @f() -> ()")

    assert op_work(ops_of(module)[0]) is None


def test_loop_that_touches_a_part_of_a_buffer_moves_that_part() -> None:
    work = op_work(
        ops_of(
            module_of(
                """
                %zero = arith.constant 0 : index
                %two = arith.constant 2 : index
                %seven = arith.constant 7 : index
                scf.for %i = %zero to %seven step %two {
                  %v = memref.load %x[%i] : memref<9xf32>
                  memref.store %v, %y[%i] : memref<9xf32>
                }
                """,
                "%x: memref<9xf32>, %y: memref<9xf32>",
            )
        )[3]
    )

    assert work == Work(0, 16, 16, 32, 32)  # i is 0, 2, 4, 6


# Completeness, and the processor's side.

NOT_WORK = {"gawee.constant", "gawee.getattr", "gawee.getitem"}


def test_every_node_of_the_graph_has_a_rule() -> None:
    from gawee_dialect.analysis.work import flops_rule

    without = {op.name for op in GRAPH_LEVEL if flops_rule(op) is None}

    assert without == NOT_WORK


# Where a bin or a neighbour is, the lowering computes at every element; the node's rule doesn't.
# What a transposed convolution has at its borders, the lowering reads of zeros around the input.
# A running sum is one addition an element, which is in a loop over scalars.
# An element's place in an order is counted at every element by the lowering.
# Which boxes are kept is logic on bits of every pair, no arithmetic of the node.
OTHER_FLOPS = (
    *(AdAvgPoolOp, AdMaxPoolOp, GridSampleOp, InterpolateOp),
    *(ConvTransposeOp, CumSumOp, NonMaxSuppressionOp, SortOp, TopKOp),
    # Where elements lie is computed of indices, on vectors, before any is moved.
    *(GatherElementsOp, ScatterElementsOp),
    # The lowering divides what was summed of values by the sum of a row, the equation its weights.
    AttentionOp,
)
SAME_FLOPS = [op for op in LOWERED_OPS if op not in OTHER_FLOPS]


@pytest.mark.parametrize("op", SAME_FLOPS, ids=lambda op: op.name)
def test_node_has_the_flops_of_what_it_is_lowered_to(op: type[Operation]) -> None:
    module = example_module(op)
    before = [op_work(inner) for inner in ops_of(module)]

    run_passes(make_context(), module, parse_passes("lower-to-linalg", all_passes()))

    after = [op_work(inner) for inner in ops_of(module)]
    flops = [sum(work.flops for work in works if work is not None) for works in (before, after)]
    assert flops[0] == flops[1]


def test_limit_takes_the_greater_of_computing_and_moving() -> None:
    haswell = PROCESSORS["haswell"]  # 3.4 GHz * 8 lanes * 2 units * 2 = 108.8 GFLOP/s

    computing = limit_of(Work(flops=1_088_000, read_bytes=400, footprint=400), haswell)
    moving = limit_of(Work(flops=100, read_bytes=217_600, footprint=217_600), haswell)

    assert (computing.bound, computing.seconds) == ("compute", pytest.approx(1e-5))
    # 212.5 KiB fit in L2 of 256 KiB, which gives 25 bytes a cycle: 85 GB/s.
    assert (moving.bound, moving.seconds) == ("L2", pytest.approx(2.56e-6))
