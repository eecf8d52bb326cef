"""C of descriptions, evaluated here and compiled by gcc: the same numbers on random inputs."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f32

from gawee_dialect.located_json import Code
from gawee_dialect.opdesc.c_evaluate import CodeFailure, Evaluator, Unsatisfied
from gawee_dialect.opdesc.c_parse import parse_expression, parse_statements
from gawee_dialect.opdesc.c_values import (
    DOUBLE,
    FLOAT,
    INT,
    INT_POINTER,
    STRING,
    Buffer,
    PointerType,
    Ref,
    Value,
    tensor_struct,
)
from gawee_dialect.opdesc.description import Tensor

pytest.importorskip("pycparser")
GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc")

PRELUDE = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LN_MAXLINE 4096
enum { TL_DOUBLE, TL_FLOAT, TL_INT32, TL_INT16, TL_INT8, TL_UINT32, TL_UINT16, TL_UINT8, TL_BOOL };
enum { TL_NEAREST, TL_LINEAR };
struct tensor { int ndim; int len; int *dims; int dtype; };
struct entry { int array_len; double value_double; };
#define ln_opck_satisfy(condition) do { if (!(condition)) return 1; } while (0)
#define ln_opck_satisfy_msg(condition, ...) do { if (!(condition)) return 1; } while (0)
#define ln_msg_inter_error(...) return 1
#define ln_msg_warn(...) do { if (0) printf(__VA_ARGS__); } while (0)
#define ln_opck_param_double_ge(e, v) ln_opck_satisfy((e)->value_double >= (v))
#define ln_opck_param_double_gt(e, v) ln_opck_satisfy((e)->value_double > (v))
#define ln_opck_param_double_le(e, v) ln_opck_satisfy((e)->value_double <= (v))
#define ln_opck_param_double_ne(e, v) ln_opck_satisfy((e)->value_double != (v))
static void *ln_alloc(size_t n) { return calloc(n, 1); }
static void ln_free(void *p) { free(p); }
static void *ln_clone(const void *p, size_t n) { return memcpy(malloc(n), p, n); }
static int ln_streq(const char *a, const char *b) { return strcmp(a, b) == 0; }
static const char *ln_sprint_shape(char *text, int n, const int *dims) {
  char *end = text + sprintf(text, "[");
  for (int i = 0; i < n; i++) end += sprintf(end, i ? ", %d" : "%d", dims[i]);
  sprintf(end, "]");
  return text;
}
static int ln_compute_length(int n, const int *dims) {
  int all = 1;
  while (n--) all *= *dims++;
  return all;
}
static int ln_next_multiple_power2(int n, int k) { (void)k; return (n + 7) / 8 * 8; }
static int ln_output_dim_conv(int in, int size, int stride, int pad, int dil) {
  return (in + pad - ((size - 1) * dil + 1)) / stride + 1;
}
static int ln_output_dim_deconv(int in, int size, int stride, int pad, int out_pad, int dil) {
  return stride * (in - 1) + out_pad + (size - 1) * dil + 1 - pad;
}
static void share(int *padding, int axis, int n, int total, const char *mode) {
  if (total < 0 || !strcmp(mode, "VALID")) total = 0;
  int first = strcmp(mode, "SAME_LOWER") ? total / 2 : total - total / 2;
  padding[axis] = first;
  padding[axis + n] = total - first;
}
static void ln_autopadding_conv(int *padding, const int *dims, const int *size, const int *stride,
                                const int *dil, int n, const char *mode) {
  for (int i = 0; i < n; i++) {
    int out = (int)ceil(dims[i] / (double)stride[i]);
    share(padding, i, n, (out - 1) * stride[i] + (size[i] - 1) * dil[i] + 1 - dims[i], mode);
  }
}
static void ln_autopadding_deconv(int *padding, const int *dims, const int *out, const int *size,
                                  const int *stride, const int *extra, const int *dil, int n,
                                  const char *mode) {
  for (int i = 0; i < n; i++)
    share(padding, i, n,
          stride[i] * (dims[i] - 1) + extra[i] + (size[i] - 1) * dil[i] + 1 - out[i], mode);
}
static double tl_dtype_max_double(int dtype) {
  double limits[] = {1.7976931348623157e308, 3.4028234663852886e38, 2147483647., 32767., 127.,
                     4294967295., 65535., 255., 1.};
  return limits[dtype];
}
static double tl_dtype_min_double(int dtype) {
  double limits[] = {-1.7976931348623157e308, -3.4028234663852886e38, -2147483648., -32768.,
                     -128., 0., 0., 0., 0.};
  return limits[dtype];
}
"""

