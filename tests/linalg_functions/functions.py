"""Functions of linalg as others write them, each with what it means in NumPy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

AnyArray = np.ndarray
Meaning = Callable[..., AnyArray | tuple[AnyArray, ...]]


@dataclass(frozen=True)
class Function:
    """A module with a function `@main`, and what it computes of its arguments."""

    text: str
    meaning: Meaning


def function(arguments: str, results: str, body: str, meaning: Meaning) -> Function:
    """Make a function whose body ends in a return of the results that it names `%r0`, `%r1`."""
    types = results.split(", ")
    returned = ", ".join(f"%r{index}" for index in range(len(types)))
    head = f"func.func @main({arguments}) -> ({results}) {{"
    return Function(f"{head}\n{body}\n  return {returned} : {results}\n}}\n", meaning)


def one_op(op: str, ins: Sequence[str], out: str, meaning: Meaning) -> Function:
    """Make a function of one named op, whose last argument is what it accumulates on."""
    types = [*ins, out]
    arguments = ", ".join(f"%a{index}: tensor<{type}>" for index, type in enumerate(types))
    inputs = ", ".join(f"%a{index}" for index in range(len(ins)))
    input_types = ", ".join(f"tensor<{type}>" for type in ins)
    body = (
        f"  %r0 = {op} ins({inputs} : {input_types})"
        f" outs(%a{len(ins)} : tensor<{out}>) -> tensor<{out}>"
    )
    return function(arguments, f"tensor<{out}>", body, meaning)


def windows(
    image: AnyArray, axes: Sequence[int], size: Sequence[int], stride: int = 1, dilation: int = 1
) -> AnyArray:
    """Return the windows that slide along axes; their own axes are the last ones."""
    spans = [(each - 1) * dilation + 1 for each in size]
    found = sliding_window_view(image, spans, tuple(axes))
    steps = [slice(None)] * found.ndim
    for axis in axes:
        steps[axis] = slice(None, None, stride)
    for axis in range(image.ndim, found.ndim):
        steps[axis] = slice(None, None, dilation)
    return found[tuple(steps)]


def window_op(name: str, axes: int, stride: int, dilation: int) -> str:
    """Return the text of a convolution or pooling with its attributes."""
    type = f"tensor<{axes}xi64>"
    return f"linalg.{name} {{dilations = dense<{dilation}> : {type}, strides = dense<{stride}> : {type}}}"


def conv(
    name: str,
    types: Sequence[str],
    axes: Sequence[int],
    letters: str,
    *,
    stride: int,
    dilation: int,
) -> Function:
    """Make a convolution; `letters` is the sum of products over windows, as einsum has it."""
    kernel_axes = [letters.split(",")[1].index(letter) for letter in "zyx"[3 - len(axes) :]]

    def meaning(image: AnyArray, kernel: AnyArray, start: AnyArray) -> AnyArray:
        size = [kernel.shape[axis] for axis in kernel_axes]
        return start + np.einsum(letters, windows(image, axes, size, stride, dilation), kernel)

    op = window_op(name, len(axes), stride, dilation)
    return one_op(op, types[:2], types[2], meaning)


def pool(
    name: str, types: Sequence[str], axes: Sequence[int], ufunc: np.ufunc, *, dilation: int = 1
) -> Function:
    """Make a pooling of stride 2."""

    def meaning(image: AnyArray, window: AnyArray, start: AnyArray) -> AnyArray:
        if "unsigned" in name:
            image, start = image.view(np.uint8), start.view(np.uint8)
        found = windows(image, axes, window.shape, 2, dilation)
        last = tuple(range(image.ndim, found.ndim))
        return ufunc(start, ufunc.reduce(found, last)).view(window.dtype)

    return one_op(window_op(name, len(axes), 2, dilation), types[:2], types[2], meaning)


def unary(name: str, meaning: Callable[[AnyArray], AnyArray]) -> Function:
    """Make an element-wise op of one input."""
    return one_op(f"linalg.{name}", ["3x5xf32"], "3x5xf32", lambda x, _: meaning(x))


def binary(name: str, meaning: Callable[[AnyArray, AnyArray], AnyArray]) -> Function:
    """Make an element-wise op of two inputs."""
    return one_op(
        f"linalg.{name}", ["3x5xf32", "3x5xf32"], "3x5xf32", lambda x, y, _: meaning(x, y)
    )


def product(types: Sequence[str], letters: str, name: str = "matmul", maps: str = "") -> Function:
    """Make a product; inputs are widened to the type of the sum first."""

    def meaning(lhs: AnyArray, rhs: AnyArray, start: AnyArray) -> AnyArray:
        return start + np.einsum(letters, lhs.astype(start.dtype), rhs.astype(start.dtype))

    return one_op(f"linalg.{name} {maps}".rstrip(), types[:2], types[2], meaning)


def maps(*each: str) -> str:
    """Return the attribute of indexing maps."""
    return f"indexing_maps = [{', '.join(f'affine_map<{map}>' for map in each)}]"


def softmax(x: AnyArray) -> AnyArray:
    shifted = np.exp(x - x.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def packed(x: AnyArray, fill: float = 0) -> AnyArray:
    """Tile the axes of a matrix by 4 and 2, tiles last."""
    rows, columns = -x.shape[0] % 4, -x.shape[1] % 2
    whole = np.pad(x, ((0, rows), (0, columns)), constant_values=fill)
    return whole.reshape(whole.shape[0] // 4, 4, whole.shape[1] // 2, 2).transpose(0, 2, 1, 3)


TRANSPOSED = maps("(m, n, k) -> (m, k)", "(m, n, k) -> (n, k)", "(m, n, k) -> (m, n)")
CONTRACTED = maps("(m, n, k) -> (k, m)", "(m, n, k) -> (n, k)", "(m, n, k) -> (n, m)")

PRODUCTS = {
    "matmul": product(["3x7xf32", "7x5xf32", "3x5xf32"], "mk,kn->mn"),
    "matmul, transposed by maps": product(
        ["3x7xf32", "5x7xf32", "3x5xf32"], "mk,nk->mn", maps=TRANSPOSED
    ),
    "matmul, i8 to i32": product(["3x7xi8", "7x5xi8", "3x5xi32"], "mk,kn->mn"),
    "matmul, f16 to f32": product(["3x7xf16", "7x5xf16", "3x5xf32"], "mk,kn->mn"),
    "matmul, bf16 to f32": product(["3x7xbf16", "7x5xbf16", "3x5xf32"], "mk,kn->mn"),
    "matmul, f32 to f64": product(["3x7xf32", "7x5xf32", "3x5xf64"], "mk,kn->mn"),
    "batch_matmul": product(
        ["2x3x7xf32", "2x7x5xf32", "2x3x5xf32"], "bmk,bkn->bmn", "batch_matmul"
    ),
    "batch_matmul, bf16 to f32": product(
        ["2x3x7xbf16", "2x7x5xbf16", "2x3x5xf32"], "bmk,bkn->bmn", "batch_matmul"
    ),
    "contract": product(
        ["7x3xf32", "5x7xf32", "5x3xf32"], "km,nk->nm", "contract", maps=CONTRACTED
    ),
    "matvec": product(["3x7xf32", "7xf32", "3xf32"], "mk,k->m", "matvec"),
    "vecmat": product(["7xf32", "7x5xf32", "5xf32"], "k,kn->n", "vecmat"),
    "batch_matvec": product(["2x3x7xf32", "2x7xf32", "2x3xf32"], "bmk,bk->bm", "batch_matvec"),
    "dot": product(["7xf32", "7xf32", "f32"], "k,k->", "dot"),
    "mmt4d": product(["2x3x4x1xf32", "5x3x2x1xf32", "2x5x4x2xf32"], "mkac,nkec->mnae", "mmt4d"),
}

CONVOLUTIONS = {
    "conv_1d_nwc_wcf": conv(
        "conv_1d_nwc_wcf",
        ["2x9x3xf32", "3x3x5xf32", "2x4x5xf32"],
        [1],
        "nwcx,xcf->nwf",
        stride=2,
        dilation=1,
    ),
    "conv_1d_ncw_fcw": conv(
        "conv_1d_ncw_fcw",
        ["2x3x9xf32", "5x3x3xf32", "2x5x5xf32"],
        [2],
        "ncwx,fcx->nfw",
        stride=1,
        dilation=2,
    ),
    "conv_2d_nhwc_hwcf": conv(
        "conv_2d_nhwc_hwcf",
        ["1x9x7x3xf32", "3x2x3x5xf32", "1x4x3x5xf32"],
        [1, 2],
        "nhwcyx,yxcf->nhwf",
        stride=2,
        dilation=1,
    ),
    "conv_2d_nchw_fchw": conv(
        "conv_2d_nchw_fchw",
        ["2x3x9x7xf32", "5x3x3x2xf32", "2x5x7x6xf32"],
        [2, 3],
        "nchwyx,fcyx->nfhw",
        stride=1,
        dilation=1,
    ),
    "conv_2d_nchw_fchw, i8 to i32": conv(
        "conv_2d_nchw_fchw",
        ["2x3x5x4xi8", "5x3x3x2xi8", "2x5x3x3xi32"],
        [2, 3],
        "nchwyx,fcyx->nfhw",
        stride=1,
        dilation=1,
    ),
    "conv_3d_ndhwc_dhwcf": conv(
        "conv_3d_ndhwc_dhwcf",
        ["1x5x6x7x2xf32", "2x3x2x2x3xf32", "1x4x4x6x3xf32"],
        [1, 2, 3],
        "ndhwczyx,zyxcf->ndhwf",
        stride=1,
        dilation=1,
    ),
    "depthwise_conv_2d_nhwc_hwc": conv(
        "depthwise_conv_2d_nhwc_hwc",
        ["1x9x7x3xf32", "3x2x3xf32", "1x4x3x3xf32"],
        [1, 2],
        "nhwcyx,yxc->nhwc",
        stride=2,
        dilation=1,
    ),
    "depthwise_conv_2d_nhwc_hwcm": conv(
        "depthwise_conv_2d_nhwc_hwcm",
        ["1x9x7x3xf32", "3x2x3x2xf32", "1x5x5x3x2xf32"],
        [1, 2],
        "nhwcyx,yxcm->nhwcm",
        stride=1,
        dilation=2,
    ),
    "conv_2d_ngchw_fgchw": conv(
        "conv_2d_ngchw_fgchw",
        ["1x2x3x6x5xf32", "4x2x3x3x2xf32", "1x2x4x4x4xf32"],
        [3, 4],
        "ngchwyx,fgcyx->ngfhw",
        stride=1,
        dilation=1,
    ),
}

POOLINGS = {
    "pooling_nhwc_sum": pool(
        "pooling_nhwc_sum", ["1x9x7x3xf32", "3x2xf32", "1x4x3x3xf32"], [1, 2], np.add
    ),
    "pooling_nhwc_max": pool(
        "pooling_nhwc_max", ["1x9x7x3xf32", "3x2xf32", "1x4x3x3xf32"], [1, 2], np.maximum
    ),
    "pooling_nhwc_min": pool(
        "pooling_nhwc_min", ["1x9x7x3xf32", "3x2xf32", "1x4x3x3xf32"], [1, 2], np.minimum
    ),
    "pooling_nhwc_max_unsigned": pool(
        "pooling_nhwc_max_unsigned", ["1x9x7x3xi8", "3x2xi8", "1x4x3x3xi8"], [1, 2], np.maximum
    ),
    "pooling_nchw_sum": pool(
        "pooling_nchw_sum", ["2x3x9x7xf32", "3x2xf32", "2x3x3x3xf32"], [2, 3], np.add, dilation=2
    ),
    "pooling_nchw_max": pool(
        "pooling_nchw_max", ["2x3x9x7xf32", "3x2xf32", "2x3x4x3xf32"], [2, 3], np.maximum
    ),
    "pooling_ncw_max": pool(
        "pooling_ncw_max", ["2x3x9xf32", "3xf32", "2x3x4xf32"], [2], np.maximum
    ),
    "pooling_nwc_sum": pool("pooling_nwc_sum", ["2x9x3xf32", "3xf32", "2x4x3xf32"], [1], np.add),
    "pooling_ndhwc_max": pool(
        "pooling_ndhwc_max", ["1x5x9x7x2xf32", "2x3x2xf32", "1x2x4x3x2xf32"], [1, 2, 3], np.maximum
    ),
}

ELEMENTWISE = {
    "exp": unary("exp", np.exp),
    "abs": unary("abs", np.abs),
    "ceil": unary("ceil", np.ceil),
    "floor": unary("floor", np.floor),
    "negf": unary("negf", np.negative),
    "tanh": unary("tanh", np.tanh),
    "square": unary("square", np.square),
    "erf": unary("erf", np.vectorize(erf, otypes=[np.float32])),
    "add": binary("add", np.add),
    "sub": binary("sub", np.subtract),
    "mul": binary("mul", np.multiply),
    "div": binary("div", np.divide),
    "max": binary("max", np.maximum),
    "min": binary("min", np.minimum),
    "select": one_op(
        "linalg.select",
        ["3x5xi1", "3x5xf32", "3x5xf32"],
        "3x5xf32",
        lambda bits, x, y, _: np.where(bits, x, y),
    ),
    "copy, f32 to f16": one_op(
        "linalg.copy", ["3x5xf32"], "3x5xf16", lambda x, _: x.astype(np.float16)
    ),
    "add of bf16": one_op(
        "linalg.add", ["3x5xbf16", "3x5xbf16"], "3x5xbf16", lambda x, y, _: x + y
    ),
    "exp of bf16": one_op("linalg.exp", ["3x5xbf16"], "3x5xbf16", lambda x, _: np.exp(x)),
    "elementwise, with a transposed input": one_op(
        "linalg.elementwise kind=#linalg.elementwise_kind<sub> "
        + maps("(i, j) -> (j, i)", "(i, j) -> (j)", "(i, j) -> (i, j)"),
        ["5x3xf32", "5xf32"],
        "3x5xf32",
        lambda x, y, _: x.T - y,
    ),
    "map, short": function(
        "%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %o: tensor<3x5xf32>",
        "tensor<3x5xf32>",
        "  %r0 = linalg.map { arith.mulf } ins(%x, %y : tensor<3x5xf32>, tensor<3x5xf32>)"
        " outs(%o : tensor<3x5xf32>)",
        lambda x, y, _: x * y,
    ),
    "map, with a region": function(
        "%x: tensor<7xf32>, %o: tensor<7xf32>",
        "tensor<7xf32>",
        """  %r0 = linalg.map ins(%x : tensor<7xf32>) outs(%o : tensor<7xf32>)
    (%e: f32, %old: f32) {
      %s = math.sin %e : f32
      %t = arith.addf %s, %e : f32
      linalg.yield %t : f32
    }""",
        lambda x, _: np.sin(x) + x,
    ),
}

REDUCTIONS = {
    "reduce, short": function(
        "%x: tensor<3x5x7xf32>, %o: tensor<3x7xf32>",
        "tensor<3x7xf32>",
        "  %r0 = linalg.reduce { arith.addf } ins(%x : tensor<3x5x7xf32>)"
        " outs(%o : tensor<3x7xf32>) dimensions = [1]",
        lambda x, o: o + x.sum(1),
    ),
    "reduce, with a region": function(
        "%x: tensor<3x5x7xf32>, %o: tensor<5xf32>",
        "tensor<5xf32>",
        """  %r0 = linalg.reduce ins(%x : tensor<3x5x7xf32>) outs(%o : tensor<5xf32>)
    dimensions = [0, 2] (%e: f32, %acc: f32) {
      %s = arith.maximumf %e, %acc : f32
      linalg.yield %s : f32
    }""",
        lambda x, o: np.maximum(o, x.max((0, 2))),
    ),
    "reduce, two results": function(
        "%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %o: tensor<4xf32>, %p: tensor<4xf32>",
        "tensor<4xf32>, tensor<4xf32>",
        """  %r:2 = linalg.reduce ins(%x, %y : tensor<4x6xf32>, tensor<4x6xf32>)
    outs(%o, %p : tensor<4xf32>, tensor<4xf32>) dimensions = [1]
    (%e: f32, %f: f32, %sum: f32, %least: f32) {
      %s = arith.addf %e, %sum : f32
      %t = arith.minimumf %f, %least : f32
      linalg.yield %s, %t : f32, f32
    }
  %c = arith.constant 2.0 : f32
  %e0 = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %r0 = linalg.mul ins(%r#0, %f : tensor<4xf32>, tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %r1 = linalg.mul ins(%r#1, %f : tensor<4xf32>, tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>""",
        lambda x, y, o, p: (2 * (o + x.sum(1)), 2 * np.minimum(p, y.min(1))),
    ),
    "reduce of bf16": function(
        "%x: tensor<3x9xbf16>, %o: tensor<3xbf16>",
        "tensor<3xbf16>",
        "  %r0 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x9xbf16>)"
        " outs(%o : tensor<3xbf16>) dimensions = [1]",
        lambda x, o: np.maximum(o, x.max(1)),
    ),
    "softmax": one_op(
        "linalg.softmax dimension(1)", ["3x5xf32"], "3x5xf32", lambda x, _: softmax(x)
    ),
}

