"""Every op of ONNX, in each of its versions, runs somewhere; the page of the docs says where."""

import pytest

pytest.importorskip("onnx", minversion="1.22")

from tests.conformance.onnx.ops import PAGE, page, places


def test_no_version_of_an_op_is_refused() -> None:
    found = places()

    assert len(found) > 200
    assert [
        (name, v) for name, versions in found.items() for v in versions if versions[v] == "nowhere"
    ] == []


def test_the_page_says_where_ops_run() -> None:
    assert PAGE.read_text("utf-8").splitlines()[2:] == page().splitlines()[2:]
