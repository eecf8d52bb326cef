"""The reference page of descriptions: all that is checked is on it."""

from pathlib import Path

import pytest

from gawee_dialect.tools.gawee_translate import main
from tests.opdesc.descriptions import array, number, operator, output, string, tensor, text

pytest.importorskip("pycparser")

DESCRIBED = operator(
    doc="twice | what it was",
    tensors_in=[
        tensor("a", mtype="LN_MEM_CPU", dtype="TL_FLOAT", ndim=2, len="6", static=True,
               check='a->dims[0] == 2, "two"'),
        tensor("b", sametype="a", sameshape="a", static=False),
    ],
    tensors_out=[output(ndim="a->ndim", dims=["a->dims[0]", 3], dtype="a->dtype", owner="a_name")],
    params=[
        number("axis", ge=0, lt="a->ndim", checks=[{"check": "axis != 7 || axis > 9"}]),
        array("size", "float", len=2, custom="if (size[0] > 3)\n  ln_opck_satisfy(0);"),
        string("mode", realtype="int", from_func="tl_resize_type_from_str"),
    ],
    checks=[{"check": "axis + 1 < 9"}],
    run="/* C */",
)  # fmt: skip

PAGE = """# The operators of `lightnet`

## `lightnet.probe`

Twice \\| what it was.

```text
%dst = lightnet.probe %a, %b axis <number> size [<number>, ...] mode <text> : (...) -> ...
```

| | name | |
|---|---|---|
| input | `a` | in `LN_MEM_CPU`; of dtype `TL_FLOAT`; of 2 dimensions; of 6 elements; static; `a->dims[0] == 2` |
| input | `b` | of the dtype of `a`; of the shape of `a`; not static |
| param | `axis` | `int`; >= 0; < `a->ndim`; `axis != 7 \\|\\| axis > 9` |
| param | `size` | array: `float`; 2 elements; statements below |
| param | `mode` | text, a constant of `tl_resize_type_from_str` |
| output | `dst` | of shape `[a->dims[0], 3]`; of dtype `a->dtype`; in the memory of `a` |

When all params are known: `axis + 1 < 9`.

Statements of `size`:

```c
if (size[0] > 3)
  ln_opck_satisfy(0);
```

Described in C: `run`.
"""


def test_page_says_all_that_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ops.json"
    path.write_text(text(DESCRIBED))

    assert main(["opdesc", str(path), "--emit", "docs"]) == 0

    assert capsys.readouterr().out == PAGE


def test_standard_input_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opdesc", "-", "--emit", "docs"]) == 1

    message = "expected a file of operator descriptions, got standard input"
    assert message in capsys.readouterr().err


def test_page_of_equations_has_an_example_that_can_be_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.op"
    path.write_text(
        'dialect "mine"\nramp { body: `\n int by = 2\n require by > 1\n y[h < 3] = h*by + 0*x[0]\n` }\n'
    )

    assert main(["opdesc", str(path), "--emit", "docs"]) == 0

    page = capsys.readouterr().out
    assert page.startswith("# The operators of `mine`\n\n## `mine.ramp`\n\n```text\n%y = mine.ramp")
    assert "\n| output | `y` | as the equations say |\n" in page
    assert "\n- parameter `int by = 2`\n- requires `by > 1`\n- `y`: `h` up to `3`\n" in page
    by = int(page.rpartition("by = ")[2].partition(":")[0])
    assert f"y: 3 of float32, 0, {by}, {2 * by}\n" in page


def test_page_shows_the_function_in_mlir(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ops.json"
    path.write_text(text(operator(mlir="  func.func @f(%x: ${src}) -> ${dst} {\n  }\n")))

    assert main(["opdesc", str(path), "--emit", "docs"]) == 0

    end = "```mlir\nfunc.func @f(%x: ${src}) -> ${dst} {\n}\n```\n"
    assert capsys.readouterr().out.endswith(end)