GENERICS = {
    "generic, several results": Function(
        """#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<3x5xf32>, %o: tensor<3x5xf32>, %s: tensor<3xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x5xf32>) outs(%o, %s : tensor<3x5xf32>, tensor<3xf32>) {
  ^bb0(%e: f32, %old: f32, %sum: f32):
    %p = arith.mulf %e, %e : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %p, %q : f32, f32
  } -> (tensor<3x5xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3x5xf32>, tensor<3xf32>
}
""",
        lambda x, _, s: (x * x, s + (x * x).sum(1)),
    ),
    "generic, with a trait alias, doc and library_call": Function(
        """#trait = {
  indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
  iterator_types = ["parallel", "parallel"],
  doc = "B(i, j) = exp(A(j, i))",
  library_call = "transposed_exp"
}
func.func @main(%x: tensor<3x5xf32>, %o: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = linalg.generic #trait ins(%x : tensor<3x5xf32>) outs(%o : tensor<5x3xf32>) {
  ^bb0(%e: f32, %old: f32):
    %p = math.exp %e : f32
    linalg.yield %p : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
""",
        lambda x, _: np.exp(x).T,
    ),
    "generic, mixed types": Function(
        """#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<9xi8>, %y: tensor<9xf16>, %o: tensor<9xf64>) -> tensor<9xf64> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
    ins(%x, %y : tensor<9xi8>, tensor<9xf16>) outs(%o : tensor<9xf64>) {
  ^bb0(%e: i8, %f: f16, %old: f64):
    %a = arith.sitofp %e : i8 to f64
    %b = arith.extf %f : f16 to f64
    %c = arith.mulf %a, %b : f64
    %d = arith.addf %c, %old : f64
    linalg.yield %d : f64
  } -> tensor<9xf64>
  return %r : tensor<9xf64>
}
""",
        lambda x, y, o: x * y.astype(np.float64) + o,
    ),
    "generic, integer powers": Function(
        """#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<9xf32>, %o: tensor<9xf32>) -> tensor<9xf32> {
  %five = arith.constant 5 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%x : tensor<9xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%e: f32, %old: f32):
    %back = arith.constant -2 : i32
    %a = math.fpowi %e, %five : f32, i64
    %b = math.fpowi %e, %back : f32, i32
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<9xf32>
  return %r : tensor<9xf32>
}
""",
        lambda x, _: x**5 + 1 / (x * x),
    ),
    "generic, of indices": Function(
        """#id = affine_map<(i, j) -> (i, j)>
func.func @main(%o: tensor<4x3xi32>) -> tensor<4x3xi32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
    outs(%o : tensor<4x3xi32>) {
  ^bb0(%old: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %i, %j : index
    %n = arith.index_cast %k : index to i32
    %s = arith.addi %n, %old : i32
    linalg.yield %s : i32
  } -> tensor<4x3xi32>
  return %r : tensor<4x3xi32>
}
""",
        lambda o: o + np.subtract.outer(np.arange(4), np.arange(3)).astype(np.int32),
    ),
    "generic, that reads a table": Function(
        """#id = affine_map<(i) -> (i)>
func.func @main(%table: tensor<7xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : tensor<5xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %six = arith.constant 6 : index
    %at = arith.subi %six, %i : index
    %e = tensor.extract %table[%at] : tensor<7xf32>
    linalg.yield %e : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
""",
        lambda table, _: table[::-1][:5],
    ),
    "generic, checked by cf.assert": Function(
        """#id = affine_map<(i) -> (i)>
func.func @main(%at: tensor<5xi32>, %table: tensor<9xf32>, %o: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%at : tensor<5xi32>) outs(%o : tensor<5xf32>) {
  ^bb0(%e: i32, %old: f32):
    %four = arith.constant 4 : i32
    %n = arith.addi %e, %four : i32
    %nine = arith.constant 9 : i32
    %ok = arith.cmpi slt, %n, %nine : i32
    cf.assert %ok, "expected an index below 9"
    %i = arith.index_cast %n : i32 to index
    %v = tensor.extract %table[%i] : tensor<9xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
""",
        lambda at, table, _: table[at + 4],
    ),
}

