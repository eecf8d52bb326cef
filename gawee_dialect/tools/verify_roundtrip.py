"""gawee-opt --verify-roundtrip: printed and read again, a module is the same."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.printing import TextOptions, module_text

FORMS = {"pretty": TextOptions(), "generic": TextOptions(generic=True)}


def verify_roundtrip(module: ModuleOp, parse: Callable[[str, str], ModuleOp]) -> None:
    """Check both forms of a module's text; `parse` takes a text and a name for it.

    Raises GaweeError where the text of a form is not read, or is read as another module.
    """
    for form, options in FORMS.items():
        again = parse(module_text(module, options), f"<{form} form>")
        if not module.is_structurally_equivalent(again):
            raise GaweeError(_difference(form, module, again))


def _difference(form: str, module: ModuleOp, again: ModuleOp) -> Diagnostic:
    """Name the first op that became another; the module, where their uses alone differ."""
    pairs = zip(module.walk(), again.walk(), strict=False)
    was, became = next(
        ((a, b) for a, b in pairs if a is not module and _facts(a) != _facts(b)), (module, again)
    )
    message = f"expected to be the same after it was printed in the {form} form and read"
    return Diagnostic.at(was, message, hint=_change(was, became))


def _facts(op: Operation) -> dict[str, object]:
    return {
        "the op": op.name,
        **{f"'{name}'": str(value) for name, value in (op.properties | op.attributes).items()},
        "the operands": [str(operand.type) for operand in op.operands],
        "the results": [str(result.type) for result in op.results],
        "the regions": [len(region.blocks) for region in op.regions],
    }


def _change(was: Operation, became: Operation) -> str | None:
    before, after = _facts(was), _facts(became)
    changed = next((k for k in before | after if before.get(k) != after.get(k)), None)
    if changed is None:
        return None
    return f"{changed} was {before.get(changed, 'absent')}, became {after.get(changed, 'absent')}"
