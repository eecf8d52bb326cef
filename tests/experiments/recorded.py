"""Folders of studies whose times are made up: what tables, pictures and comparisons are told."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

NETWORK = '[[network]]\nname = "net|work_1"\nfile = "n"\n[[pipeline]]\nname = "all"\n'


def rounds(seconds: float, seed: int) -> list[float]:
    """Seven rounds whose noise is half a percent."""
    noise = np.random.default_rng(seed).standard_normal(7)
    return (seconds * np.exp(0.005 * noise)).tolist()


def write_results(
    folder: Path, times: Mapping[str, float], seed: int = 0, processor: str = "P"
) -> Path:
    """Write a study in which pipelines took so many seconds; `all` is the baseline."""
    others = [name for name in times if name != "all"]
    folder.mkdir(parents=True)
    pipelines = "".join(f'[[pipeline]]\nname = "{name}"\n' for name in (*others, "broken"))
    (folder / "study.toml").write_text(f'name = "{folder.name}"\n{NETWORK}{pipelines}')
    lines: list[str] = []
    for number, (name, seconds) in enumerate(times.items()):
        own, base = rounds(seconds, seed + number), rounds(times["all"], 90 + seed + number)
        figures = {"seconds": seconds, "noise": 0.01, "rounds": own, "valid": True, "difference": 0}
        if name != "all":
            logs = np.log(np.array(own) / base)
            figures |= {"ratio": float(np.exp(np.median(logs))), "ratio_noise": 0.012}
        lines.append(record(name, processor, figures=figures))
    lines.append(record("broken", processor, error="/home/me/a.mlir:1:2: it is broken & more"))
    (folder / "records.jsonl").write_text("".join(lines))
    return folder


def record(pipeline: str, processor: str, **found: object) -> str:
    machine = {"processor": processor, "cpu": "c"}
    names = {"network": "net|work_1", "pipeline": pipeline, "options": "default"}
    return (
        json.dumps({"key": pipeline, **names, "baseline": "all", "machine": machine, **found})
        + "\n"
    )
