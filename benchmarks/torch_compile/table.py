"""The page on networks under torch.compile."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import nan

from benchmarks.timing import processor
from benchmarks.torch_compile.check import LONG, MODES, CompiledNetwork
from gawee_dialect.target.machine import find_processor


def summary(result: CompiledNetwork) -> str:
    """Return a result in one line."""
    if not result.modes:
        return f"{result.name}: {result.reason}"
    return f"{result.name}: " + "; ".join(
        f"{mode} {_cell(outcome)}" for mode, outcome in result.modes.items()
    )


def _number(outcome: Mapping[str, object], name: str) -> float:
    value = outcome.get(name, nan)
    assert isinstance(value, int | float)
    return value


def _cell(outcome: Mapping[str, object]) -> str:
    """Return what became of one mode: parts, FLOPs left to PyTorch, time beside eager."""
    if outcome["reason"]:
        return f"**{outcome['reason']}**"
    time = _number(outcome, "ms") / _number(outcome, "eager_ms")
    if not outcome["graphs"]:
        return f"PyTorch, {time:.2f}x"
    graphs = f" of {outcome['graphs']} graphs" if _number(outcome, "graphs") > 1 else ""
    if outcome["whole"]:
        return f"whole{graphs}, {time:.2f}x"
    parts = int(_number(outcome, "parts"))
    left = f"{_number(outcome, 'share_left'):.1%} left"
    return f"{parts} part{'' if parts == 1 else 's'}{graphs}, {left}, {time:.2f}x"


def _is_slow(outcome: Mapping[str, object]) -> bool:
    """Whether a mode takes too long beside eager."""
    return not outcome["reason"] and _number(outcome, "ms") > LONG * _number(outcome, "eager_ms")


def _slow(result: CompiledNetwork) -> str:
    """Return the modes that take too long, with what TorchDynamo takes by itself."""
    return ", ".join(
        f"{mode} {_ratio(outcome, 'ms')} ({_ratio(outcome, 'dynamo_ms')})"
        for mode, outcome in result.modes.items()
        if _is_slow(outcome)
    )


def _ratio(outcome: Mapping[str, object], name: str) -> str:
    return f"{_number(outcome, name) / _number(outcome, 'eager_ms'):.2f}x"


def page(results: Sequence[CompiledNetwork]) -> str:
    """Return docs/torch_compile.md."""
    return "\n".join((*_head(results), *_rows(results), "", *_ops(results), ""))


def _head(results: Sequence[CompiledNetwork]) -> Iterator[str]:
    ran = [each for each in results if each.modes]
    outcomes = [outcome for each in ran for outcome in each.modes.values()]
    native = [each for each in outcomes if each["graphs"] and not each["reason"]]
    wrong = sum(bool(each["reason"]) for each in outcomes)
    slow = [each for each in outcomes if _is_slow(each)]
    ours = sum(_number(each, "ms") > LONG * _number(each, "dynamo_ms") for each in slow)
    yield "# Networks under torch.compile"
    yield ""
    yield (
        "`python -m benchmarks.torch_compile --page` wrote this page: networks of the zoo and 40 "
        'others, small and with random weights, each under `torch.compile(net, backend="gawee")` '
        "in eval and in training mode, with gradients and under `no_grad`. Each is called twice "
        "with the same seed as eager, and its outputs are compared. One thread. "
        f"{date.today()}, {processor()} ({find_processor('host').cpu}), {os.cpu_count()} cores."
    )
    yield ""
    yield (
        f"{len(ran)} networks, {len(outcomes)} modes: {wrong} raise, or differ from eager by more "
        "than 1e-3 of the range and from double precision more than 4 times as much as eager; "
        f"{sum(bool(each['whole']) for each in native)} of {len(native)} compiled are compiled "
        f"whole; {len(slow)} take more than {LONG} times as long as eager, of which {ours} more "
        "than TorchDynamo by itself (with a backend that returns its graph). The last column names "
        "them, with TorchDynamo's time in brackets."
    )
    yield ""


def _rows(results: Sequence[CompiledNetwork]) -> Iterator[str]:
    yield f"| network | library | {' | '.join(MODES)} | over {LONG}x (Dynamo alone) |"
    yield "|---" * (3 + len(MODES)) + "|"
    for each in sorted(results, key=lambda each: (each.library, each.name)):
        cells = [_cell(each.modes[mode]) for mode in MODES if mode in each.modes]
        cells = cells or [each.reason, *[""] * (len(MODES) - 1)]
        yield f"| {each.name} | {each.library} | {' | '.join(cells)} | {_slow(each)} |"


def _ops(results: Sequence[CompiledNetwork]) -> Iterator[str]:
    networks: Counter[str] = Counter()
    for each in results:
        networks.update({op for mode in each.modes.values() for op in _left(mode)})
    yield "Ops that PyTorch ran since they are not supported, and in how many networks:"
    yield ""
    yield "| op | networks |"
    yield "|---|---|"
    yield from (f"| `{op}` | {count} |" for op, count in networks.most_common())


def _left(outcome: Mapping[str, object]) -> Sequence[str]:
    left = outcome["left"]
    return [*left] if isinstance(left, dict) else []
