"""The formats that graphs come in: name, how to recognise the text, how to read it or judge it.

A new format is one line of FRONTENDS.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport, Verdict
from gawee_dialect.locations import node_name, place

if TYPE_CHECKING:
    from gawee_dialect.inspection.graph_view import GraphView
    from gawee_dialect.parameters.store import ParameterStore


def _same_store(_text: str, _name: str, store: "ParameterStore") -> "ParameterStore":
    return store


@dataclass(frozen=True)
class Frontend:
    """One format: `accepts` looks at the text, `read` takes text, name and folder of data.

    `coverage` takes text and name, and says of every node whether it can be read; `op_support` is
    the registry that it goes by, empty for a format that has the ops of the dialect itself. `view`
    takes text and name, and describes the graph for inspection. `weights` takes text, name and a
    store, and returns the store under the names of the graph, with what the text itself holds.
    """

    name: str
    accepts: Callable[[str], bool]
    read: Callable[[str, str, Path | None], ModuleOp]
    coverage: Callable[[str, str], CoverageReport]
    view: Callable[[str, str], "GraphView"]
    op_support: Callable[[], Sequence[OpSupport]] = tuple[OpSupport]
    weights: Callable[[str, str, "ParameterStore"], "ParameterStore"] = _same_store


def _is_gawee_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{") and '"nodes"' in text


def _read_gawee_json(text: str, name: str, folder: Path | None) -> ModuleOp:
    from gawee_dialect.frontends.gawee_json import parse_gawee_json

    return parse_gawee_json(text, name=name, folder=folder)


def _gawee_json_coverage(text: str, name: str) -> CoverageReport:
    from gawee_dialect.frontends.gawee_json.coverage import gawee_json_coverage

    return gawee_json_coverage(text, name)


def _gawee_json_support() -> Sequence[OpSupport]:
    from gawee_dialect.frontends.gawee_json.coverage import op_support

    return op_support()


def _gawee_json_view(text: str, name: str) -> "GraphView":
    from gawee_dialect.inspection.module_view import module_view

    return module_view(_read_gawee_json(text, name, None), Path(name).stem)


# A value of a Gawee graph may have this name, but is never a list.
_NPU_IR_KEY = re.compile(r'"graph_inputs"\s*:\s*\[')


def _is_npu_ir(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{") and _NPU_IR_KEY.search(text) is not None


def _read_npu_ir(text: str, name: str, _folder: Path | None) -> ModuleOp:
    from gawee_dialect.frontends.npu_ir.importer import import_ir
    from gawee_dialect.frontends.npu_ir.read import parse_ir

    return import_ir(parse_ir(text, name))


def _npu_ir_coverage(text: str, name: str) -> CoverageReport:
    from gawee_dialect.frontends.npu_ir.coverage import npu_ir_coverage

    return npu_ir_coverage(text, name)


def _npu_ir_support() -> Sequence[OpSupport]:
    from gawee_dialect.frontends.npu_ir.coverage import op_support

    return op_support()


def _npu_ir_weights(text: str, name: str, store: "ParameterStore") -> "ParameterStore":
    from gawee_dialect.frontends.npu_ir.graph_weights import GraphWeights
    from gawee_dialect.frontends.npu_ir.read import parse_ir

    return GraphWeights(parse_ir(text, name), store)


def _npu_ir_view(text: str, name: str) -> "GraphView":
    from gawee_dialect.frontends.npu_ir.read import parse_ir
    from gawee_dialect.frontends.npu_ir.view import ir_view

    return ir_view(parse_ir(text, name))


# A comment, an alias, a generic op, `%x =`, or the name of an op: `module`, `func.func`.
_MLIR_START = re.compile(r"\s*(//|[#!%\"]|module\b|\w+\.\w+)")


def _is_mlir(text: str) -> bool:
    return _MLIR_START.match(text) is not None


def _read_mlir(text: str, name: str, _folder: Path | None) -> ModuleOp:
    from gawee_dialect.frontends.mlir_text import parse_mlir
    from gawee_dialect.universe import make_context

    return parse_mlir(make_context(), text, name)


def _mlir_view(text: str, name: str) -> "GraphView":
    from gawee_dialect.inspection.module_view import module_view

    return module_view(_read_mlir(text, name, None), Path(name).stem)


def _mlir_coverage(text: str, name: str) -> CoverageReport:
    module = _read_mlir(text, name, None)
    verdicts = [
        NodeVerdict(
            op.name, node_name(op.location) or place(op.location) or "", op.name, Verdict.SUPPORTED
        )
        for op in module.walk()
        if op.dialect_name() not in ("builtin", "func")
    ]
    return CoverageReport(name, "mlir", verdicts)


FRONTENDS: dict[str, Frontend] = {
    frontend.name: frontend
    for frontend in (
        # Both kinds of JSON have nodes; this one is told by what only it has.
        Frontend(
            "npu-ir",
            _is_npu_ir,
            _read_npu_ir,
            _npu_ir_coverage,
            _npu_ir_view,
            _npu_ir_support,
            _npu_ir_weights,
        ),
        Frontend(
            "gawee-json",
            _is_gawee_json,
            _read_gawee_json,
            _gawee_json_coverage,
            _gawee_json_view,
            _gawee_json_support,
        ),
        Frontend("mlir", _is_mlir, _read_mlir, _mlir_coverage, _mlir_view),
    )
}


def sniff(text: str, name: str) -> Frontend:
    """Return the format of a text; raises GaweeError where it is none of them."""
    for frontend in FRONTENDS.values():
        if frontend.accepts(text):
            return frontend
    raise GaweeError(
        Diagnostic(
            f"cannot recognise the format of '{name}'; supported: {', '.join(FRONTENDS)}",
            hint="--from names the format, and its reader then says what is wrong",
        )
    )
