"""Write 31 small JAX functions as linalg, run each natively, and compare.

python -m tests.from_jax.run_models [NAME ...] [--write FOLDER]

Prints a line a function, and how many native code computes as JAX does. `--write` keeps the texts
with inputs and outputs, as `tests/from_jax/texts` has them (jax 0.10.2, iree-base-compiler 3.13.0).
JAX writes StableHLO, and `iree-opt` linalg. Needs `pip install jax jaxlib iree-base-compiler`.
"""

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.archives import savez_compressed

Array = NDArray[np.generic]

LOWER = "--iree-stablehlo-input-transformation-pipeline"


def write_model(name: str, folder: Path) -> None:
    """Write the text of a function, and arrays: `arg0`, ... and what JAX makes of them, `out0`, ...

    Raises ValueError with iree-opt's message where that lowers it to no linalg.
    """
    import jax

    from tests.from_jax.models import CASES

    case = CASES[name]
    jax.config.update("jax_enable_x64", any(dtype == "float64" for _, dtype in case.inputs))
    arrays = case.arrays()
    function = jax.jit(case.function)
    text = function.lower(*arrays).as_text()
    tool = Path(sys.executable).with_name("iree-opt")
    lowered = subprocess.run(
        [tool, LOWER, "-"], input=text, capture_output=True, text=True, check=False
    )
    if lowered.returncode:
        raise ValueError(lowered.stderr.strip().splitlines()[0])
    made = [np.asarray(each) for each in jax.tree.leaves(function(*arrays))]
    named = {f"arg{index}": array for index, array in enumerate(arrays)}
    named |= {f"out{index}": array for index, array in enumerate(made)}
    (folder / f"{name}.mlir").write_text(lowered.stdout)
    savez_compressed(folder / f"{name}.npz", **dict(map(_stored, named, named.values())))


def _stored(name: str, array: Array) -> tuple[str, Array]:
    """Return an array as the file format has it: of bf16 the bits."""
    if array.dtype.name == "bfloat16":
        return f"{name}.bfloat16", array.view(np.uint16)
    return name, array


def main() -> int:
    """Run the functions that the command line names, all where it names none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    if arguments.write is not None:
        missing = [each for each in ("jax", "iree.compiler") if not _is_installed(each)]
        if missing:
            print(f"not run: {' and '.join(missing)} not installed")
            return 0
        from tests.from_jax.models import CASES

        arguments.write.mkdir(parents=True, exist_ok=True)
        for name in arguments.names or CASES:
            write_model(name, arguments.write)
    return run_texts(arguments.write or Path(__file__).parent / "texts", arguments.names)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def run_texts(folder: Path, names: list[str]) -> int:
    """Run texts that were written, and print what came of each; returns an exit code."""
    from gawee_dialect.diagnostics import GaweeError
    from tests.from_jax.compare import check

    good, refused = 0, 0
    paths = [folder / f"{name}.mlir" for name in names] or sorted(folder.glob("*.mlir"))
    for path in paths:
        try:
            check(path, "llvm")
        except AssertionError as error:
            outcome = f"wrong: {error}"
        except GaweeError as error:
            outcome = f"refused: {str(error).splitlines()[0]}"
            refused += 1
        else:
            outcome = "ok"
            good += 1
        print(f"{path.stem:24} {outcome}", flush=True)
    print(
        f"{good} of {len(paths)} functions: native code computes what JAX does; {refused} refused"
    )
    return 0 if good + refused == len(paths) else 1


if __name__ == "__main__":
    sys.exit(main())
