"""Write 35 small PyTorch modules as linalg by torch-mlir, run each natively, and compare.

python -m tests.from_torch_mlir.run_models [NAME ...] [--write FOLDER]

Prints a line a model, and how many native code computes as PyTorch does. `--write` keeps the texts
with inputs and outputs, as `tests/from_torch_mlir/texts` has some. Needs `pip install torch torch-mlir`.
"""

import argparse
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.archives import savez_compressed

AnyArray = NDArray[np.generic]

TOLERANCE = 1e-4
"""Of the range of PyTorch's output: sums in another order, functions by other polynomials."""


def run_model(name: str, folder: Path | None) -> str:
    """Run one model; return what came of it, which begins with `ok` where the numbers agree."""
    import torch
    import torch_mlir.fx

    from tests.from_torch_mlir.models import CASES

    torch.manual_seed(0)
    case = CASES[name]
    module = case.make().eval()
    inputs = [torch.randn(shape) for shape in case.inputs]
    with torch.no_grad():
        expected: AnyArray = module(*inputs).numpy()
    try:
        form = {"output_type": "linalg-on-tensors", "func_name": "main"}
        text = str(torch_mlir.fx.export_and_import(module, *inputs, **form))
    except Exception as error:  # whatever torch-mlir refuses a module with
        return f"torch-mlir: {str(error).strip().splitlines()[0]}"
    arrays: list[AnyArray] = [each.numpy() for each in inputs]
    if folder is not None:
        named = {f"arg{index}": array for index, array in enumerate(arrays)}
        (folder / f"{name}.mlir").write_text(text)
        savez_compressed(folder / f"{name}.npz", expected=expected, **named)
    return compare(text, arrays, expected)


def compare(text: str, inputs: list[AnyArray], expected: AnyArray) -> str:
    """Interpret and compile a text; return what came of it."""
    from gawee_dialect.diagnostics import GaweeError
    from gawee_dialect.frontends.mlir_text import parse_mlir
    from gawee_dialect.model import Model
    from gawee_dialect.universe import make_context

    try:
        model = Model(parse_mlir(make_context(), text, "model.mlir"))
        named = {f"arg{index}": array for index, array in enumerate(inputs)}
        (interpreted,) = model.run(named).values()
        (native,) = model.compile(cache=False).run(named).values()
    except GaweeError as error:
        return f"refused: {str(error).splitlines()[0]}"
    difference = max(np.abs(np.subtract(each, expected)).max() for each in (interpreted, native))
    share = float(difference / max(np.ptp(expected).item(), 1e-9))
    return f"{'ok' if share <= TOLERANCE else 'wrong'}: {share:.1e} of the range"


def main() -> int:
    """Run the models that the command line names, all where it names none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    missing = [each for each in ("torch", "torch_mlir") if find_spec(each) is None]
    if missing:
        print(f"not run: {' and '.join(missing)} not installed (pip install torch torch-mlir)")
        return 0
    warnings.simplefilter("ignore")
    from tests.from_torch_mlir.models import CASES

    if arguments.write is not None:
        arguments.write.mkdir(parents=True, exist_ok=True)
    names = arguments.names or list(CASES)
    good = 0
    for name in names:
        outcome = run_model(name, arguments.write)
        good += outcome.startswith("ok")
        print(f"{name:20} {outcome}", flush=True)
    print(f"{good} of {len(names)} models: native code computes what PyTorch does")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