CLONE = "{ dst_dims = ln_clone(src->dims, sizeof(int) * src->ndim); "
SHAPES = "char one[LN_MAXLINE]; char two[LN_MAXLINE]; "
PICK = "(int[]){src->dims[0], 1, 1, 1}"

# Each sets `dst_dims` to four sizes; what else it may use is in SIGNATURE.
BLOCKS: dict[str, str] = {
    "clone and set": CLONE + "dst_dims[axis] = a; }",
    "clone without a block": "dst_dims = ln_clone(src->dims, sizeof(int)*4);\ndst_dims[axis] = 1;",
    "sum along an axis": CLONE + "dst_dims[axis] = src->dims[axis] + other->dims[axis]; }",
    "allocate and fill": (
        "{ dst_dims = ln_alloc(sizeof(int)*4); dst_dims[0] = src->dims[0]; dst_dims[1] = a;"
        "dst_dims[2] = ln_output_dim_conv(src->dims[2], size[0], stride[0], pad[0] + pad[2], 1);"
        "dst_dims[3] = ln_output_dim_conv(src->dims[3], size[1], stride[1], pad[1] + pad[3], 2); }"
    ),
    "transposed window": (
        "{ dst_dims = (int[]){src->dims[0], other->dims[1]*a,"
        "ln_output_dim_deconv(src->dims[2], size[0], stride[0], pad[0] + pad[2], b, 1),"
        "ln_output_dim_deconv(src->dims[3], size[1], stride[1], pad[1] + pad[3], 0, 2)}; }"
    ),
    "loop over sizes": (
        "{ dst_dims = ln_alloc(sizeof(int)*src->ndim); for (int i = 0; i < src->ndim; i++)"
        " dst_dims[i] = src->dims[order[i]]; }"
    ),
    "float sizes": (
        "{ dst_dims = ln_alloc(src->ndim*sizeof(int)); for (int i = 0; i < 4; i++)"
        " dst_dims[i] = (int)floorf(scales[i] * src->dims[i]); }"
    ),
    "ceil of doubles": (
        "double n = ceil((y - x) / z);\ndst_dims = ln_alloc(sizeof(int) * 4);\n"
        "dst_dims[0] = (int)n; dst_dims[3] = (int)ceil(x);"
    ),
    "floor of infinity": (
        "{ double big = 1e300; float f = (float)big; dst_dims = ln_alloc(sizeof(int) * 4);"
        " dst_dims[0] = floor(f) > 1e30; dst_dims[1] = ceil(-f) < 0;"
        " dst_dims[2] = floorf(big) > 1e30; dst_dims[3] = a; }"
    ),
    "initialized array": (
        "{ int dims[] = {1, other->dims[0], 2, src->dims[1]/stride[0]-5};"
        " dst_dims = ln_clone(dims, sizeof(int)*4); }"
    ),
    "next multiple": (
        "{ dst_dims = (int[]){src->dims[0], ln_next_multiple_power2(src->dims[1], 8), a, b}; }"
    ),
    "literal of three": "dst_dims = (int[]){src->dims[2], src->dims[0], src->dims[1], 1};",
    "same padding": (
        '{ if (ln_streq(mode, "VALID") || ln_streq(mode, "SAME_UPPER") ||\n'
        '     ln_streq(mode, "SAME_LOWER")) {'
        " ln_autopadding_conv(pad, &src->dims[2], size, stride, (int[]){1, 1}, 2, mode);"
        ' } else if (ln_streq(mode, "NOTSET")) {\n} else { ln_msg_warn("unknown %s", mode); }'
        " dst_dims = pad; }"
    ),
    "same padding of dims": (
        '{ if (!ln_streq(mode, "NOTSET"))'
        " ln_autopadding_conv(pad, src->dims, size, stride, size, 2, mode); dst_dims = pad; }"
    ),
    "same padding transposed": (
        '{ if (ln_streq(mode, "SAME_UPPER") || ln_streq(mode, "SAME_LOWER"))'
        " ln_autopadding_deconv(pad, &src->dims[2], &order[2], size, stride, (int[]){0, 0},"
        " (int[]){1, 1}, 2, mode); dst_dims = pad; }"
    ),
    "flag and break": (
        "int valid = 1;\nfor (int i = 0; i < 4; i++) {\n  if (order[i] <= 0) { valid = 0; break; }"
        "\n}\ndst_dims = (int[]){valid, 1, 1, 1};"
    ),
    "continue and compare": (
        "{ for (int i = 0; i < src->ndim; i++) { if (i == axis) continue; " + SHAPES +
        'ln_opck_satisfy_msg(src->dims[i] == other->dims[i] || i > 1, "%s and %s (%d)",'
        " ln_sprint_shape(one, src->ndim, src->dims), ln_sprint_shape(two, 4, other->dims), axis);"
        " } dst_dims = " + PICK + "; }"
    ),
    "seen axes": (
        "{ int *tmp = ln_alloc(src->ndim*sizeof(int)); for (int i = 0; i < src->ndim; i++)"
        " tmp[order[i]] = 1; for (int i = 0; i < src->ndim; i++)"
        ' ln_opck_satisfy_msg(tmp[i], "every axis once"); ln_free(tmp); dst_dims = ' + PICK + "; }"
    ),
    "two shapes in a message": (
        "{ " + SHAPES + "ln_opck_satisfy_msg(src->dims[0] == other->dims[0], \"'a' (%s), 'b' (%s)\","
        " ln_sprint_shape(one, src->ndim, src->dims),"
        " ln_sprint_shape(two, other->ndim, other->dims)); dst_dims = " + PICK + "; }"
    ),
    "product with a group": (
        "{ " + SHAPES + 'ln_opck_satisfy_msg(other->dims[1]*a == src->dims[1] + b, "%s * %d, %s",'
        " ln_sprint_shape(one, 4, other->dims), a, ln_sprint_shape(two, 4, src->dims)); dst_dims = "
        + PICK + "; }"
    ),
    "both of two sizes": (
        '{ ln_opck_satisfy_msg(size[0] == stride[0] && size[1] == stride[1], "%d", size[0]);'
        " dst_dims = " + PICK + "; }"
    ),
    "in a range": (
        '{ ln_opck_satisfy_msg(a >= 0 && a < src->ndim, "a %d", a); dst_dims = ' + PICK + "; }"
    ),
    "the same length": (
        "{ ln_opck_satisfy_msg(src->len == ln_compute_length(4, other->dims), \"%d\", src->len);"
        " dst_dims = (int[]){src->len, ln_compute_length(2, &src->dims[1]), 1, 1}; }"
    ),
    "limits of a dtype": (
        "{ double max, min; max = tl_dtype_max_double(TL_INT8); min = tl_dtype_min_double(dtype);"
        " ln_opck_param_double_ge(x_entry, min); ln_opck_param_double_le(x_entry, max);"
        " ln_opck_param_double_ne(x_entry, 0); ln_opck_param_double_gt(x_entry, y - 10);"
        " dst_dims = " + PICK + "; }"
    ),
    "count of a range": (
        "{ double n; n = ceil((y - x) / z); ln_opck_satisfy_msg(a != (int)n, \"%d\", (int)n);"
        " dst_dims = (int[]){(int)n, 1, 1, 1}; }"
    ),
    "compare two shapes": (
        "{ dst_dims = ln_clone(src->dims, 4*sizeof(int)); for (int i = 0; i < src->ndim; i++) {"
        ' if (dst_dims[i] != other->dims[i]) ln_msg_inter_error("differs at %d", i); } }'
    ),
    "array length": (
        "dst_dims = ln_clone(src->dims, sizeof(int)*x_entry->array_len); dst_dims[3] = a;"
    ),
    "quotient and remainder": "dst_dims = (int[]){a / stride[0], a % stride[0], -a / 2, -a % 3};",
    "precedence": "dst_dims = (int[]){a + b * 2 - 1, (a + b) * 2, a - b - 1, !a == b};",
    "conditional": "dst_dims = (int[]){a > b ? a : b, a ? 1 : 2, a == b ? 3 : a < b ? 4 : 5, 1};",
    "short circuit": (
        "dst_dims = (int[]){a && b / a > 1, !a || b % a, 0 && 1 / 0, 1 || 1 / 0};"
    ),
    "compound assignment": (
        "{ int n = a; n += b; n *= 2; n -= 3; n /= 2; n %= 7; dst_dims = (int[]){n, 1, 1, 1}; }"
    ),
    "increments": (
        "{ int n = a, m; m = n++; m += ++n; dst_dims = (int[]){n--, m, --n, 1}; }"
    ),
    "pointers": (
        "{ int *p = src->dims + 1; p = p + 1; dst_dims = (int[]){*p, p[1], *(p - 1), p[-2]}; }"
    ),
    "write by a pointer": "{ int *p = &pad[1]; *p = a; *(p + 1) = b; dst_dims = pad; }",
    "unsigned sizes": (
        "{ size_t n = a; unsigned m = b; dst_dims = (int[]){n > 100, m > 100, -1 < sizeof(int),"
        " (int)(n % 7)}; }"
    ),
    "casts": "dst_dims = (int[]){(int)x, (int)-x, (char)(a * 50), (unsigned char)(a * 50)};",
    "float arithmetic": (
        "{ float f = x; f = f * 0.1f + y; dst_dims = (int[]){(int)(f * 1000), f > x, (int)(f / 3),"
        " (int)(x * 1000 / 3)}; }"
    ),
    "mixed division": "dst_dims = (int[]){(int)(a / 2 * 1.0), (int)(a / 2.0 * 10), 7 / 2, -7 / 2};",
    "scopes": (
        "{ int n = 1; { int n = a; n = n + 1; } if (a > b) { int n = 5; n++; } "
        "for (int n = 0; n < 2; n++) ; dst_dims = (int[]){n, 1, 1, 1}; }"
    ),
    "nested loops": (
        "{ int n = 0; for (int i = 0; i < 4; i++) for (int j = i; j < 4; j += 2) {"
        " if (j == 3) continue; if (i + j == a) break; n += i * j + 1; }"
        " dst_dims = (int[]){n, 1, 1, 1}; }"
    ),
    "constants and comments": (
        "/* all kinds */ dst_dims = (int[]){0x1F + 010, 'A', TL_FLOAT + TL_INT8, // decimal, too\n"
        " TL_LINEAR == 1};"
    ),
    "declared without a value": (
        "{ int n; if (a) n = 1; else n = 2; int m[3] = {n, a}; dst_dims = (int[]){n, m[1], m[2], 1};"
        " }"
    ),
}  # fmt: skip

