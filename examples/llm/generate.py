"""Text from a language model, token by token, in machine code that is compiled once.

    python examples/llm/generate.py MODEL --prompt "Once upon a time"
    python examples/llm/generate.py MODEL --prompt "One" --prompt "Another" --guesses 4
    python examples/llm/generate.py --random smollm2-135m --dtype bfloat16

MODEL is a folder with config.json and .safetensors files, or a .gguf file. Text needs the package
tokenizers and tokenizer.json, in the folder or beside the file; without, `--tokens 1,2,3` are the
numbers of tokens, and numbers are printed.
"""

import argparse
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

from generation import TextModel, read_model
from random_weights import SIZES, random_network
from sampling import Sampling

from gawee_dialect import CodeOptions, GaweeError

Text = Callable[[Sequence[int]], str]


def parser() -> argparse.ArgumentParser:
    """Return what the command line is."""
    result = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    result.add_argument("model", nargs="?", type=Path, help="a folder, or a .gguf file")
    result.add_argument("--random", choices=SIZES, help="a network of random weights")
    result.add_argument(
        "--dtype", default="float32", help="of random weights: float32, bfloat16, q8_0, q4_0, ..."
    )
    result.add_argument("--prompt", action="append", help="what a text begins with; one or more")
    result.add_argument("--tokens", action="append", help="the same as numbers of tokens")
    result.add_argument("--guesses", type=int, default=0, help="tokens guessed with each one")
    result.add_argument("--count", type=int, default=100, help="tokens at most (default: 100)")
    result.add_argument("--capacity", type=int, default=2048, help="tokens that can be seen")
    result.add_argument("--temperature", type=float, default=0.0, help="0 takes the likeliest")
    result.add_argument("--top-k", type=int, default=0, help="of so many tokens; 0 is all")
    result.add_argument("--top-p", type=float, default=1.0, help="of so much probability")
    result.add_argument(
        "--min-p", type=float, default=0.0, help="of what is so likely to the first"
    )
    result.add_argument("--seed", type=int, default=0)
    result.add_argument(
        "--round", action="store_true", help="round what weights of bfloat16 multiply to it"
    )
    result.add_argument("--threads", type=int, help="default: one a core")
    return result


def numbers(made: Sequence[int]) -> str:
    """Return tokens as they are printed without a tokenizer."""
    return "".join(f"{token} " for token in made)


def read_prompts(args: argparse.Namespace) -> tuple[Sequence[Sequence[int]], Text]:
    """Return the tokens that texts begin with, and what makes text of tokens; raises GaweeError."""
    if args.tokens is not None or args.model is None:
        given: Sequence[str] = args.tokens or ["1"]
        try:
            return [[int(each) for each in prompt.split(",")] for prompt in given], numbers
        except ValueError as error:
            raise GaweeError(f"expected numbers of tokens, got '{' '.join(given)}'") from error
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        message = "text needs the package tokenizers, or --tokens 1,2,3"
        raise GaweeError(message) from error
    folder = args.model if args.model.is_dir() else args.model.parent
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # of no class of its own
        raise GaweeError(f"cannot read '{folder / 'tokenizer.json'}': {error}") from error
    prompts: Sequence[str] = args.prompt or ["Once upon a time"]
    return [tokenizer.encode(prompt).ids for prompt in prompts], tokenizer.decode


def pieces(tokens: Iterator[int], text: Text) -> Iterator[str]:
    """Yield what each token adds to the text: a token alone may be a part of a letter."""
    made, shown = list[int](), ""
    for token in tokens:
        made.append(token)
        whole = text(made)
        if not whole.endswith("\N{REPLACEMENT CHARACTER}"):
            yield whole[len(shown) :]
            shown = whole


def run(args: argparse.Namespace) -> None:
    """Print the text as it is made, then how long that took; raises GaweeError."""
    if (args.model is None) == (args.random is None):
        raise GaweeError("expected either a model or --random, one of them")
    for name, least in {"count": 1, "capacity": 1, "guesses": 0}.items():
        if getattr(args, name) < least:
            raise GaweeError(f"expected --{name} of at least {least}, got {getattr(args, name)}")
    config, weights = (
        random_network(args.random, args.dtype) if args.random else read_model(args.model)
    )
    prompts, text = read_prompts(args)
    start = perf_counter()
    options = CodeOptions(num_threads=args.threads)
    model = TextModel(
        config, weights, args.capacity, options, len(prompts), args.guesses, rounds=args.round
    )
    ready = perf_counter()
    sampling = Sampling(args.temperature, args.top_k, args.top_p, args.min_p)
    made: Sequence[list[int]] = [[] for _ in prompts]
    times, steps = list[float](), list[int]()

    def timed() -> Iterator[int]:
        tokens = model.generate_batch(prompts, args.count, sampling, args.seed)
        for number, token in tokens:
            times.append(perf_counter())
            steps.append(model.steps)
            made[number].append(token)
            yield token

    if len(prompts) == 1:
        for piece in pieces(timed(), text):
            print(piece, end="", flush=True)
        print()
    elif list(timed()):
        print(*map(text, made), sep="\n\n")
    before = sum(map(len, prompts))
    print(
        f"compiled in {ready - start:.1f} s; {before} tokens read in {times[0] - ready:.3f} s",
        file=sys.stderr,
    )
    if steps[-1] > steps[0]:
        count, seconds = len(times) - steps.count(steps[0]), times[-1] - times[0]
        rate = model.bytes_of_a_step * (steps[-1] - steps[0]) / seconds
        print(
            f"{count / seconds:.1f} tokens/s; {rate / 1e9:.1f} GB/s, {rate / model.read_rate():.0%}"
            " of what reading the same weights for their maximum takes",
            file=sys.stderr,
        )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    packed = model.code.memory.prepared / 2**20
    print(f"{packed:.0f} MB of packed weights, {most:.0f} MB at most in all", file=sys.stderr)


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        run(parser().parse_args())
    except (GaweeError, OSError) as error:
        print(error if isinstance(error, GaweeError) else f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
