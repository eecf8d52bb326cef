"""`gawee-run --prove-each`: what it prints, and where it stops."""

import re
from pathlib import Path

import pytest

from gawee_dialect.tools import gawee_run
from tests.instruments.prove import networks

WRONG = """
from dataclasses import dataclass

from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class SinhForTanh(ModulePass):
    name = "sinh-for-tanh"

    def apply(self, ctx, op: ModuleOp) -> None:
        for each in list(op.walk()):
            if isinstance(each, math.TanhOp):
                new = math.SinhOp(each.operand)
                each.parent.insert_op_before(new, each)
                each.result.replace_all_uses_with(new.result)
                each.detach()
                each.erase()
"""


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(networks.SUM)
    return path


def test_a_run_says_what_is_proved(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = gawee_run.main([str(network), "--level", "kernels", "--prove-each"])

    out, err = capsys.readouterr()
    assert code == 0
    assert re.search(r"form-kernels\s+│ proved", err)
    assert "level kernels" in out


def test_a_run_stops_at_a_wrong_pass(
    network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "wrong.py"
    plugin.write_text(WRONG)
    after = ["--load", str(plugin), "--insert", "after=form-kernels:sinh-for-tanh"]

    code = gawee_run.main([str(network), "--level", "kernels", "--prove-each", *after])

    err = capsys.readouterr().err
    assert code == 1
    assert "pass 'sinh-for-tanh' moved output 'y'" in err