MOVEMENTS = {
    "transpose": function(
        "%x: tensor<3x5x2xf32>, %o: tensor<2x3x5xf32>",
        "tensor<2x3x5xf32>",
        "  %r0 = linalg.transpose ins(%x : tensor<3x5x2xf32>) outs(%o : tensor<2x3x5xf32>)"
        " permutation = [2, 0, 1]",
        lambda x, _: x.transpose(2, 0, 1),
    ),
    "broadcast": function(
        "%x: tensor<5xf32>, %o: tensor<3x5x2xf32>",
        "tensor<3x5x2xf32>",
        "  %r0 = linalg.broadcast ins(%x : tensor<5xf32>) outs(%o : tensor<3x5x2xf32>)"
        " dimensions = [0, 2]",
        lambda x, o: np.broadcast_to(x[:, None], o.shape),
    ),
    "concat": function(
        "%x: tensor<3x2xf32>, %y: tensor<3x4xf32>",
        "tensor<3x6xf32>",
        "  %r0 = tensor.concat dim(1) %x, %y : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<3x6xf32>",
        lambda x, y: np.concatenate([x, y], 1),
    ),
    "generate": function(
        "%x: tensor<4xf32>",
        "tensor<3x4xf32>",
        """  %r0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %x[%j] : tensor<4xf32>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %e, %f : f32
    tensor.yield %s : f32
  } : tensor<3x4xf32>""",
        lambda x: x + np.arange(3, dtype=np.float32)[:, None],
    ),
    "pad": function(
        "%x: tensor<3x4xf32>",
        "tensor<4x7xf32>",
        """  %c = arith.constant 1.5 : f32
  %r0 = tensor.pad %x low[0, 1] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<3x4xf32> to tensor<4x7xf32>""",
        lambda x: np.pad(x, ((0, 1), (1, 2)), constant_values=1.5),
    ),
    "slices": function(
        "%x: tensor<6x5xf32>, %y: tensor<4x4xf32>",
        "tensor<4x4xf32>",
        """  %s = tensor.extract_slice %x[1, 2] [2, 3] [2, 1] : tensor<6x5xf32> to tensor<2x3xf32>
  %r0 = tensor.insert_slice %s into %y[2, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x4xf32>""",
        lambda x, y: np.block([[y[:2]], [x[1:5:2, 2:5], y[2:, 3:]]]),
    ),
    "reshapes": function(
        "%x: tensor<3x4x5xf32>",
        "tensor<3x2x2x5xf32>",
        """  %c = tensor.collapse_shape %x [[0], [1, 2]] : tensor<3x4x5xf32> into tensor<3x20xf32>
  %r0 = tensor.expand_shape %c [[0], [1, 2, 3]] output_shape [3, 2, 2, 5] : tensor<3x20xf32> into tensor<3x2x2x5xf32>""",
        lambda x: x.reshape(3, 2, 2, 5),
    ),
    "pack": function(
        "%x: tensor<8x6xf32>, %o: tensor<2x3x4x2xf32>",
        "tensor<2x3x4x2xf32>",
        "  %r0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %o"
        " : tensor<8x6xf32> -> tensor<2x3x4x2xf32>",
        lambda x, _: packed(x),
    ),
    "pack, padded": function(
        "%x: tensor<7x5xf32>, %o: tensor<2x3x4x2xf32>",
        "tensor<2x3x4x2xf32>",
        """  %c = arith.constant -1.0 : f32
  %r0 = linalg.pack %x padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %o : tensor<7x5xf32> -> tensor<2x3x4x2xf32>""",
        lambda x, _: packed(x, -1),
    ),
    "unpack": function(
        "%x: tensor<2x3x4x2xf32>, %o: tensor<7x5xf32>",
        "tensor<7x5xf32>",
        "  %r0 = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %o"
        " : tensor<2x3x4x2xf32> -> tensor<7x5xf32>",
        lambda x, _: x.transpose(0, 2, 1, 3).reshape(8, 6)[:7, :5],
    ),
}

