"""What users read when something is wrong with their input: one located line, a note, a hint.

model.json:41:7: error: 'gawee.conv' op expected bias of shape 64, got 32
  node "layer1.0.conv1"
hint: a bias has one entry per output channel
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from traceback import walk_tb

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, ErasedSSAValue, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, SymbolTable
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.locations import node_name, place
from gawee_dialect.upstream.constraints import wrong_ops
from gawee_dialect.upstream.dominance import misuses


@dataclass(frozen=True)
class Diagnostic:
    """One problem: where (`file:line:column`), what, in whose node, and what to do about it."""

    message: str
    place: str | None = None
    node: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        prefix = f"{self.place}: " if self.place else ""
        lines = [f"{prefix}error: {self.message}"]
        if self.node:
            lines.append(f'  node "{self.node}"')
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    @staticmethod
    def at(op: Operation, message: str, hint: str | None = None) -> "Diagnostic":
        """Make the diagnostic of an op, which the message then names first."""
        return Diagnostic(
            f"'{op.name}' op {message}", place(op.location), node_name(op.location), hint
        )


class GaweeError(Exception):
    """What is wrong with the user's input; every tool prints it without a traceback."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic] | str):
        if isinstance(diagnostics, str):
            diagnostics = Diagnostic(diagnostics)
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics: Sequence[Diagnostic] = tuple(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))


OUTER_LACKS = (KeyError, ValueError)
"""What an op's verifier raises that looks at a property, or at the one block, that the op around it
lacks."""


def verify_module(module: ModuleOp) -> None:
    """Verify a module; raises GaweeError with the place of the first op that is wrong."""
    try:
        module.verify()
    except VerifyException as error:
        raise GaweeError(located(error)) from error
    except OUTER_LACKS as error:
        outer = _first_wrong(module) or _first_without_segments(module)
        if outer is None:
            raise
        raise GaweeError(outer) from error
    except Exception as error:
        if type(error) is not Exception:  # that is what xDSL's memref.load and memref.store raise
            raise
        raise GaweeError(located(error)) from error
    if problems := [Diagnostic.at(op, message) for op, message in wrong_ops(module)]:
        raise GaweeError(problems)
    verify_dominance(module)


def verify_dominance(module: ModuleOp) -> None:
    """Verify that values are defined before they are used; raises GaweeError with the places."""
    problems = [_not_defined(op, number) for op, number in misuses(module)]
    if problems:
        raise GaweeError(problems)


def _not_defined(op: Operation, number: int) -> Diagnostic:
    value = op.operands[number]
    name = f" '%{value.name_hint}'" if value.name_hint else ""
    owner = value.owner
    defined = place(owner.location) if isinstance(owner, Operation) else None
    message = f"expected operand #{number}{name} to be defined before it is used"
    return Diagnostic.at(op, message, f"it is defined at {defined}" if defined else None)


def located(error: Exception) -> Diagnostic:
    """Return the diagnostic of what a verifier raised, at the op whose verifier it was.

    xDSL's exception does not name the op, and to ask the ops again prints the module again: xDSL
    adds its text to every exception. The frames that the exception passed know the op.
    """
    op: Operation | None = None
    for frame, _ in walk_tb(error.__traceback__):
        verified = frame.f_locals.get("self") if frame.f_code.co_name == "verify" else None
        if isinstance(verified, IsolatedFromAbove) and op is not None:
            return _foreign(frame.f_locals["child_op"], frame.f_locals["operand"], op)
        op = verified if isinstance(verified, Operation) else op
    if op is None:
        return Diagnostic(first_line(error))
    return Diagnostic.at(_redefining(op) or op, first_line(error))


def _foreign(reader: Operation, value: SSAValue, around: Operation) -> Diagnostic:
    """Return the diagnostic of an op that uses a value from outside of what isolates it."""
    number = next(index for index, each in enumerate(reader.operands) if each is value)
    name = f" '%{value.name_hint}'" if value.name_hint else ""
    owner = value.owner
    if isinstance(value, ErasedSSAValue) and isinstance(owner, Operation):
        got = f"the result of a '{owner.name}' that was erased"
    elif isinstance(owner, Operation) and owner.parent is None:
        got = f"the result of a '{owner.name}' that is in no block"
    else:
        got = "a value from outside of it"
    message = f"expected operand #{number}{name} to be defined in its '{around.name}', got {got}"
    return Diagnostic.at(reader, message)


def _first_wrong(module: ModuleOp) -> Diagnostic | None:
    """Return what is wrong with the first op, outer ones first, whose verifier says so."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except OUTER_LACKS:
            continue
        except Exception as error:
            if type(error) is not Exception and not isinstance(error, VerifyException):
                raise
            return located(error)
    return None


def _redefining(table: Operation) -> Operation | None:
    """Return the first op of a symbol table whose symbol an op before it has."""
    if not table.has_trait(SymbolTable) or [len(each.blocks) for each in table.regions] != [1]:
        return None
    met: set[Attribute] = set()
    for op in table.regions[0].block.ops:
        symbol = op.get_attr_or_prop("sym_name")
        if symbol in met:
            return op
        met |= {symbol} if symbol else set()
    return None


def _first_without_segments(module: ModuleOp) -> Diagnostic | None:
    """Return the first op whose verifier looks at groups of values that no property separates."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except KeyError as error:
            if error.args in (("operandSegmentSizes",), ("resultSegmentSizes",)):
                return Diagnostic.at(op, f"expected property '{error.args[0]}'")
        except (ValueError, VerifyException):
            continue
    return None


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's text, lower case at the start as messages are.

    A line that ends with a colon has its point in the next line, which then belongs to it.
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = " ".join(part.strip() for part in lines[:2]) if lines[0].endswith(":") else lines[0]
    return line[0].lower() + line[1:] if line[1:2].islower() else line


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint: the nearest of the known words, or `otherwise` where none is near."""
    return nearest(word, known) or otherwise


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return a hint: the nearest of the known words, None where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"did you mean '{near[0]}'?" if near else None
