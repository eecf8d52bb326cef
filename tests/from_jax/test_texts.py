"""31 texts that JAX wrote, lowered to linalg by iree-opt: as they come, against JAX's outputs.

`run_models.py` writes them.
"""

from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from tests.effort import mostly_full
from tests.from_jax.compare import check

TEXTS = {path.stem: path for path in sorted((Path(__file__).parent / "texts").glob("*.mlir"))}

REFUSED = {
    "cumulative_sum": "'iree_linalg_ext.scan' op is not registered",
    "scatter": "'iree_linalg_ext.scatter' op is not registered",
    "sort": "'iree_linalg_ext.sort' op is not registered",
    "top_k": "'iree_linalg_ext.topk' op is not registered",
}
"""Ops of IREE's own dialect, which is no part of upstream's."""


def test_every_text_is_there() -> None:
    assert len(TEXTS) == 31
    assert set(REFUSED) < set(TEXTS)


@pytest.mark.parametrize("name", mostly_full(sorted(set(TEXTS) - set(REFUSED))))
def test_text_of_jax_computes_what_jax_does(name: str) -> None:
    if name.startswith("bf16"):
        pytest.importorskip("ml_dtypes")
    for level in ("gawee", "llvm"):
        check(TEXTS[name], level)


@pytest.mark.parametrize("name", REFUSED)
def test_an_op_of_another_dialect_is_named(name: str) -> None:
    with pytest.raises(GaweeError, match=f"{name}.mlir:\\d+:\\d+: error: {REFUSED[name]}"):
        check(TEXTS[name], "llvm")