MODULES = {
    "location aliases at the end": Function(
        """#map = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32> loc(#loc1), %o: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%x : tensor<5xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%e: f32 loc("net.py":4:2), %old: f32):
    %s = arith.addf %e, %e : f32 loc(#loc2)
    linalg.yield %s : f32
  } -> tensor<5xf32> loc(#loc3)
  return %r : tensor<5xf32> loc(#loc2)
} loc(#loc1)
#loc0 = loc("net.py":2:2)
#loc1 = loc("x"(#loc0))
#loc2 = loc("net.py":3:9)
#loc3 = loc(fused[#loc1, #loc2])
""",
        lambda x, _: x + x,
    ),
    "padding that its indices compute": function(
        "%x: tensor<4x3xf32>",
        "tensor<7x5xf32>",
        """  %r0 = tensor.pad %x low[1, 0] high[2, 2] {
  ^bb0(%i: index, %j: index):
    %s = arith.subi %i, %j : index
    %k = arith.index_cast %s : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<4x3xf32> to tensor<7x5xf32>""",
        lambda x: np.where(
            np.pad(np.ones_like(x), ((1, 2), (0, 2))) == 1,
            np.pad(x, ((1, 2), (0, 2))),
            np.subtract.outer(np.arange(7), np.arange(5)).astype(np.float32),
        ),
    ),
    "tensor.reshape": function(
        "%x: tensor<4x3xf32>, %y: tensor<1x1xf32>",
        "tensor<2x6xf32>, tensor<12xf32>, tensor<f32>",
        """  %s0 = arith.constant dense<[2, 6]> : tensor<2xindex>
  %r0 = tensor.reshape %x(%s0) : (tensor<4x3xf32>, tensor<2xindex>) -> tensor<2x6xf32>
  %s1 = arith.constant dense<12> : tensor<1xi32>
  %r1 = tensor.reshape %x(%s1) : (tensor<4x3xf32>, tensor<1xi32>) -> tensor<12xf32>
  %s2 = arith.constant dense<> : tensor<0xindex>
  %r2 = tensor.reshape %y(%s2) : (tensor<1x1xf32>, tensor<0xindex>) -> tensor<f32>""",
        lambda x, y: (x.reshape(2, 6), x.reshape(12), y.reshape(())),
    ),
    "scf.index_switch": function(
        "%x: tensor<3xf32>, %k: tensor<4xi32>",
        "tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>",
        "\n".join(
            f"""  %p{each} = arith.constant {each} : index
  %e{each} = tensor.extract %k[%p{each}] : tensor<4xi32>
  %k{each} = arith.index_cast %e{each} : i32 to index
  %r{each} = scf.index_switch %k{each} -> tensor<3xf32>
  case -1 {{
    scf.yield %x : tensor<3xf32>
  }}
  case 2 {{
    %y{each} = arith.addf %x, %x : tensor<3xf32>
    scf.yield %y{each} : tensor<3xf32>
  }}
  default {{
    %z{each} = arith.mulf %x, %x : tensor<3xf32>
    scf.yield %z{each} : tensor<3xf32>
  }}"""
            for each in range(4)
        ),
        lambda x, k: tuple({-1: x, 2: x + x}.get(int(each), x * x) for each in k),
    ),
    "scf.execute_region": function(
        "%x: tensor<3xf32>",
        "tensor<3xf32>",
        """  %r0 = scf.execute_region -> tensor<3xf32> {
    %y = arith.addf %x, %x : tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  }""",
        lambda x: x + x,
    ),
    "weights in dialect_resources": Function(
        """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense_resource<w> : tensor<3x2xf32>
  %c = arith.constant dense<[[0.5, -0.5], [1.0, 2.0]]> : tensor<2x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000004000004040000080400000A0400000C040"
    }
  }
#-}
""",
        lambda x: (
            x @ np.array([[1, 2], [3, 4], [5, 6]], np.float32)
            + np.array([[0.5, -0.5], [1, 2]], np.float32)
        ),
    ),
    "a perceptron of bf16": Function(
        """#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<3x8xbf16>, %w: tensor<8x5xbf16>, %b: tensor<5xf32>) -> tensor<3x5xbf16> {
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<3x5xf32>) dimensions = [0]
  %m = linalg.matmul ins(%x, %w : tensor<3x8xbf16>, tensor<8x5xbf16>) outs(%s : tensor<3x5xf32>) -> tensor<3x5xf32>
  %o = tensor.empty() : tensor<3x5xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%m : tensor<3x5xf32>) outs(%o : tensor<3x5xbf16>) {
  ^bb0(%v: f32, %old: bf16):
    %zero = arith.constant 0.0 : f32
    %p = arith.maximumf %v, %zero : f32
    %h = arith.truncf %p : f32 to bf16
    linalg.yield %h : bf16
  } -> tensor<3x5xbf16>
  return %r : tensor<3x5xbf16>
}
""",
        lambda x, w, b: np.maximum(x.astype(np.float32) @ w.astype(np.float32) + b, 0).astype(
            x.dtype
        ),
    ),
}

FUNCTIONS: Mapping[str, Function] = {
    **PRODUCTS,
    **CONVOLUTIONS,
    **POOLINGS,
    **ELEMENTWISE,
    **REDUCTIONS,
    **GENERICS,
    **MOVEMENTS,
    **MODULES,
}
