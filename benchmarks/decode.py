"""Language models: tokens a second, and the share of the rate at which memory gives weights.

    python -m benchmarks.decode --network llama-3.2-1b --threads 1,2 --page docs/language_models.md

Each row takes a minute or two on a quiet machine. In f32 `llama-3.2-1b` needs 6 GB of memory and 5
GB for temporary files; all rows of the page are half an hour. A row is a process of its own, which
reads a .gguf file of seeded random weights, and code that another process compiled. The *rate* is
that of NumPy's maximum of the same packed weights, on as many threads, taken by turns with tokens;
the share is of the least times of both. *Beside* are the bytes of memory of this process that are
neither weights nor cache. Peers have the same sizes: transformers' own code, eagerly and by
`torch.compile`, in the element type that they are named with. What is *rounded* has weights of
bfloat16 multiply what is rounded to it.

The second table has tokens a second of several texts at the same time, all together, and of one
with guesses from the text so far, which random weights repeat sooner or later.
"""

import ctypes
import json
import os
import subprocess
import sys
from argparse import (
    SUPPRESS,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.list_values import names, numbers
from benchmarks.timing import processor

EXAMPLE = Path(__file__).parent.parent / "examples" / "llm"
FORMATS = ("float32", "bfloat16", "q8_0", "q4_0", "q4_k")
PEERS = ("eager bfloat16", "eager float32", "inductor float32")
TOGETHER = ("float32", "bfloat16")
ROUNDED = "rounded"
"""Before a format: with inputs of products rounded as the weights are."""
SEQUENCES, GUESSES = (1, 2, 4, 8), 4
CAPACITY, PREFILL, TURNS, TOKENS = 2048, 512, 6, 8
BEGIN, END = "<!-- decode: written by benchmarks.decode -->", "<!-- decode: end -->"

Row = Mapping[str, float | str]


@contextmanager
def example() -> Iterator[None]:
    """Let files of the example be imported by name."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield
    finally:
        sys.path.remove(str(EXAMPLE))


def private_memory() -> int:
    """Return the bytes of memory that this process has for itself: no pages of files."""
    ctypes.CDLL(None).malloc_trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    anonymous = next(line for line in lines if line.startswith("RssAnon"))
    return int(anonymous.split()[1]) * 1024


def seconds_of(function: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def seconds_of_reading(arrays: Sequence[np.ndarray], threads: int) -> float:
    """Return how long threads take for the maxima of all arrays together."""
    parts = [
        part
        for each in arrays
        for part in np.array_split(
            each.reshape(-1).view(np.uint8)[: each.nbytes // 8 * 8].view(np.int64), threads
        )
        if part.size
    ]
    if threads == 1:
        return seconds_of(lambda: [part.max() for part in parts])
    with ThreadPoolExecutor(threads) as pool:
        shares = [parts[first::threads] for first in range(threads)]
        return seconds_of(lambda: list(pool.map(lambda own: [e.max() for e in own], shares)))


def write_weights(network: str, dtype: str, path: Path) -> None:
    """Write seeded random weights as a .gguf file."""
    with example():
        from config import config_of
        from gguf_file import metadata_of, names_of_weights, write_gguf
        from quantization import as_written
        from random_weights import SIZES, random_values

        config = config_of(SIZES[network])
        names = {new: old for old, new in names_of_weights(config.layers).items()}
        weights = {names[name]: as_written(dtype, values) for name, values in random_values(config)}
        write_gguf(path, metadata_of(SIZES[network]), weights)


def measure_ours(
    network: str, what: str, threads: int, path: Path, *, only_compile: bool = False
) -> Row:
    """Return what one format needs, or how long it takes until its code is kept."""
    how, _, dtype = what.rpartition(" ")
    with example():
        from decoder import GROUP
        from generation import TextModel, read_model

        from gawee_dialect import CodeOptions
        from gawee_dialect.backend import jit

        config, weights = read_model(path)
        options = CodeOptions(num_threads=threads)
        start = perf_counter()
        model = TextModel(config, weights, CAPACITY, options, rounds=how == ROUNDED)
        compiled = perf_counter() - start
    if only_compile:
        return {"compiled": compiled}
    made = 0
    make = jit.NativeModule.__init__

    def counted(*arguments: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        make(*arguments, **named)

    jit.NativeModule.__init__ = counted
    prompt = np.random.default_rng(0).integers(0, config.vocabulary, PREFILL).tolist()
    prefill = list[float]()
    for _ in range(3):
        model.forget()
        prefill.append(seconds_of(lambda: model.scores(prompt)))
    model.forget(16)
    arrays = list(model.code.prepared_values().values())
    steps, reading = list[float](), list[float]()
    for _ in range(TURNS):
        steps += [seconds_of(lambda: model.scores([7])) for _ in range(TOKENS)]
        reading += [seconds_of_reading(arrays, threads) for _ in range(2)]
    jit.NativeModule.__init__ = make
    rate = sum(each.nbytes for each in arrays) / min(reading)
    memory = model.code.memory
    groups = PREFILL // GROUP + 1  # what no token has been put in has no pages yet
    cache = sum(each[:groups].nbytes for each in model.cache.arrays.values())
    in_file = 0 if dtype.startswith("q") else memory.parameters
    beside = private_memory() - memory.prepared - (memory.parameters - in_file) - cache
    return {
        "tokens": 1 / median(steps),
        "rate": rate,
        "share": model.bytes_of_a_step / min(steps) / rate,
        "prefill": PREFILL / min(prefill),
        "compiles after": made,
        "weights": memory.prepared,
        "beside": beside,
    }


def measure_together(network: str, dtype: str, threads: int, path: Path) -> Row:
    """Return tokens a second of several texts, and of one with guesses."""
    with example():
        from generation import TextModel, read_model

        from gawee_dialect import CodeOptions

        config, weights = read_model(path)
        options = CodeOptions(num_threads=threads)
        model = TextModel(config, weights, CAPACITY, options, max(SEQUENCES), GUESSES)
    prompt = np.random.default_rng(0).integers(0, config.vocabulary, 16).tolist()
    counts = {sequence: 1 for sequence in range(max(SEQUENCES))}
    model.scores_of(dict.fromkeys(counts, prompt), counts)
    times: Mapping[int, list[float]] = {count: [] for count in SEQUENCES}
    for _ in range(TURNS):
        for count, found in times.items():
            tokens = {sequence: [7] for sequence in range(count)}
            found += [seconds_of(lambda: model.scores_of(tokens, counts)) for _ in range(TOKENS)]
    row = {f"{count}": count / median(found) for count, found in times.items()}
    model.forget()
    made = model.generate(prompt, 1 + TURNS * TOKENS)
    next(made)
    before = model.steps
    seconds = seconds_of(lambda: list(made))
    steps = model.steps - before
    return {**row, "guessed": TURNS * TOKENS / seconds, "per step": TURNS * TOKENS / steps}


def measure_peer(network: str, name: str, threads: int) -> Row:
    """Return tokens a second of transformers' own code."""
    import torch

    from benchmarks.zoo.libraries import import_library

    with example():
        from random_weights import SIZES
    how, _, dtype = name.partition(" ")
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    transformers = import_library("transformers")
    sizes = dict(SIZES[network])
    config = transformers.AutoConfig.for_model(sizes.pop("model_type"), **sizes)
    torch.set_default_dtype(getattr(torch, dtype))
    model: Any = transformers.AutoModelForCausalLM.from_config(config).eval()
    tokens = torch.randint(0, config.vocab_size, (1, PREFILL))
    with torch.no_grad():
        if how == "inductor":
            whole: Any = torch.compile(
                lambda ids: model(ids, use_cache=False, logits_to_keep=1).logits
            )
            whole(tokens)
            prefill = min(seconds_of(lambda: whole(tokens)) for _ in range(3))
            return {"prefill": PREFILL / prefill}
        prefill = min(seconds_of(lambda: model(tokens, logits_to_keep=1)) for _ in range(3))
        cache = model(tokens[:, :16]).past_key_values
        steps = [
            seconds_of(lambda: model(tokens[:, :1], past_key_values=cache))
            for _ in range(TURNS * TOKENS)
        ]
    return {"tokens": 1 / median(steps[4:]), "prefill": PREFILL / prefill}


def in_process(*arguments: str) -> Row:
    """Return the row that a process of its own prints."""
    command = [sys.executable, "-m", "benchmarks.decode", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode} of {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(options: Namespace) -> Iterator[tuple[str, str, Row]]:
    """Yield threads, what ran, and the row, as each is measured."""
    with TemporaryDirectory() as folder:
        for dtype in options.formats:
            path = Path(folder) / f"{dtype}.gguf"
            in_process("--network", options.network, "--write", dtype, "--file", str(path))
            ways = [dtype, f"{ROUNDED} {dtype}"] if dtype == "bfloat16" else [dtype]
            for what, threads in product(ways, options.threads):
                how = ("--network", options.network, "--threads", threads, "--file", str(path))
                compiled = in_process(*how, "--measure", what, "--only-compile")
                row = {**compiled, **in_process(*how, "--measure", what)}
                if what in options.together:
                    row |= in_process(*how, "--measure", f"together {what}")
                yield threads, f"gawee {what}", row
            path.unlink()
    for peer in options.peers:
        for threads in options.threads:
            common = ("--network", options.network, "--threads", threads)
            yield threads, peer, in_process(*common, "--measure", peer)


Columns = Sequence[tuple[str, str, Callable[[Any], str]]]
COLUMNS: Columns = (
    ("tokens/s", "tokens", "{:.1f}".format),
    ("memory GB/s", "rate", lambda rate: f"{rate / 1e9:.1f}"),
    ("share", "share", "{:.0%}".format),
    ("prefill of 512, tokens/s", "prefill", "{:.0f}".format),
    ("compiled in s", "compiled", "{:.0f}".format),
    ("compiles after the first", "compiles after", "{:.0f}".format),
    ("packed weights MB", "weights", lambda size: f"{size / 1e6:.0f}"),
    ("beside MB", "beside", lambda size: f"{size / 1e6:.0f}"),
)


TOGETHER_COLUMNS: Columns = (
    *((f"tokens/s of {count}", f"{count}", "{:.1f}".format) for count in SEQUENCES),
    (f"tokens/s with {GUESSES} guesses", "guessed", "{:.1f}".format),
    ("tokens a step", "per step", "{:.1f}".format),
)


def table(columns: Columns, rows: Sequence[tuple[str, str, Row]]) -> Sequence[str]:
    """Return the lines of a table of the rows that have something in its columns, none of none."""
    head = ["threads", "what", *(title for title, _, _ in columns)]
    lines = list[str]()
    for threads, name, row in rows:
        cells = [show(row[key]) if key in row else "" for _, key, show in columns]
        if any(cells):
            lines.append(f"| {threads} | {name} | {' | '.join(cells)} |")
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines] if lines else []


def section(options: Namespace, rows: Sequence[tuple[str, str, Row]]) -> str:
    """Return the tables with what they were measured on."""
    load = os.getloadavg()[0]
    text = (
        f"`{options.network}`, {processor()}, {date.today()}, load {load:.1f} at the end. "
        "`python -m benchmarks.decode --help` says what the columns are."
    )
    tables = (table(columns, rows) for columns in (COLUMNS, TOGETHER_COLUMNS))
    parts = [BEGIN, text, *("\n".join(lines) for lines in tables if lines), END]
    return "\n\n".join(parts)


def page_with_section(text: str) -> Path:
    """Return a page that has a section to be written anew; raises ArgumentTypeError."""
    page = Path(text)
    try:
        found = page.read_text("utf-8")
    except OSError as error:
        raise ArgumentTypeError(f"cannot read '{text}': {error.strerror}") from None
    if END not in found.partition(BEGIN)[2]:
        raise ArgumentTypeError(f"'{text}' has no section between {BEGIN} and {END}")
    return page


def networks() -> Sequence[str]:
    """Return the names of networks whose sizes are known."""
    with example():
        from random_weights import SIZES

    return list(SIZES)


def parser() -> ArgumentParser:
    """Return what the command line is."""
    result = ArgumentParser(
        prog="python -m benchmarks.decode",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add, known = result.add_argument, networks()
    add(
        "--network", choices=known, metavar="NETWORK", default="smollm2-135m", help=", ".join(known)
    )
    add("--threads", type=threads, default=["1", "2"], help="(default: 1,2)")
    add("--formats", type=names(FORMATS), default=list(FORMATS), help=", ".join(FORMATS))
    add(
        "--together",
        type=names(FORMATS),
        default=list(TOGETHER),
        help=f"formats for the second table (default: {','.join(TOGETHER)})",
    )
    add("--peers", type=names(PEERS), default=list(PEERS[:2]), help=", ".join(PEERS))
    add("--page", type=page_with_section, help="a page whose section is written anew")
    # What a process for one row is asked for.
    add("--write", help=SUPPRESS)
    add("--measure", help=SUPPRESS)
    add("--file", type=Path, help=SUPPRESS)
    add("--only-compile", action="store_true", help=SUPPRESS)
    return result


def threads(text: str) -> list[str]:
    """Read numbers of threads; raises ArgumentTypeError."""
    return [str(each) for each in numbers(text)]


def main() -> None:
    """Run the command line."""
    options = parser().parse_args()
    if options.write:
        write_weights(options.network, options.write, options.file)
        print("{}")
    elif options.measure in PEERS:
        print(json.dumps(measure_peer(options.network, options.measure, int(options.threads[0]))))
    elif options.measure:
        together, dtype = "together ", options.measure.removeprefix("together ")
        threads, path = int(options.threads[0]), options.file
        if options.measure.startswith(together):
            print(json.dumps(measure_together(options.network, dtype, threads, path)))
        else:
            given = options.network, options.measure, threads, path
            print(json.dumps(measure_ours(*given, only_compile=options.only_compile)))
    else:
        rows = list[tuple[str, str, Row]]()
        for row in rows_of(options):
            rows.append(row)
            print(*row, file=sys.stderr)
        text = section(options, rows)
        print(text)
        if options.page:
            page = options.page.read_text("utf-8")
            before, rest = page.split(BEGIN)
            options.page.write_text(before + text + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
