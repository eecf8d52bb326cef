"""A user's own Python files, for --load: passes, ops, instruments; no package, no registration.

What a file defines is found by its class: passes, ops, attributes and types (alone or in a
`Dialect`), instruments, op types of JSON (`JsonOp`), implementations of ops for the interpreter
(`OpFunctions`), processors (`Processor` objects), oracles of gawee-fuzz (`Oracle`) and what it
draws (`TrialGenerator`); an `EvaluatedOp` says itself what it computes, and a function that the
file registers by `register_meaning` what a described op does. A class whose name begins with `_` is
left alone, and so is what a file imports. A pass that has a `place`, such as
`place: ClassVar[str] = "after=fold-conv-add"`, goes into every pipeline there.
Mappings of other vocabularies' ops that a file registers are known as long as it is loaded.
"""

import inspect
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from xdsl.interpreter import InterpreterFunctions
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean, nearest
from gawee_dialect.fuzz.oracle import Oracle
from gawee_dialect.hints import isa
from gawee_dialect.opdesc.described_op import meanings_undone, registered_meanings
from gawee_dialect.passes.insertion import Insertion, declared, declared_insertions
from gawee_dialect.passes.instrument import Instrument
from gawee_dialect.tools.command_line import CommandParser
from gawee_dialect.universe import all_dialects, all_passes, extended

if TYPE_CHECKING:
    from gawee_dialect.frontends.gawee_json.schema import JsonOp
    from gawee_dialect.fuzz.random_graph import TrialGenerator
    from gawee_dialect.target.description import Processor

Made = TypeVar("Made")

LOAD_HELP = "add the passes, ops and instruments that a Python file defines; repeatable"
LOAD_OPS_HELP = "add the ops that a file of operator descriptions (.json, .op) defines; repeatable"

NATIVE_CODE_HELP = (
    "compile and run the C of operator descriptions, which has all rights of this process"
)


DESCRIPTIONS = (".json", ".op")
"""What files of operator descriptions are called."""


