"""Graphs of models that are kept between processes: tracing a model takes longer than its code.

A graph is found by what a call of the model does (`call_record.py`). That is done only where a
graph of such a model is kept, and after it was traced: a model that keeps what it computed for the
first call is then seen to do so, and has no record.
"""

import pickle
from collections.abc import Sequence
from pathlib import Path
from sys import modules

from gawee_dialect.backend.cache import CompileCache, key_of
from gawee_dialect.frontends.npu_ir.pytorch import Module, is_tensor, torch
from gawee_dialect.pytorch.any_batch import Trace, Traced
from gawee_dialect.pytorch.call_record import described, record_of_call
from gawee_dialect.pytorch.tensors import leaves


def kept_graph(model: Module, inputs: Sequence[object], options: str, trace: Trace) -> Traced:
    """Return the graph of a model; it is traced only where none is kept.

    `options` say how it is traced. Raises as `trace` does.
    """
    cache = CompileCache()
    known = key_of("torch model", _without_call(model, inputs), options)
    if cache.read(known) is not None:
        key = _key(model, inputs, known)
        kept = None if key is None else cache.read(key)
        if kept is not None:
            found: Traced = pickle.loads(
                kept
            )  # the folder is the user's own, and seals what is in it
            return found
    traced = trace(inputs)
    key = _key(model, inputs, known)
    if key is not None:
        cache.write_all({key: pickle.dumps(traced), known: b"traced"})
    return traced


def _key(model: Module, inputs: Sequence[object], known: str) -> str | None:
    """Return the key of a model's graph; None for a model that has no record."""
    try:
        return key_of("torch call", known, record_of_call(model, inputs))
    except Exception:  # whatever the model raises: tracing it reports that
        return None


def _without_call(model: Module, inputs: Sequence[object]) -> str:
    """Return a hash of a model, without a call of it."""
    kinds = {type(module): None for module in model.modules()}
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return "\n".join(
        (
            str(torch().__version__),
            f"{type(model).__module__}.{type(model).__qualname__}",
            *sorted({*map(_state_of_file, kinds)}),
            *(f"{name} {described(tensor)}" for name, tensor in tensors),
            *(described(each) if is_tensor(each) else repr(each) for each in leaves(tuple(inputs))),
        )
    )


def _state_of_file(kind: type) -> str:
    """Return which file a class is from, and when that was changed; its lines are in the graph.

    The module alone where there is no such file: code of a notebook, a shell, `python -c`.
    """
    path = getattr(modules.get(kind.__module__), "__file__", None)
    if path is None:
        return kind.__module__
    try:
        status = Path(path).stat()
    except OSError:  # a script on standard input is from '<stdin>', a package may be in an archive
        return kind.__module__
    return f"{path} {status.st_size} {status.st_mtime_ns}"
