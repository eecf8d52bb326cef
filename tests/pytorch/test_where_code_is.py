"""Models of code that no file holds: of a script on standard input, of `python -c`, of `exec`."""

import subprocess
import sys
from types import ModuleType

import pytest

pytestmark = pytest.mark.usefixtures("unoptimized")

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


def test_a_script_on_standard_input_is_compiled() -> None:
    ran = subprocess.run(
        [sys.executable, "-"], input=SCRIPT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("<string>", {"__name__": "__main__"}),  # of `python -c`, and of `exec` in a shell
        ("gone.py", {"__file__": "gone.py"}),  # of `exec` with names of its own
    ],
    ids=["the command line", "a file that is gone"],
)
def test_a_model_of_code_without_a_file_is_compiled(
    file: str, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    space: dict[str, object] = vars(main) if "__name__" in names else {**names}

    exec(compile(SCRIPT, file, "exec"), space)