SIGNATURE = (
    "struct tensor *src, struct tensor *other, int axis, int a, int b, int dtype, int *order, "
    "int *size, int *stride, int *pad, float *scales, double x, double y, double z, "
    "struct entry *x_entry, const char *mode, int *out"
)


# What occurs in the custom blocks of the format's operators, and in how many of the 41.
FEATURES = {
    "function call": r"ln_\w+\(", "index": r"\w\[\w", "->": "->", "block": r"\{ ", "assignment": r" = ",
    "declaration": r"\b(int|double|char) \*?\w+", "times": r"\w ?\* ?\w", "cast": r"\((int|float)\)\w",
    "string": '"', "+": r"\+ ", "==": "==", "< >": "[<>] ", "compound literal": r"\(int\[\]\)\{",
    "if": r"\bif\b", "for": r"\bfor\b", "++": r"\+\+", "/": " ?/ ?", "sizeof": r"sizeof\(int\)",
    "array initialiser": r"\] = \{", "else": r"\belse\b", "||": r"\|\|", "&&": "&&", "minus": r"\w ?- ?\w",
    "address": r"&\w+->\w+\[|&\w+\[", "comment": "//", "continue": r"\bcontinue\b", "break": r"\bbreak\b",
    "!": r"!\w", "!=": "!=",
}  # fmt: skip
CALLED = """
    ln_opck_satisfy_msg ln_sprint_shape ln_clone ln_alloc ln_output_dim_conv ln_streq ceil
    ln_autopadding_conv ln_msg_warn ln_opck_param_double_ge ln_opck_param_double_gt
    ln_opck_param_double_le ln_opck_param_double_ne tl_dtype_min_double tl_dtype_max_double
    ln_msg_inter_error ln_output_dim_deconv ln_autopadding_deconv ln_next_multiple_power2
    ln_compute_length ln_free floorf
""".split()


