"""The report of a model that is lowered in Python, as notebooks show it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.levels import Level
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import run_pipeline
from gawee_dialect.report.document import Report
from gawee_dialect.universe import make_context

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from gawee_dialect.model import Model
    from gawee_dialect.parameters.given_inputs import Inputs


def report_of_model(
    model: "Model",
    level: Level,
    options: CodeOptions | None,
    passes: "Sequence[ModulePass]",
    inputs: "Inputs | None",
) -> Report:
    """Take a copy through passes, then lower it to a level; with inputs, time the nodes there."""
    from gawee_dialect.target.description import HOST
    from gawee_dialect.target.machine import find_processor

    report = Report("python", (), model.name)
    copy = replace(model, module=model.module.clone())
    report.recording.start(copy.module)
    with instrumented(report.recording):
        if passes:
            run_pipeline(make_context(), copy.module, passes)
        copy.lowered(level, options)
    if inputs is not None:
        report.profile = copy.profile(inputs, level, options)
        report.processor = find_processor(HOST)
    return report
