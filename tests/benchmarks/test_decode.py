"""The benchmark of decoding writes files that it can read, and its tables have every figure."""

from pathlib import Path

import pytest

from benchmarks import decode
from tests.effort import full_run

pytest.importorskip("ml_dtypes")


@full_run
@pytest.mark.usefixtures("unoptimized")
def test_a_format_is_written_read_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "TURNS", 2)
    monkeypatch.setattr(decode, "TOKENS", 4)
    path = tmp_path / "tiny.gguf"
    decode.write_weights("tiny", "q8_0", path)
    row = decode.measure_ours("tiny", "q8_0", 1, path)
    together = decode.measure_together("tiny", "q8_0", 1, path)
    options = decode.parser().parse_args(["--network", "tiny"])
    rows = [("1", "gawee q8_0", {**row, **together}), ("1", "peer", {"prefill": 7.0})]
    text = decode.section(options, rows)

    assert row["compiles after"] == 0
    # Two layers of width 64, hidden 160 and heads of 16, and 300 tokens twice: a byte each, and a
    # scale of two bytes for 32.
    layer = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 160
    assert float(row["weights"]) >= (2 * layer + 300 * 64) * 34 / 32
    lines = text.splitlines()
    assert lines[0] == decode.BEGIN
    assert lines[-1] == decode.END
    assert [line.count("|") for line in lines if line.startswith("|")] == [11] * 4 + [9] * 3
    assert 1 <= float(together["per step"]) <= 1 + decode.GUESSES
    assert "| 1 | peer |  |  |  | 7 |" in text


def test_a_page_without_a_section_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("# No section\n")

    with pytest.raises(SystemExit):
        decode.parser().parse_args(["--page", str(page)])

    assert f"'{page}' has no section between <!-- decode: written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--network", "gpt", "invalid choice: 'gpt'"),
        ("--formats", "q8_0,q3", "unknown 'q3'; known: float32, bfloat16"),
        ("--peers", "eager", "unknown 'eager'; known: eager bfloat16"),
        ("--page", "/nowhere/page.md", "cannot read '/nowhere/page.md': No such file"),
    ],
)
def test_what_is_not_known_is_refused(
    capsys: pytest.CaptureFixture[str], flag: str, value: str, said: str
) -> None:
    with pytest.raises(SystemExit):
        decode.parser().parse_args([flag, value])

    assert said in capsys.readouterr().err


def test_a_table_without_rows_is_left_out() -> None:
    options = decode.parser().parse_args(["--network", "tiny", "--together", "", "--peers", ""])

    text = decode.section(options, [("1", "gawee q8_0", {"tokens": 7.0})])

    assert "| threads | what | tokens/s | memory" in text
    assert "tokens/s of 1" not in text
    assert options.together == options.peers == []