def test_blocks_have_every_feature_and_function_of_the_format() -> None:
    blocks = "\n".join(BLOCKS.values())

    assert [name for name, pattern in FEATURES.items() if not re.search(pattern, blocks)] == []
    assert [name for name in CALLED if f"{name}(" not in blocks] == []
    assert len(BLOCKS) >= 41


def compiled(folder: Path, source: str) -> ctypes.CDLL:
    (folder / "blocks.c").write_text(PRELUDE + source)
    target = folder / "blocks.so"
    # Descriptions hand on (int[]){...} from the block that it is in, whose end is the end of its
    # life in C: gcc is told to let it live on.
    live = "-fstack-reuse=none"
    command = [
        GCC or "gcc",
        "-O1",
        live,
        "-w",
        "-shared",
        "-fPIC",
        "-o",
        target,
        folder / "blocks.c",
    ]
    subprocess.run([*command, "-lm"], check=True)
    return ctypes.CDLL(str(target))


class CTensor(ctypes.Structure):
    _fields_ = (
        ("ndim", ctypes.c_int),
        ("len", ctypes.c_int),
        ("dims", ctypes.POINTER(ctypes.c_int)),
        ("dtype", ctypes.c_int),
    )


class CEntry(ctypes.Structure):
    _fields_ = (("array_len", ctypes.c_int), ("value_double", ctypes.c_double))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    functions = (
        f"int block_{number}({SIGNATURE}) {{ int *dst_dims = 0; (void)axis;\n{block}\n"
        "for (int i = 0; i < 4; i++) out[i] = dst_dims[i]; return 0; }\n"
        for number, block in enumerate(BLOCKS.values())
    )
    return compiled(tmp_path_factory.mktemp("blocks"), "\n".join(functions))


