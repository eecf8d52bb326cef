"""C of descriptions: it compiles without a warning, and its pre_run says what our verifier says."""

import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from gawee_dialect.opdesc import load
from gawee_dialect.opdesc.compiled import CompiledOperator
from gawee_dialect.opdesc.description import (
    CONSTANTS,
    Argument,
    CheckFailure,
    Invocation,
    ParamValue,
    Tensor,
    ptype_of,
)
from gawee_dialect.opdesc.emit.c_file import (
    c_file,
    entry_data,
    header_text,
    param_data,
    tensor_data,
)
from gawee_dialect.opdesc.pre_run import pre_run
from gawee_dialect.opdesc.read import parse_descriptions, read_descriptions
from gawee_dialect.tools.gawee_translate import main
from tests.effort import FULL, full_run
from tests.opdesc.descriptions import array, number, operator, output, tensor, text
from tests.opdesc.invocations import changed, described
from tests.opdesc.test_pre_run import INPUTS, OUTPUTS, PARAMS, PROBE, ROWS, TABLE

pytest.importorskip("pycparser")
GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="needs gcc")

SHIPPED = sorted(Path(load.__file__).with_name("lightnet").glob("*.op"))


def compile_c(folder: Path, source: str, *flags: str) -> Path:
    (folder / "gawee_op.h").write_text(header_text())
    (folder / "ops.c").write_text(source)
    command = [GCC or "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags]
    target = folder / "ops"
    done = subprocess.run(
        [*command, "-o", target, folder / "ops.c", "-lm"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return target


@needs_gcc
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.parametrize("level", [pytest.param("-O0", marks=full_run), "-O2"])
def test_shipped_descriptions_compile_without_a_warning(
    path: Path, level: str, tmp_path: Path
) -> None:
    assert main(["opdesc", str(path), "--emit", "c", "-o", str(tmp_path / "emitted.c")]) == 0

    compile_c(tmp_path, (tmp_path / "emitted.c").read_text(), level, "-c", "-Wno-sign-compare")


def test_header_has_the_constants_of_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["opdesc", str(SHIPPED[0]), "--emit", "header"]) == 0

    enums = re.findall(r"enum \{(.*?)\};", capsys.readouterr().out, re.DOTALL)
    named = {name.strip(): value for enum in enums for value, name in enumerate(enum.split(","))}
    assert named == dict(CONSTANTS)


# A program that runs pre_run on many invocations, and prints a line for each.

PRINT = r"""
static void show(const ln_op *op, ln_op_arg *op_arg) {
  char shape[LN_MAXLINE];
  ln_tensor_table *table = op_arg->table;
  int before = table->count;
  if (op->pre_run(op_arg) != 0) {
    printf("%s|%s\n", op_arg->error_kind, op_arg->error);
    return;
  }
  printf("ok|");
  for (int i = before; i < table->count; i++) {
    ln_tensor_entry *entry = table->entries[i];
    printf("%s %s %s %s %s %d;", entry->name,
           ln_sprint_shape(shape, entry->tensor->ndim, entry->tensor->dims),
           ln_dtype_name(entry->tensor->dtype), ln_mtype_name(entry->mtype),
           entry->owner ? entry->owner : "-", entry->isstatic);
  }
  printf("\n");
  op->post_run(op_arg);
  if (table->count != before || op_arg->memory != NULL) printf("post_run left something\n");
}
"""


def case_text(index: int, invocation: Invocation, table: dict[str, Tensor]) -> str:
    lines: list[str] = []
    entries: list[str] = []
    for at, each in enumerate(table.values()):
        lines.append(f"ln_tensor t{at} = {tensor_data(each)};")
        lines.append(f"ln_tensor_entry e{at} = {entry_data(each, f'&t{at}')};")
        entries.append(f"&e{at}")
    lines.append(f"ln_tensor_entry *all[64] = {{{', '.join(entries) or '0'}}};")
    lines.append(f"ln_tensor_table table = {{all, {len(entries)}, 64}};")

    def names(arguments: object) -> str:
        assert isinstance(arguments, list)
        return ", ".join(f'{{"{each.arg_name}", "{each.name}"}}' for each in arguments) or "{0}"

    params = ", ".join(param_data(*each) for each in invocation.params.items()) or "{0}"
    lines += [
        f"ln_tensor_list_entry ins[] = {{{names(invocation.tensors_in)}}};",
        f"ln_tensor_list_entry outs[] = {{{names(invocation.tensors_out)}}};",
        f"ln_param_entry params[] = {{{params}}};",
        f'ln_op_arg op_arg = {{.name = "{invocation.name}", .optype = "{invocation.optype}",',
        f"  .tensors_in = ins, .tensors_in_count = {len(invocation.tensors_in)},",
        f"  .tensors_out = outs, .tensors_out_count = {len(invocation.tensors_out)},",
        f"  .params = params, .params_count = {len(invocation.params)}, .table = &table}};",
        f"show(&ln_op_{invocation.optype}, &op_arg);",
    ]
    return "\n".join((f"static void case_{index}(void) {{", *lines, "}"))


def verdict(compiled: CompiledOperator, invocation: Invocation, table: dict[str, Tensor]) -> str:
    try:
        checked = pre_run(compiled, invocation, table)
    except CheckFailure as failure:
        return f"{failure.kind}|{failure.message}"
    outputs = [
        f"{each.name} [{', '.join(map(str, each.shape))}] {each.dtype} {each.mtype} "
        f"{each.owner or '-'} {int(bool(each.static))};"
        for each in checked.outputs
    ]
    return f"ok|{''.join(outputs)}"


Cases = list[tuple[CompiledOperator, Invocation, dict[str, Tensor]]]


def compare(folder: Path, cases: Cases) -> list[str]:
    """Hold what compiled pre_runs say against our verifier; returns the kinds that occurred."""
    operators = {compiled.operator.optype: compiled for compiled, _, _ in cases}
    functions = [case_text(index, *each[1:]) for index, each in enumerate(cases)]
    calls = "".join(f"case_{index}();" for index in range(len(cases)))
    main_function = f"int main(void) {{ {calls} return 0; }}"
    source = "\n".join((c_file(list(operators.values()), "ops"), PRINT, *functions, main_function))
    sanitizers = ["-fsanitize=address,undefined"] if FULL else []
    program = compile_c(folder, source, *sanitizers, "-Wno-sign-compare",
                        "-Wno-missing-field-initializers")  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    found = done.stdout.splitlines()
    kinds: list[str] = []
    for (compiled, invocation, table), line in zip(cases, found, strict=True):
        expected = verdict(compiled, invocation, table)
        kinds.append(expected.partition("|")[0])
        if kinds[-1] == "evaluation":  # worded otherwise: the place is in the description
            assert line.startswith("evaluation|"), (invocation, line, expected)
        else:
            assert line == expected, invocation
    return kinds


def holds(value: ParamValue) -> bool:
    """Whether C's entry can hold a value: an array is of one kind, and not empty."""
    return ptype_of(value).startswith("LN_PARAM_")


@needs_gcc
def test_pre_run_of_every_check_agrees_with_the_verifier(tmp_path: Path) -> None:
    cases: Cases = []
    compiled = parse_descriptions(text(PROBE), "ops.json").operators[0]
    for _, change, _ in ROWS:
        given = {
            key: {**base, **change.get(key, {})}
            for key, base in (("inputs", INPUTS), ("outputs", OUTPUTS), ("params", PARAMS))
        }
        if not all(holds(value) for value in given["params"].values()):
            continue
        ins, outs = (
            [Argument(name, str(value)) for name, value in given[key].items() if value is not None]
            for key in ("inputs", "outputs")
        )
        cases.append((compiled, Invocation("node", "probe", ins, outs, given["params"]), TABLE))

    kinds = compare(tmp_path, cases)

    assert len(set(kinds)) > 20


@needs_gcc
def test_pre_run_of_shipped_operators_agrees_with_the_verifier(tmp_path: Path) -> None:
    cases: Cases = []
    for each in changed(Random(5)):
        invocation = each.invocation()
        if all(holds(value) for value in invocation.params.values()):
            cases.append((described(each.optype), invocation, each.table()))

    kinds = compare(tmp_path, cases)

    assert kinds.count("ok") > 100
    assert len(kinds) - kinds.count("ok") > 100
    assert len(set(kinds)) > 15


@needs_gcc
def test_what_c_leaves_undefined_fails_as_here(tmp_path: Path) -> None:
    table = {"x": Tensor("x", TABLE["t"].element, (2, 3), "LN_MEM_CPU", False)}
    operators = [
        operator("divides", params=[number("n", check="7 / (n - 2) > 0")]),
        operator("indexes", params=[number("n", check="src->dims[n + 1] > 0")]),
        operator("reads", params=[array("a", check="a[src->ndim] > 0")]),
        operator("makes", tensors_out=[output(dims=["src->len - 6", 1])]),
        operator("ranks", tensors_out=[output(ndim="src->ndim - 2")]),
        operator("unset", tensors_out=[{"arg_name": "dst", "mtype": "LN_MEM_NONE", "custom": ";"}]),
        operator("types", tensors_out=[output(dtype="9")], tensors_in=[tensor()]),
    ]
    compiled = parse_descriptions(text(*operators), "ops.json").operators
    cases: Cases = []
    for each in compiled:
        given: dict[str, ParamValue] = {
            param.arg_name: (1, 2) if param.is_array else 2 for param in each.operator.params
        }
        made = Invocation(
            "node", each.operator.optype, [Argument("src", "x")], [Argument("dst", "y")], given
        )
        cases.append((each, made, table))

    assert compare(tmp_path, cases) == ["evaluation"] * len(operators)


def test_bodies_are_in_the_file_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "ops.json"
    path.write_text(
        text(
            operator(
                "double_it", params=[number("by", "float")],
                extra_privs=[{"type": "float *", "name": "kept"}],
                static_run="priv->kept = ln_alloc(sizeof(float)); /* once */",
                run="for (int i = 0; i < src->len; i++)\n  ((float *)dst->data)[i] = by * ((float *)src->data)[i];",
                calc_offset="return 4;",
            )
        )
    )  # fmt: skip
    source = c_file(read_descriptions(path).operators, str(path))

    assert "  float *kept;\n};" in source
    assert "    priv->kept = ln_alloc(sizeof(float)); /* once */\n" in source
    assert (
        "  float by = priv->by_entry->value_float;\n"
        "  {\n"
        "    for (int i = 0; i < src->len; i++)\n"
        "      ((float *)dst->data)[i] = by * ((float *)src->data)[i];\n"
        "  }\n"
    ) in source
    assert (
        "static size_t double_it_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *entry)" in source
    )
    if GCC is not None:
        compile_c(tmp_path, source, "-c", "-Wno-sign-compare")
