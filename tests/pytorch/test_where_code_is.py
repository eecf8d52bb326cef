"""Models of code that no file holds: of a script on standard input, of `python -c`, of `exec`."""

import subprocess
import sys

import pytest

pytest.importorskip("torch")

SCRIPT = """
import torch
from gawee_dialect.pytorch import compile_torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(5, 3)

    def forward(self, x):
        return self.layer(x).relu()

net, x = Net().eval(), torch.randn(2, 5)
torch.testing.assert_close(compile_torch(net, (x,))(x), net(x))
"""

CASES = {
    "standard input": (["-"], SCRIPT),
    "the command line": (["-c", SCRIPT], ""),
    "a shell": (["-i"], f"exec({SCRIPT!r}); exit()\n"),
    "a file that is gone": (
        ["-c", f"exec(compile({SCRIPT!r}, 'gone.py', 'exec'), {{'__file__': 'gone.py'}})"],
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_model_of_code_without_a_file_is_compiled(name: str) -> None:
    arguments, text = CASES[name]

    ran = subprocess.run(
        [sys.executable, *arguments], input=text, capture_output=True, text=True, check=False
    )

    assert "Error" not in ran.stderr
    assert ran.returncode == 0
