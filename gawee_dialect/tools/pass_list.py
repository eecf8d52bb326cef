"""What --list-passes prints: every pass with its summary and options, ours first."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from xdsl.passes import ModulePass, get_pass_option_infos

from gawee_dialect.passes.pass_manager import PassTable
from gawee_dialect.universe import OVERRIDES, PASSES, PIPELINES


def pass_list(table: PassTable) -> str:
    """Return the listing of every pass in the table."""
    ours = [name for name in (*PASSES, *PIPELINES, *OVERRIDES) if name in table]
    others = sorted(name for name in table if name not in ours)
    sections = (("passes of gawee", ours), ("passes of xDSL and of other plugins", others))
    lines = [
        line
        for title, names in sections
        for line in (f"{title}:", *(text for name in names for text in _entry(name, table)), "")
    ]
    return "\n".join(lines)


def _entry(name: str, table: PassTable) -> Iterator[str]:
    try:
        pass_type = table[name]()
    except ImportError as error:  # a plugin that needs what is not installed
        yield f"  {name:<32} (cannot be loaded: {error})"
        return
    yield f"  {name:<32} {summary(pass_type)}".rstrip()
    for option, kind, default in options(pass_type):
        yield f"      {option}: {kind}" + ("" if default is None else f" = {default}")


def summary(pass_type: type[ModulePass]) -> str:
    """Return the first line of a pass's docstring, empty where nobody wrote one."""
    text = (pass_type.__doc__ or "").strip()
    # A dataclass without a docstring gets its signature as one.
    return "" if text.startswith(f"{pass_type.__name__}(") else text.partition("\n")[0]


def options(pass_type: type[ModulePass]) -> list[tuple[str, str, str | None]]:
    """Return a pass's options as the command line spells them: name, type, default if any."""
    if not is_dataclass(pass_type) or not fields(pass_type):
        return []
    return [
        (info.name.replace("_", "-"), info.expected_type, info.default_value)
        for info in get_pass_option_infos(pass_type)
    ]
