"""The table of lengths of text has a row for each, whose first one compiles for all."""

from typing import Any

import pytest

pytest.importorskip("torch")

from benchmarks import lengths
from gawee_dialect.backend.compiled import CompiledModel


@pytest.mark.usefixtures("unoptimized")
def test_every_length_has_a_row_and_the_first_compiles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lengths, "SIZES", (1, 16, 2))
    made: list[CompiledModel] = []
    begin = CompiledModel.__init__

    def counted(self: CompiledModel, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        made.append(self)

    monkeypatch.setattr(CompiledModel, "__init__", counted)

    lengths.measure([5, 9, 4])

    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["5", "9", "4"]
    # A layer of norms and sums of 16 products: some roundings of numbers near 1.
    assert all(float(row[2]) < 1e-5 for row in rows)
    assert len(made) == 1