def split_load_flags(prog: str, argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take `--load` and `--load-ops` off a command line; returns the files and the other words."""
    parser = CommandParser(prog=prog, add_help=False, allow_abbrev=False)
    parser.add_argument("--load", "--load-ops", action="append", default=[])
    found, rest = parser.parse_known_args(argv)
    return found.load, rest


@dataclass(frozen=True)
class LoadedFile:
    """What a file defines."""

    path: str
    module: ModuleType

    def classes(self) -> Iterator[type]:
        """Yield the classes of the file's own, each once."""
        for value in dict.fromkeys(filter(inspect.isclass, vars(self.module).values())):
            if self._is_own(value) and not value.__name__.startswith("_"):
                yield value

    def _is_own(self, kind: type) -> bool:
        return kind.__module__ == self.module.__name__ and not inspect.isabstract(kind)

    def dialects(self) -> Iterator[Dialect]:
        """Yield the dialects that hold an op, attribute or type of the file's own."""
        for value in vars(self.module).values():
            if isinstance(value, Dialect) and any(
                self._is_own(kind) for kind in (*value.operations, *value.attributes)
            ):
                yield value

    def error(self, message: str, kind: type | None = None, hint: str | None = None) -> GaweeError:
        """Return an error in this file, at a class where one is given."""
        if kind is None:
            return GaweeError(f"cannot load '{self.path}': {message}")
        place = self.place_of(kind)
        return GaweeError(Diagnostic(f"cannot load this file: {message}", place, hint=hint))

    def place_of(self, kind: type) -> str:
        """Return where a class is."""
        return f"{self.path}:{inspect.getsourcelines(kind)[1]}:1"


@dataclass
class Loaded:
    """What all files of a command line define together."""

    paths: Sequence[str]
    instruments: list[Instrument] = field(default_factory=list[Instrument])
    oracles: list[Oracle] = field(default_factory=list[Oracle])
    generators: "list[type[TrialGenerator]]" = field(default_factory=list["type[TrialGenerator]"])


@contextmanager
def loaded_files(paths: Sequence[str], flags: Container[str] = ()) -> Generator[Loaded]:
    """Run files, and register what they define with every tool for the time of a with block.

    `flags` are the spellings that no pass may take. An exception inside the block that comes from
    code of the files is located there.

    Raises GaweeError where a file cannot be run, defines nothing, or takes a name that is in use.
    """
    described = [path for path in paths if Path(path).suffix in DESCRIPTIONS]
    paths = [path for path in paths if path not in described]
    loaded = Loaded(paths)
    with ExitStack() as stack:
        if described:
            # Imported here: files without descriptions do without it.
            from gawee_dialect.opdesc.load import loaded_operators

            stack.enter_context(loaded_operators(described))
        if paths:
            # The schemas of ops need NumPy, which rewriting does not.
            from gawee_dialect.frontends.op_mapping.registry import registrations_undone

            stack.enter_context(registrations_undone())
            stack.enter_context(meanings_undone())
        stack.enter_context(_located_in(paths))
        stack.enter_context(_imports_beside(paths))
        for path in paths:
            _enter(LoadedFile(path, run_file(path)), loaded, flags, stack)
        yield loaded


def _enter(file: LoadedFile, loaded: Loaded, flags: Container[str], stack: ExitStack) -> None:
    passes = dict(_passes(file, flags))
    described = list(_described(file))
    dialects = _dialects(file, described)
    instruments = [
        _made(file, kind, "instrument") for kind in file.classes() if issubclass(kind, Instrument)
    ]
    oracles = [_made(file, kind, "oracle") for kind in file.classes() if issubclass(kind, Oracle)]
    generators = list(_generators(file))
    functions = [kind for kind in file.classes() if issubclass(kind, InterpreterFunctions)]
    json_ops = list(_json_ops(file))
    processors = list(_processors(file))
    own = file.module.__name__
    meanings = any(each.__module__ == own for each in registered_meanings().values())
    ops = dialects or described or functions or json_ops or meanings
    if not (passes or ops or instruments or oracles or generators or processors):
        raise file.error("it defines no pass, op, attribute or instrument")
    if described:
        from gawee_dialect.opdesc.load import registered

        stack.enter_context(registered(described))
    universe = Universe(
        all_dialects={name: lambda found=found: found for name, found in dialects.items()},
        all_passes={name: lambda found=found: found for name, found in passes.items()},
    )
    stack.enter_context(extended(universe))
    stack.enter_context(declared((*declared_insertions(), *_insertions(file, passes.values()))))
    if json_ops:
        from gawee_dialect.frontends.gawee_json.schema import with_own_ops

        stack.enter_context(with_own_ops(json_ops))
    if processors:
        from gawee_dialect.target.description import with_own_processors

        stack.enter_context(with_own_processors(processors))
    if functions:
        # NumPy comes with the interpreter: files that implement no op do without it.
        from gawee_dialect.interpreter.functions import OpFunctions, implemented_by

        ours = [kind for kind in functions if issubclass(kind, OpFunctions)]
        stack.enter_context(implemented_by(*ours))
    loaded.instruments += instruments
    loaded.oracles += oracles
    loaded.generators += generators


def _generators(file: LoadedFile) -> "Iterator[type[TrialGenerator]]":
    """Yield what gawee-fuzz can draw by a file."""
    if "gawee_dialect.fuzz.random_graph" not in sys.modules:
        return  # the file has none, and needs no import for them
    from gawee_dialect.fuzz.random_graph import TrialGenerator

    yield from (kind for kind in file.classes() if issubclass(kind, TrialGenerator))


def _processors(file: LoadedFile) -> "Iterator[Processor]":
    """Yield the processors that a file describes."""
    if "gawee_dialect.target.description" not in sys.modules:
        return  # the file has none, and needs no import for them
    from gawee_dialect.target.description import HOST, PROCESSORS, VECTORS, Processor
    from gawee_dialect.target.machine import find_processor

    for value in vars(file.module).values():
        if not isinstance(value, Processor):
            continue
        if value.name not in (HOST, *PROCESSORS, *VECTORS):
            yield value
        elif value != find_processor(value.name):
            raise file.error(f"there is a processor '{value.name}' already")


def _described(file: LoadedFile) -> Iterator[Dialect]:
    """Yield the dialects of a file that hold ops of descriptions, and join those that exist."""
    if "gawee_dialect.opdesc.described_op" not in sys.modules:
        return  # the file has none, and needs no import for them
    from gawee_dialect.opdesc.described_op import DescribedOp

    for dialect in file.dialects():
        kinds = [*dialect.operations, *dialect.attributes]
        if all(issubclass(kind, DescribedOp) for kind in kinds):
            yield dialect


def _json_ops(file: LoadedFile) -> "Iterator[JsonOp]":
    """Yield the op types of graphs that a file brings: for its ops, or read by its functions."""
    if "gawee_dialect.frontends.gawee_json.schema" not in sys.modules:
        return  # the file has none, and needs no import for them
    from gawee_dialect.frontends.gawee_json.schema import JsonOp, op_types

    own = file.module.__name__
    for value in vars(file.module).values():
        if not isinstance(value, JsonOp) or own not in (value.op.__module__, value.read.__module__):
            continue
        if value.op_type in op_types():
            raise file.error(f"there is an op_type '{value.op_type}' already", value.op)
        yield value


def _passes(file: LoadedFile, flags: Container[str]) -> Iterator[tuple[str, type[ModulePass]]]:
    """Yield the passes of a file, apart from those that are but the base of another."""
    kinds = [kind for kind in file.classes() if issubclass(kind, ModulePass)]
    taken = dict.fromkeys(all_passes(), "a pass")
    for kind in kinds:
        name = getattr(kind, "name", None)
        if not isinstance(name, str):
            if any(issubclass(other, kind) for other in kinds if other is not kind):
                continue
            raise file.error(f"pass '{kind.__name__}' has no name", kind)
        if f"--{name}" in flags:
            raise file.error(f"a flag has the name of pass '{name}'", kind)
        if name in taken:
            raise file.error(f"there is {taken[name]} '{name}' already", kind)
        taken[name] = "a pass"
        _check_pass(file, kind)
        yield name, kind


def _check_pass(file: LoadedFile, kind: type[ModulePass]) -> None:
    """Raise GaweeError for a pass whose `apply`, or whose table of patterns, is none."""
    nothing: object = None
    try:
        inspect.signature(kind.apply).bind(nothing, nothing, nothing)
    except TypeError as error:
        text = f"expected '{kind.__name__}.apply' to take self, ctx and op: {error}"
        raise file.error(text, kind) from error
    if "gawee_dialect.passes.rewrite_pass" not in sys.modules:
        return  # the file has no table, and needs no import for one
    from gawee_dialect.passes.rewrite_pass import RewritePass

    for table in ("patterns", "removes") if issubclass(kind, RewritePass) else ():
        classes: object = getattr(kind, table)
        if not isa(classes, tuple[type, ...]):
            text = f"expected '{table}' of pass '{kind.__name__}' to be a tuple of classes"
            hint = f"`{table} = (First,)`: a comma makes a tuple of one, and a class is not called"
            raise file.error(f"{text}, got {classes!r}", kind, hint)


def _insertions(file: LoadedFile, passes: Iterable[type[ModulePass]]) -> Iterator[Insertion]:
    """Yield the passes that say by `place` where in the pipeline they go in."""
    for kind in passes:
        place = getattr(kind, "place", None)
        if isinstance(place, str):
            yield _insertion(file, kind, place)


def _insertion(file: LoadedFile, kind: type[ModulePass], place: str) -> Insertion:
    # Imported here: only insertions need it.
    from gawee_dialect.levels import places

    try:
        made = kind()
    except TypeError as error:
        text = f"cannot make pass '{kind.name}' without options for its place: {error}"
        raise file.error(text, kind) from error
    insertion = Insertion.at(place, [made], file.place_of(kind), required=False)
    known = sorted(places())
    if insertion.name not in known:
        hint = f"{did_you_mean(insertion.name, known, '')} places: {', '.join(known)}".strip()
        message = f"unknown place '{insertion.place}' in the pipeline"
        raise GaweeError(Diagnostic(message, insertion.origin, hint=hint))
    return insertion


def _dialects(file: LoadedFile, described: Sequence[Dialect]) -> dict[str, Dialect]:
    """Return the dialects of a file, and those that exist with what the file adds to them.

    Those that are described are left out.
    """
    existing = all_dialects()
    found: dict[str, Dialect] = {}
    for dialect in file.dialects():
        if dialect in described:
            continue
        if dialect.name in existing or dialect.name in found:
            raise file.error(f"there is a dialect '{dialect.name}' already")
        found[dialect.name] = dialect
    held = (*found.values(), *described)
    inside = {kind for each in held for kind in (*each.operations, *each.attributes)}
    for kind in file.classes():
        if issubclass(kind, Operation | Attribute) and kind not in inside:
            name = _dialect_name(file, kind)
            if name not in found:
                found[name] = existing[name]() if name in existing else _new_dialect(name)
            found[name] = _with(file, found[name], kind)
    return found


def _new_dialect(name: str) -> Dialect:
    """Return a dialect without ops, whose ops can be folded to constants of ours."""
    from gawee_dialect.dialect import ConstantMaterialization

    return Dialect(name, [], [], [ConstantMaterialization()])


def _dialect_name(file: LoadedFile, kind: type[Operation | Attribute]) -> str:
    definition = "irdl_op_definition" if issubclass(kind, Operation) else "irdl_attr_definition"
    if "get_irdl_definition" not in vars(kind):
        raise file.error(f"'{kind.__name__}' has no @{definition}", kind)
    dialect, dot, _ = kind.name.partition(".")
    if not dot:
        raise file.error(f"expected a name 'dialect.op', got '{kind.name}'", kind)
    return dialect


def _with(file: LoadedFile, dialect: Dialect, kind: type[Operation | Attribute]) -> Dialect:
    operations, attributes = list(dialect.operations), list(dialect.attributes)
    if issubclass(kind, Operation):
        known: Sequence[type[Operation | Attribute]] = operations
        operations = [*operations, kind]
    else:
        known = attributes
        attributes = [*attributes, kind]
    if kind.name in {each.name for each in known}:
        raise file.error(f"there is '{kind.name}' already", kind)
    return replace(dialect, _operations=operations, _attributes=attributes)


def _made(file: LoadedFile, kind: Callable[[], Made], what: str) -> Made:
    try:
        return kind()
    except TypeError as error:
        name = getattr(kind, "__name__", "")
        text = f"cannot make {what} '{name}' without arguments: {error}"
        raise file.error(text, kind if isinstance(kind, type) else None) from error


def _module_name(path: Path) -> str:
    """Return the name under which other loaded files can import a file, where it is free."""
    name = path.stem
    if not name.isidentifier() or name in sys.modules:
        return f"loaded.{name}"
    spec = find_spec(name)
    free = spec is None or (spec.origin is not None and Path(spec.origin) == path.resolve())
    return name if free else f"loaded.{name}"


def run_file(path: str) -> ModuleType:
    """Run a Python file as a module; raises GaweeError, located in it, where that fails."""
    file = Path(path)
    if not file.is_file():
        raise GaweeError(f"cannot load '{path}': no such file")
    if file.suffix != ".py":
        expected = "expected a Python file (.py) or operator descriptions (.json, .op)"
        raise GaweeError(f"cannot load '{path}': {expected}")
    linecache.checkcache(path)
    module = ModuleType(_module_name(file))
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        # Not by an import: its cache identifies a file by its size and the second it was saved in.
        exec(compile(file.read_bytes(), path, "exec", dont_inherit=True), vars(module))
    except Exception as error:
        message = f"cannot load this file: {_as_python_says(error)}"
        raise GaweeError(Diagnostic(message, _error_place(error, [path]) or path)) from error
    return module


@contextmanager
def _imports_beside(paths: Sequence[str]) -> Generator[None]:
    """Let files import what is in their folders; forget it, and the files, afterwards."""
    folders = list(dict.fromkeys(os.path.dirname(os.path.realpath(path)) for path in paths))
    before = set(sys.modules)
    sys.path += folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in modules_of(paths):
            if name not in before:
                del sys.modules[name]


def modules_of(paths: Sequence[str]) -> dict[str, Path]:
    """Return the modules that are loaded files, or that these import from beside them."""
    if not paths:
        return {}
    folders = {Path(os.path.realpath(path)).parent for path in paths}
    # Modules of packages are none of theirs, even where a file lies in the folder of a package.
    files = {
        name: getattr(module, "__file__", None)
        for name, module in sys.modules.items()
        if "." not in name.removeprefix("loaded.")
    }
    return {
        name: Path(file)
        for name, file in files.items()
        if file is not None and Path(file).resolve().parent in folders
    }


@contextmanager
def _located_in(paths: Sequence[str]) -> Generator[None]:
    """Turn an exception that comes from code of the files into an error at its line there."""
    try:
        yield
    except (GaweeError, BrokenPipeError):
        raise
    except Exception as error:
        where = _error_place(error, paths)
        if where is None:
            raise
        notes: Sequence[str] = getattr(error, "__notes__", ())
        running = " ".join(note for note in reversed(notes) if "\n" not in note)
        message = _as_python_says(error) + (f" ({running})" if running else "")
        hint = _members_hint(error) or _uses_hint(error) or "--debug shows the traceback"
        raise GaweeError(Diagnostic(message, where, hint=hint)) from error


def _members_hint(error: Exception) -> str | None:
    """Return what an op has, where the error is that it lacks a member; None for other errors."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, IRDLOperation):
        return None
    op = error.obj
    definition = op.get_irdl_definition()
    kinds = {
        "operands": [name for name, _ in definition.operands],
        "properties": [*definition.accessor_names],
        "results": [name for name, _ in definition.results],
    }
    has = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)
    near = nearest(str(error.name), [name for name in dir(op) if not name.startswith("_")])
    members = f"'{op.name}' has {has}" if has else None
    return " ".join(part for part in (near, members) if part) or None


def _uses_hint(error: Exception) -> str | None:
    """Return how a result is erased that is still used; None for other errors."""
    if "SSA value that still has uses" not in str(error):
        return None
    return "`rewriter.replace(op, new_ops)` erases an op, and puts results of others in its place"


def _as_python_says(error: Exception) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error).strip().partition("\n")[0]
    return type(error).__name__ + (f": {text}" if text else "")


def _error_place(error: BaseException, paths: Sequence[str]) -> str | None:
    """Return where an exception left the code of the files, None where it never was in it."""
    if isinstance(error, SyntaxError) and error.filename in paths:
        return f"{error.filename}:{error.lineno}:{error.offset or 1}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename in paths]
    if not inside:
        return None
    return f"{inside[-1].filename}:{inside[-1].lineno}:{(inside[-1].colno or 0) + 1}"
