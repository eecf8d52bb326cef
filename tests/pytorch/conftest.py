"""What the tests of PyTorch share."""

import pytest


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The modules that `torch.compile` has made code of."""
    from gawee_dialect.pytorch import dynamo

    compiled: list[object] = []
    compile = dynamo.program_of
    monkeypatch.setattr(
        *(dynamo, "program_of"),
        lambda module, options, **more: compiled.append(module) or compile(module, options, **more),
    )
    return compiled