def code(text: str) -> Code:
    return Code.of_text(text, "block")


sizes = st.lists(st.integers(1, 40), min_size=4, max_size=4)
small = st.lists(st.integers(1, 5), min_size=2, max_size=2)
doubles = st.floats(-100, 100, allow_nan=False)
INPUTS = st.fixed_dictionaries(
    {
        "src": sizes,
        "other": st.one_of(sizes, st.just([3, 4, 5, 6])),
        "axis": st.integers(0, 3),
        "a": st.integers(-9, 9),
        "b": st.integers(-9, 9),
        "dtype": st.integers(0, 8),
        "order": st.one_of(st.permutations(range(4)), st.lists(st.integers(0, 3), min_size=4, max_size=4)),
        "size": small,
        "stride": small,
        "pad": st.lists(st.integers(0, 4), min_size=4, max_size=4),
        "scales": st.lists(st.floats(0.25, 4, width=32), min_size=4, max_size=4),
        "x": doubles,
        "y": doubles,
        "z": st.floats(0.5, 3),
        "mode": st.sampled_from(("VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET")),
    }
)  # fmt: skip


def evaluated(block: str, inputs: Mapping[str, object]) -> list[int] | None:
    """Return the sizes that a block makes here, None where its check fails."""
    evaluator = Evaluator()

    def array(values: Sequence[int | float]) -> Ref:
        floats = any(isinstance(each, float) for each in values)
        return Ref(Buffer.of(FLOAT if floats else INT, [*values]))

    for name, value in inputs.items():
        if name in ("src", "other"):
            assert isinstance(value, list)
            made = tensor_struct(Tensor(name, f32, tuple(value)))
            evaluator.declare(name, made.type, made)
        elif isinstance(value, list | tuple):
            kind = PointerType(FLOAT) if name == "scales" else INT_POINTER
            evaluator.declare(name, kind, Value(kind, array(value)))
        elif isinstance(value, str):
            evaluator.declare(name, STRING, Value(STRING, value))
        elif isinstance(value, float):
            evaluator.declare(name, DOUBLE, Value(DOUBLE, value))
        else:
            assert isinstance(value, int)
            evaluator.declare(name, INT, Value(INT, value))
    entry = {"array_len": Value(INT, 4), "arg_name": Value(STRING, "x")}
    entry["value_double"] = Value(DOUBLE, float(str(inputs["x"])))
    made = tensor_struct(Tensor("", f32, ()))
    evaluator.declare("x_entry", made.type, Value(made.type, entry))
    evaluator.declare("dst_dims", INT_POINTER)
    try:
        evaluator.run(parse_statements(code(block)))
    except Unsatisfied:
        return None
    variable = evaluator.variable("dst_dims")
    assert variable is not None
    assert variable.value is not None
    return [int(each) for each in variable.value.ref().elements(4)]


