"""C that is made of equations computes what they mean, on uses that descriptions make themselves."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.equations.evaluate import Array
from gawee_dialect.equations.functions import ParameterValue
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import DTYPES, Tensor
from gawee_dialect.opdesc.emit.c_file import (
    c_file,
    entry_data,
    header_text,
    param_data,
    tensor_data,
)
from gawee_dialect.opdesc.oracle import Use, random_use
from gawee_dialect.opdesc.read import read_descriptions
from gawee_dialect.tools.gawee_translate import main
from tests.effort import part_of

pytest.importorskip("pycparser")
GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="needs gcc")

OPERATORS = Path(__file__).parent / "operators.op"

USES = 2
"""Of each operator: the smallest sizes are drawn as often as the largest."""

CASE = """
static void case_{index}(void) {{
{tensors}
  ln_tensor_entry *all[64] = {{{entries}}};
  ln_tensor_table table = {{all, {count}, 64}};
  ln_tensor_list_entry ins[] = {{{ins}}};
  ln_tensor_list_entry outs[] = {{{outs}}};
  ln_param_entry params[] = {{{params}}};
  ln_op_arg op_arg = {{.name = "node", .optype = "{optype}", .tensors_in = ins,
    .tensors_in_count = {count}, .tensors_out = outs, .tensors_out_count = {results},
    .params = params, .params_count = {param_count}, .table = &table}};
  call(&ln_op_{optype}, &op_arg, {count});
}}
"""

CALL = """
static void call(const ln_op *op, ln_op_arg *op_arg, int inputs) {
  static const int sizes[] = {8, 4, 4, 2, 1, 4, 2, 1, 1};
  ln_tensor_table *table = op_arg->table;
  for (int i = 0; i < inputs; i++) {
    ln_tensor *tensor = table->entries[i]->tensor;
    size_t size = (size_t)sizes[tensor->dtype], count = (size_t)tensor->len;
    tensor->data = malloc(size * count);
    if (fread(tensor->data, size, count, stdin) != count) exit(2);
  }
  if (op->pre_run(op_arg) != 0) {
    fprintf(stderr, "%s: %s\\n", op->optype, op_arg->error);
    exit(1);
  }
  for (int i = inputs; i < table->count; i++)
    table->entries[i]->tensor->data = malloc((size_t)table->entries[i]->tensor->len * 8);
  op->run(op_arg);
  op->run(op_arg);
  for (int i = inputs; i < table->count; i++) {
    ln_tensor *tensor = table->entries[i]->tensor;
    fwrite(&tensor->ndim, sizeof(int), 1, stdout);
    fwrite(tensor->dims, sizeof(int), (size_t)tensor->ndim, stdout);
    fwrite(&tensor->dtype, sizeof(int), 1, stdout);
    fwrite(tensor->data, (size_t)sizes[tensor->dtype], (size_t)tensor->len, stdout);
  }
  op->post_run(op_arg);
  if (table->count != inputs || op_arg->memory != NULL) exit(3);
}
"""

DTYPES_IN_NUMPY = ("f8", "f4", "i4", "i2", "i1", "u4", "u2", "u1", "bool")


def stored(array: Array) -> Array:
    """An array as the format has it: no integers of 64 bits, and no rank 0."""
    narrow = array.astype(np.int32) if array.dtype == np.int64 else array
    return np.ascontiguousarray(np.atleast_1d(narrow))


def case_text(
    index: int,
    compiled: CompiledOperator,
    inputs: Mapping[str, Array],
    parameters: Mapping[str, ParameterValue],
) -> str:
    operator = compiled.operator
    lines: list[str] = []
    for name, array in inputs.items():
        narrow = stored(array)
        place = [np.dtype(each) for each in DTYPES_IN_NUMPY].index(narrow.dtype)
        tensor = Tensor(name, tuple(DTYPES.values())[place], narrow.shape)
        lines.append(f"  ln_tensor t_{name} = {tensor_data(tensor)};")
        lines.append(f"  ln_tensor_entry e_{name} = {entry_data(tensor, f'&t_{name}')};")
    params = [param_data(each.arg_name, parameters[each.arg_name]) for each in operator.params]
    return CASE.format(
        index=index,
        tensors="\n".join(lines),
        entries=", ".join(f"&e_{name}" for name in inputs),
        count=len(inputs),
        ins=", ".join(f'{{"{name}", "{name}"}}' for name in inputs),
        outs=", ".join(f'{{"{e.arg_name}", "{e.arg_name}"}}' for e in operator.tensors_out),
        results=len(operator.tensors_out),
        params=", ".join(params) or "{0}",
        param_count=len(params),
        optype=operator.optype,
    )


def compiled_program(folder: Path, source: str) -> Path:
    (folder / "gawee_op.h").write_text(header_text())
    (folder / "ops.c").write_text(source)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"]
    command = [GCC or "gcc", *strict, "-o", folder / "ops", folder / "ops.c", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "ops"


def results(output: bytes) -> list[Array]:
    found: list[Array] = []
    at = 0
    while at < len(output):
        ndim = int(np.frombuffer(output, "i4", 1, at)[0])
        shape = np.frombuffer(output, "i4", ndim, at + 4)
        dtype = DTYPES_IN_NUMPY[int(np.frombuffer(output, "i4", 1, at + 4 + 4 * ndim)[0])]
        at += 8 + 4 * ndim
        array: Array = np.frombuffer(output, dtype, int(np.prod(shape)), at)
        found.append(array.reshape(shape))
        at += array.nbytes
    return found


def check(got: Sequence[Array], use: Use, name: str) -> None:
    for one, wanted in zip(got, use.outputs, strict=True):
        expected = stored(wanted)
        assert one.dtype == expected.dtype, name
        assert one.shape == expected.shape, name
        # Sums of f32 in another order; the meaning takes short ones in f32.
        reach = float(np.max(np.abs(expected[np.isfinite(expected)].astype("f8")), initial=1e-3))
        np.testing.assert_allclose(
            one.astype("f8"), expected.astype("f8"), rtol=1e-4, atol=2e-5 * reach, err_msg=name
        )


@needs_gcc
def test_run_of_every_operator_computes_what_its_body_means(tmp_path: Path) -> None:
    operators = part_of(read_descriptions(str(OPERATORS)).operators)
    cases = [(each, random_use(each, seed)) for each in operators for seed in range(USES)]
    source = [c_file(operators, "operators.op"), CALL]
    source += [
        case_text(index, each, use.inputs, use.parameters)
        for index, (each, use) in enumerate(cases)
    ]
    calls = " ".join(f"case_{index}();" for index in range(len(cases)))
    source.append(f"int main(void) {{ {calls} return 0; }}\n")
    program = compiled_program(tmp_path, "\n".join(source))

    data = b"".join(stored(each).tobytes() for _, use in cases for each in use.inputs.values())
    done = subprocess.run([program], input=data, capture_output=True)

    assert done.returncode == 0, done.stderr.decode()
    found = iter(results(done.stdout))
    for compiled, use in cases:
        check([next(found) for _ in use.outputs], use, f"{compiled.operator.optype}: {use}")
    assert next(found, None) is None


CONV = """
conv { body: `
    int s = 1, p = 0
    require s >= 1, "a stride"
    y[n,o,h] = sum(c,i) x[n,c,h*s+i-p] * k[o,c,i]
` }
near { body: "y[n, h < 4] = x[n, h + 2] + size(x, 0)" }
both { body: "y[...] = a[...] + b[...]" }
"""

WRONG: list[tuple[str, dict[str, tuple[int, ...]], dict[str, ParameterValue], str]] = [
    ("conv", {"x": (2, 3, 7), "k": (4, 5, 2)}, {"s": 1, "p": 0}, "index 'c' to have one size"),
    ("conv", {"x": (2, 3, 7), "k": (4, 3, 2)}, {"s": 0, "p": 0}, "expected a stride"),
    ("conv", {"x": (2, 3, 7), "k": (4, 3, 9)}, {"s": 1, "p": 0}, "one value of index 'h', got -1"),
    ("conv", {"x": (2, 3), "k": (4, 3, 9)}, {"s": 1, "p": 0}, "'x' of 3 dimensions, got 2"),
    ("near", {"x": (2, 5)}, {}, "'h + 2' to stay in 'x' of size 5, got 2 to 5"),
    ("both", {"a": (2, 5), "b": (5, 2)}, {}, "'...' of 'b' to stand for the same sizes"),
]


@needs_gcc
def test_pre_run_refuses_what_a_body_has_no_meaning_for(tmp_path: Path) -> None:
    path = tmp_path / "conv.op"
    path.write_text(CONV)
    operators = read_descriptions(str(path)).operators
    source = [
        c_file(operators, "conv.op"),
        CALL,
        "int main(int argc, char **argv) {",
        "(void)argv;",
    ]
    cases: list[str] = []
    for index, (optype, shapes, parameters, _) in enumerate(WRONG):
        (compiled,) = (each for each in operators if each.operator.optype == optype)
        inputs: dict[str, Array] = {n: np.ones(shape, "f4") for n, shape in shapes.items()}
        cases.append(case_text(index, compiled, inputs, parameters))
        source.append(f"if (argc == {index + 1}) case_{index}();")
    program = compiled_program(tmp_path, "\n".join([*source[:2], *cases, *source[2:], "}", ""]))

    for index, (_, _, _, message) in enumerate(WRONG):
        done = subprocess.run([program, *["-"] * index], input=bytes(9999), capture_output=True)
        assert done.returncode == 1
        assert message in done.stderr.decode()


def test_all_operators_whose_elements_the_format_lacks_are_refused_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "half.op"
    path.write_text('one { body: "y[i] = f16(x[i])" }\ntwo { body: "y[i] = f32(f16(x[i]))" }\n')

    assert main(["opdesc", str(path), "--emit", "c", "-o", str(tmp_path / "half.c")]) == 1

    lines = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    expected = "cannot write operator '{}' as C: expected elements that the format has, got 'f16'"
    assert [re.sub(r".*error: ", "", line) for line in lines] == [
        expected.format("one"),
        expected.format("two"),
    ]
    assert not (tmp_path / "half.c").exists()
