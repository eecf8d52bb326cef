"""gawee-run --profile: the time of each node, printed, drawn and written."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gawee_dialect.levels import Level
from gawee_dialect.target.description import HOST, Processor
from gawee_dialect.target.machine import find_processor
from gawee_dialect.tools.run_session import Session

if TYPE_CHECKING:
    from gawee_dialect.instruments.profile import NodeTime


def profile(session: Session, level: Level) -> dict[str, object]:
    """Time each node, print and draw as flags say; return what goes into the JSON."""
    from gawee_dialect.instruments.profile import processor_json
    from gawee_dialect.tools.run_report import print_memory, print_profile

    arguments = session.arguments
    processor = this_processor(measured=arguments.measure)
    times = session.model.profile(
        session.inputs, level, session.options, runs=max(3, arguments.repeat)
    )
    print_profile(session.console, times, processor)
    if session.report is not None:
        session.report.profile, session.report.processor = times, processor
    if session.trace is not None:
        session.trace.nodes(times)
    if session.memory is not None:
        print_memory(session.console, session.memory)
    if arguments.roofline is not None:
        from gawee_dialect.plots.roofline import draw_roofline

        draw_roofline(arguments.roofline, times, processor, f"{session.model.name}, level {level}")
        session.console.print(f"wrote {arguments.roofline}", highlight=False, soft_wrap=True)
    if arguments.write_profile is not None:
        write_profile(session, times)
    result: dict[str, object] = {
        "limits": processor_json(processor),
        "profile": [time.to_json(processor) for time in times],
    }
    if session.memory is not None:
        result["memory_bytes"] = asdict(session.memory)
    return result


def write_profile(session: Session, times: "Sequence[NodeTime]") -> None:
    """Write the graph as XOC with the time of each node; raises GaweeError, OSError."""
    from gawee_dialect.frontends.xoc.document import xoc_text
    from gawee_dialect.frontends.xoc.export import timed_document
    from gawee_dialect.whole_file import whole_file

    path = session.arguments.write_profile
    seconds: dict[tuple[str, str | None], float] = {}
    for time in times:  # of a recurrence there are several
        node = time.node, time.place
        seconds[node] = seconds.get(node, 0.0) + time.seconds
    model = session.model
    document = timed_document(session.graph, model.module, seconds, model.name)
    with whole_file(Path(path)) as draft:
        draft.write_text(xoc_text(document))
    session.console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def this_processor(*, measured: bool) -> Processor:
    """Describe this machine, after measuring it where a flag says so."""
    if measured:
        from gawee_dialect.backend.measure import measured_host

        return measured_host()
    return find_processor(HOST)