def run_native(library: ctypes.CDLL, number: int, inputs: Mapping[str, object]) -> list[int] | None:
    def ints(values: object) -> ctypes.Array[ctypes.c_int]:
        assert isinstance(values, list | tuple)
        return (ctypes.c_int * len(values))(*values)

    def tensor(dims: object) -> CTensor:
        made = ints(dims)
        count = 1
        for each in made:
            count *= each
        return CTensor(4, count, made, 1)

    scales = inputs["scales"]
    assert isinstance(scales, list)
    out = (ctypes.c_int * 4)()
    entry = CEntry(4, float(str(inputs["x"])))
    failed = library[f"block_{number}"](
        ctypes.byref(tensor(inputs["src"])),
        ctypes.byref(tensor(inputs["other"])),
        *(ctypes.c_int(int(str(inputs[name]))) for name in ("axis", "a", "b", "dtype")),
        *(ints(inputs[name]) for name in ("order", "size", "stride", "pad")),
        (ctypes.c_float * 4)(*scales),
        *(ctypes.c_double(float(str(inputs[name]))) for name in ("x", "y", "z")),
        ctypes.byref(entry),
        str(inputs["mode"]).encode(),
        out,
    )
    return None if failed else list(out)


@pytest.mark.parametrize("name", BLOCKS)
def test_block_means_what_gcc_makes_of_it(name: str, library: ctypes.CDLL) -> None:
    number = list(BLOCKS).index(name)

    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],  # shrinking takes minutes, and the inputs are small
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(INPUTS)
    def agree(inputs: dict[str, object]) -> None:
        copies = {key: list(v) if isinstance(v, list) else v for key, v in inputs.items()}
        assert evaluated(BLOCKS[name], copies) == run_native(library, number, inputs)

    agree()


def random_expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice(("a", "b", "c", "x", str(random.randint(0, 9)), "2.5", "100u", "7l"))
    deeper = lambda: random_expression(random, depth - 1)  # noqa: E731
    match random.randrange(8):
        case 0:
            return f"-{random.choice('abcx')}"
        case 1:
            return f"!{deeper()}" if random.random() < 0.5 else f"!({deeper()})"
        case 2:
            return f"({deeper()})"
        case 3:
            return f"({random.choice(('int', 'double', 'float', 'unsigned char'))})({deeper()})"
        case 4:
            return f"({deeper()} ? {deeper()} : {deeper()})"
        case _:
            operator = random.choice("+ - * / % < <= > >= == != && ||".split())
            return f"{deeper()} {operator} {deeper()}"


def test_random_expressions_mean_what_gcc_makes_of_them(tmp_path: Path) -> None:
    random = Random(11)
    texts = [random_expression(random, 4) for _ in range(300)]
    # `%` of a double is no C: here it is an error when evaluated, there one of the compiler.
    texts = [each for each in texts if "%" not in each or not set(each) & set("x.f(")]
    functions = (
        f"double e{number}(int a, int b, int c, double x) {{ return {text}; }}"
        for number, text in enumerate(texts)
    )
    native = compiled(tmp_path, "\n".join(functions))
    compared = 0
    reasons: set[str] = set()
    for number, text in enumerate(texts):
        function = native[f"e{number}"]
        function.restype = ctypes.c_double
        for _ in range(4):
            values = [random.randint(-20, 20) for _ in range(3)]
            x = random.uniform(-20, 20)
            evaluator = Evaluator()
            for name, value in zip("abc", values, strict=True):
                evaluator.declare(name, INT, Value(INT, value))
            evaluator.declare("x", DOUBLE, Value(DOUBLE, x))
            try:
                here = evaluator.evaluate(parse_expression(code(text))).number()
            except CodeFailure as failure:
                # What C leaves undefined: gcc's answer is no oracle.
                reasons.add(re.sub(r"^.*(?=out of range)", "", failure.message))
                continue
            there = function(*values, ctypes.c_double(x))
            assert float(here) == there, (text, values, x)
            compared += 1
    assert compared > 400
    assert all(each.startswith(("division by zero", "out of range of")) for each in reasons)
