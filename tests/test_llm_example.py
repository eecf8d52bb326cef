"""The example that generates text: its tokens are those of transformers, from one compilation."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.tensor import DimOp

from gawee_dialect import CodeOptions, GaweeError, Model
from gawee_dialect.analysis.kernel_kind import KernelKind, kernel_kind
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.prove.each import ProveEach
from gawee_dialect.levels import Level
from gawee_dialect.parameters.store import MemoryStore, ParameterStore
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_passes
from gawee_dialect.target.machine import find_processor
from gawee_dialect.universe import all_passes, make_context
from tests.closeness import assert_allclose
from tests.effort import mostly_full
from tests.example_files import imported_files
from tests.instruments.prove.proving import unproved

pytestmark = pytest.mark.usefixtures("unoptimized")

FOLDER = Path(__file__).parent.parent / "examples" / "llm"
ONE_THREAD = CodeOptions(num_threads=1)

TINY: Mapping[str, Any] = {
    "vocab_size": 199,
    "hidden_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 80,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": None,
    "eos_token_id": None,
    "initializer_range": 0.3,  # scores far enough apart, and tokens that differ
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
NETWORKS: dict[str, Mapping[str, Any]] = {
    "llama": {"num_hidden_layers": 2, "tie_word_embeddings": True, "rope_parameters": LLAMA3},
    "mistral": {"sliding_window": 24},
    "qwen2": {},
    "granite": {
        **{"embedding_multiplier": 3.0, "attention_multiplier": 0.4},
        **{"residual_multiplier": 0.6, "logits_scaling": 2.0},
    },
    "qwen3": {"num_hidden_layers": 2, "tie_word_embeddings": True},
    "olmo2": {},
    "phi3": {"sliding_window": None},
    "smollm3": {
        **{"num_hidden_layers": 2, "no_rope_layer_interval": 2},
        "use_sliding_window": False,
    },
    "gemma3_text": {
        **{"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]},
        **{"sliding_window": 16, "query_pre_attn_scalar": 12},
        "tie_word_embeddings": False,  # else each token is followed by itself
    },
    "helium": {},
}
WHOLE_BLOCKS = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "head_dim": 16,
    "num_attention_heads": 4,
}
"""Sizes that are multiples of a block of 32."""
WHOLE_LARGE_BLOCKS = {
    **{"hidden_size": 256, "intermediate_size": 256, "head_dim": 64, "num_attention_heads": 4},
    "initializer_range": 0.1,
}
"""Sizes that are multiples of a block of 256."""


@pytest.fixture(scope="module")
def example() -> Iterator[Mapping[str, ModuleType]]:
    """Import the files of the example, which import each other by name."""
    pytest.importorskip("ml_dtypes")
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "generate")
    with imported_files(FOLDER, names) as modules:
        yield modules


@pytest.fixture(scope="module")
def tiny(example: Mapping[str, ModuleType]) -> Any:
    """Return a model for two texts of up to 1000 tokens, with guesses or without."""
    config, weights = example["random_weights"].random_network("tiny")
    return example["generation"].TextModel(config, weights, 1000, ONE_THREAD, 2, guesses=7)


@pytest.fixture
def empty(tiny: Any) -> Any:
    """Return that model with nothing in its cache, and without guesses."""
    tiny.forget()
    tiny.guesses = 0
    return tiny


def network_of(architecture: str) -> Any:
    """Return a network of transformers with seeded random weights."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.zoo.libraries import import_library

    transformers = import_library("transformers")
    torch.manual_seed(0)
    options = {**TINY, **NETWORKS[architecture]}
    config = transformers.AutoConfig.for_model(architecture, **options)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def weights_of(network: Any) -> ParameterStore:
    return MemoryStore({name: each.numpy() for name, each in network.state_dict().items()})


TOGETHER = ["gemma3_text", "llama", "phi3", "qwen3"]
"""Networks that make several texts at the same time too, by the code that makes one of them."""
SEVERAL = 4, 3
"""How many texts, and guesses for each."""


@pytest.mark.parametrize("architecture", mostly_full(list(NETWORKS)))
def test_two_hundred_tokens_are_those_of_transformers(
    architecture: str, example: Mapping[str, ModuleType]
) -> None:
    network = network_of(architecture)
    import torch

    config = example["config"].config_of(network.config.to_dict())
    texts = SEVERAL if architecture in TOGETHER else ()
    model = example["generation"].TextModel(config, weights_of(network), 256, ONE_THREAD, *texts)
    model.guesses = 0
    prompt = [5, 17, 3, 101, 44, 9, 5]
    with torch.no_grad():
        scores = network(torch.tensor([prompt])).logits[0, -1].numpy()
        made = network.generate(torch.tensor([prompt]), max_new_tokens=200, do_sample=False)
    # Sums of up to 80 terms in f32, in another order, through a few layers.
    assert_allclose(model.scores(prompt), scores, rtol=0, atol=2e-5 * np.abs(scores).max())
    model.forget()
    expected = made[0, len(prompt) :].tolist()
    assert len(set(expected)) > 20
    assert list(model.generate(prompt, 200)) == expected


PROMPTS = [[5, 17, 3, 101, 44, 9, 5], [8], [*range(60, 100)], [17, 3]]
"""Of lengths that differ: rows of one step are at different positions."""


def tokens_of(network: Any, prompt: Sequence[int], count: int) -> list[int]:
    """Return the greedy tokens of transformers that go on with a prompt."""
    import torch

    with torch.no_grad():
        made = network.generate(torch.tensor([prompt]), max_new_tokens=count, do_sample=False)
    return made[0, len(prompt) :].tolist()


def texts_of(made: Iterator[tuple[int, int]], count: int) -> list[list[int]]:
    """Return the tokens of each of some prompts."""
    texts: list[list[int]] = [[] for _ in range(count)]
    for number, token in made:
        texts[number].append(token)
    return texts


@pytest.mark.parametrize("architecture", mostly_full(TOGETHER))
def test_texts_that_are_made_together_are_those_of_transformers(
    architecture: str, example: Mapping[str, ModuleType]
) -> None:
    network = network_of(architecture)
    config = example["config"].config_of(network.config.to_dict())
    model = example["generation"].TextModel(config, weights_of(network), 256, ONE_THREAD, *SEVERAL)
    expected = [tokens_of(network, prompt, 50) for prompt in PROMPTS]
    assert len({token for text in expected for token in text}) > 20
    for model.guesses in (0, 3):
        model.forget()
        made = texts_of(model.generate_batch(PROMPTS, 50), 4)
        assert made == expected, f"{model.guesses} guesses"
        assert model.cache.lengths == [len(prompt) + 49 for prompt in PROMPTS]


def test_a_text_that_ends_leaves_its_place_to_none(example: Mapping[str, ModuleType]) -> None:
    network = network_of("llama")
    whole = [tokens_of(network, prompt, 40) for prompt in PROMPTS]
    end = whole[0][5]
    config = replace(example["config"].config_of(network.config.to_dict()), end=[end])
    model = example["generation"].TextModel(config, weights_of(network), 256, ONE_THREAD, *SEVERAL)
    expected = [[*takewhile(lambda token: token != end, text), end] for text in whole]
    expected = [text[:40] for text in expected]
    assert len(expected[0]) < len(max(expected, key=len)) == 40
    for model.guesses in (0, 3):
        model.forget()
        assert texts_of(model.generate_batch(PROMPTS, 40), 4) == expected


def test_guesses_that_are_right_take_fewer_steps(example: Mapping[str, ModuleType]) -> None:
    network = network_of("llama")
    text = tokens_of(network, [5], 60)
    config = example["config"].config_of(network.config.to_dict())
    model = example["generation"].TextModel(config, weights_of(network), 256, ONE_THREAD, *SEVERAL)
    # The text twice, as one that is to be copied: what comes next is found in it.
    prompt = [5, *text, 5, *text[:20]]
    expected = tokens_of(network, prompt, 60)
    taken = dict[int, int]()
    for model.guesses in (0, 3):
        model.forget()
        before = model.steps
        assert list(model.generate(prompt, 60)) == expected
        taken[model.guesses] = model.steps - before
    assert taken[0] == 61  # the prompt takes two
    assert taken[3] < taken[0]


@pytest.mark.parametrize("guesses", [7, 1])
def test_guesses_do_not_change_what_is_drawn(
    guesses: int, example: Mapping[str, ModuleType], empty: Any
) -> None:
    sampling = example["sampling"].Sampling(temperature=0.3, top_k=3)
    made = list[list[list[int]]]()
    for empty.guesses in (0, guesses):
        empty.forget()
        drawn = empty.generate_batch([[7, 8, 7, 8], [7]], 60, sampling, 3)
        made.append(texts_of(drawn, 2))
    assert made[0] == made[1]


def test_guesses_are_what_came_behind_the_last_tokens(example: Mapping[str, ModuleType]) -> None:
    lookup = example["drafts"].PromptLookup([1, 2, 3, 4, 9, 2, 3, 5, 6])
    assert lookup.guess(3) == []
    lookup.add([2, 3])
    assert lookup.guess(3) == [5, 6, 2]
    lookup.add([4])
    assert lookup.guess(2) == [9, 2]
    lookup.add([7, 1, 2, 3])
    assert lookup.guess(8) == [4, 9, 2, 3, 5, 6, 2, 3]


def test_groups_of_tokens_that_are_forgotten_are_used_again(empty: Any) -> None:
    model = empty
    alone = list[list[int]]()
    for prompt in ([1, 2], [3]):
        alone.append(list(model.generate(prompt, 12)))
        model.forget()
    for _ in range(3):
        made = model.generate_batch([[*range(20)], [*range(40)]], 1)
        assert len(list(made)) == 2
        assert model.cache.begun == 5
        model.forget()
        assert texts_of(model.generate_batch([[1, 2], [3]], 12), 2) == alone
        assert model.cache.begun == 2
        model.forget()


def test_a_thousand_tokens_are_of_one_compilation(
    empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gawee_dialect.backend import jit

    code = jit.NativeModule.__init__

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("code was made")

    assert code is not refuse
    monkeypatch.setattr(jit.NativeModule, "__init__", refuse)
    made = list(empty.generate([1], 1000))
    assert len(made) == 1000
    assert empty.cache.lengths == [1000, 0]


def test_a_prompt_in_parts_has_the_scores_of_one_that_is_whole(
    empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = np.random.default_rng(1).integers(0, empty.config.vocabulary, 50).tolist()
    whole = empty.scores(prompt)
    empty.forget()
    monkeypatch.setattr(empty, "_most_rows", 16)
    # The same sums in another order, through two layers.
    assert_allclose(empty.scores(prompt), whole, rtol=0, atol=1e-5 * np.abs(whole).max())
    empty.forget(20)
    assert empty.cache.lengths == [20, 0]
    again = empty.scores(prompt[20:])
    assert_allclose(again, whole, rtol=0, atol=1e-5 * np.abs(whole).max())


def test_weights_of_bf16_stay_as_they_are(example: Mapping[str, ModuleType]) -> None:
    network = network_of("qwen3")
    import ml_dtypes
    import torch

    weights = {n: each.astype(ml_dtypes.bfloat16) for n, each in weights_of(network).items()}
    network.load_state_dict(
        {name: torch.from_numpy(each.astype(np.float32)) for name, each in weights.items()}
    )
    config = example["config"].config_of(network.config.to_dict())
    model = example["generation"].TextModel(config, MemoryStore(weights), 64, ONE_THREAD)
    packed = model.code.prepared_values().values()
    assert {each.dtype.name for each in packed if each.ndim > 1} == {"bfloat16"}
    with torch.no_grad():
        wide = network(torch.tensor([[5, 17, 3]])).logits[0, -1].numpy()
    # The widening is exact: what is left are sums in f32 in another order.
    assert_allclose(model.scores([5, 17, 3]), wide, rtol=0, atol=2e-5 * np.abs(wide).max())


def test_rounded_inputs_of_weights_of_bf16_are_those_of_a_network_that_rounds_them(
    example: Mapping[str, ModuleType],
) -> None:
    network = network_of("llama")
    import ml_dtypes
    import torch

    weights = {n: each.astype(ml_dtypes.bfloat16) for n, each in weights_of(network).items()}
    network.load_state_dict(
        {name: torch.from_numpy(each.astype(np.float32)) for name, each in weights.items()}
    )
    for layer in network.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_pre_hook(lambda _, given: (given[0].bfloat16().float(),))
    config = example["config"].config_of(network.config.to_dict())
    model = example["generation"].TextModel(
        config, MemoryStore(weights), 128, ONE_THREAD, rounds=True
    )
    prompt = [5, 17, 3, 101, 8]
    with torch.no_grad():
        scores = network(torch.tensor([prompt])).logits[0, -1].numpy()
    # A sum in another order is rounded to the other of two bf16 now and then.
    assert_allclose(model.scores(prompt), scores, rtol=0, atol=2e-3 * np.abs(scores).max())


def test_filters_leave_what_those_of_transformers_leave(example: Mapping[str, ModuleType]) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from benchmarks.zoo.libraries import import_library

    transformers = import_library("transformers")
    scores = np.random.default_rng(3).standard_normal(500).astype(np.float32) * 3
    settings = [
        {"temperature": 0.7},
        {"temperature": 1.0, "top_k": 20},
        {"temperature": 1.3, "top_p": 0.8},
        {"temperature": 0.9, "min_p": 0.1},
        {"temperature": 1.1, "top_k": 100, "top_p": 0.9, "min_p": 0.02},
    ]
    for options in settings:
        left = torch.tensor(scores)[None].double()
        left = transformers.TemperatureLogitsWarper(options["temperature"])(None, left)
        if "top_k" in options:
            left = transformers.TopKLogitsWarper(options["top_k"])(None, left)
        if "top_p" in options:
            left = transformers.TopPLogitsWarper(options["top_p"])(None, left)
        if "min_p" in options:
            left = transformers.MinPLogitsWarper(options["min_p"])(None, left)
        expected = torch.softmax(left, -1)[0].numpy()
        made = example["sampling"].Sampling(**options).probabilities(scores)
        assert_allclose(made, expected, rtol=1e-9, atol=1e-15)


def test_a_seed_gives_the_same_text(example: Mapping[str, ModuleType], empty: Any) -> None:
    sampling = example["sampling"].Sampling(temperature=1.0)

    def text(seed: int) -> list[int]:
        empty.forget()
        return list(empty.generate([7], 30, sampling, seed))

    assert text(1) == text(1) != text(2)


def test_what_cannot_be_made_is_an_error(
    example: Mapping[str, ModuleType], empty: Any, tmp_path: Path
) -> None:
    with pytest.raises(GaweeError, match="expected at most 1000 tokens, got 1001"):
        empty.scores([1] * 1001)
    with pytest.raises(GaweeError, match="expected at least one token, got none"):
        empty.scores([])
    with pytest.raises(GaweeError, match="expected at most 2 prompts, got 3"):
        list(empty.generate_batch([[1], [2], [3]], 1))
    with pytest.raises(GaweeError, match="index 300 is out of bounds"):
        empty.scores([300])
    with pytest.raises(GaweeError, match=r"expected model_type to be one of llama.*, got 'bert'"):
        example["config"].config_of({"model_type": "bert"})
    with pytest.raises(
        GaweeError, match="expected the configuration to have 'num_attention_heads'"
    ):
        example["config"].config_of({"model_type": "llama"})
    (tmp_path / "config.json").write_text(json.dumps(network_options(example)))
    with pytest.raises(GaweeError, match=r"expected .safetensors files"):
        example["generation"].read_folder(tmp_path)


def network_options(example: Mapping[str, ModuleType]) -> Mapping[str, object]:
    """Return the configuration of the tiny network."""
    return example["random_weights"].SIZES["tiny"]


def test_the_command_reads_a_folder(
    example: Mapping[str, ModuleType],
    empty: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    _, weights = example["random_weights"].random_network("tiny")
    (tmp_path / "config.json").write_text(json.dumps(network_options(example)))
    numpy_files.save_file(dict(weights), tmp_path / "model.safetensors")
    command = [str(FOLDER / "generate.py"), str(tmp_path), "--tokens", "7,8"]
    monkeypatch.setattr(sys, "argv", [*command, "--count", "12", "--threads", "1"])
    with imported_files(FOLDER, ["generate"]) as modules:
        assert modules["generate"].main() == 0
    said = capsys.readouterr()
    assert [int(each) for each in said.out.split()] == list(empty.generate([7, 8], 12))
    assert "tokens/s" in said.err
    # The sizes of the tiny model: its code is known by now.
    more = [*command, "--tokens", "9", "--guesses", "7", "--capacity", "1000"]
    more += ["--count", "12", "--threads", "1"]
    done = subprocess.run([sys.executable, *more], capture_output=True, text=True, check=True)
    both = done.stdout.splitlines()
    assert both[0] == said.out.strip("\n")
    empty.forget()
    assert [int(each) for each in both[-1].split()] == list(empty.generate([9], 12))
    assert len(both) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--tokens", "1"], "error: cannot read 'nowhere/config.json'"),
        (["--random", "tiny", "--count", "0"], "error: expected --count of at least 1, got 0\n"),
    ],
)
def test_a_mistake_in_the_command_is_one_line(
    arguments: Sequence[str],
    message: str,
    example: Mapping[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["generate.py", *arguments])
    with imported_files(FOLDER, ["generate"]) as modules:
        assert modules["generate"].main() == 1
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1


STORED = ("float32", "float16", "bfloat16", "q8_0", "q4_0", "q4_k", "q6_k")


def heads_of(name: str, config: Any) -> int:
    """Return how many heads the rows of a weight are; 0 for one whose rows are not rotated."""
    if "q_proj" in name:
        return config.num_attention_heads
    return config.num_key_value_heads if "k_proj" in name else 0


def gguf_model(
    example: Mapping[str, ModuleType], path: Path, dtype: str, architecture: str = "llama"
) -> tuple[Any, Mapping[str, Any]]:
    """Write a network of transformers as a .gguf file, whose weights are rounded to how it stores
    them; return the network with these weights, and what is stored."""
    network = network_of(architecture)
    import torch

    quantization, gguf = example["quantization"], example["gguf_file"]
    config, floats, written = network.config, dict[str, Any](), dict[str, Any]()
    back = {new: old for old, new in gguf.names_of_weights(config.num_hidden_layers).items()}
    for name, tensor in network.state_dict().items():
        values = tensor.numpy()
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        heads = heads_of(name, config) if architecture == "llama" else 0
        if heads:  # as convert_hf_to_gguf.py of llama.cpp stores heads of Llama
            values = values.reshape(heads, 2, -1, values.shape[-1]).swapaxes(1, 2)
            values = values.reshape(tensor.shape)
        array = quantization.as_written(dtype if values.ndim > 1 else "float32", values)
        written[back[name]] = array
        if array.dtype == np.uint8:
            wide = quantization.widened(quantization.parts_of(dtype, array))
        else:
            wide = array.astype(np.float32)
        if heads:
            wide = wide.reshape(heads, -1, 2, wide.shape[-1]).swapaxes(1, 2)
        floats[name] = torch.from_numpy(wide.reshape(tensor.shape).copy())
    network.load_state_dict(floats, strict=False)
    network.tie_weights()
    prefix = f"{architecture}."
    metadata = {
        "general.architecture": architecture,
        f"{prefix}embedding_length": config.hidden_size,
        f"{prefix}block_count": config.num_hidden_layers,
        f"{prefix}feed_forward_length": config.intermediate_size,
        f"{prefix}attention.head_count": config.num_attention_heads,
        f"{prefix}attention.head_count_kv": config.num_key_value_heads,
        f"{prefix}attention.key_length": config.head_dim,
        f"{prefix}attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        f"{prefix}rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "tokenizer.ggml.tokens": ["a", "b", "\u00e4"],
    }
    if architecture == "llama":
        turned = network.model.rotary_emb.inv_freq.numpy()
        plain = config.rope_parameters["rope_theta"] ** (-np.arange(0, 1, 2 / config.head_dim))
        written["rope_freqs.weight"] = (plain / turned).astype(np.float32)
    gguf.write_gguf(path, metadata, written)
    return network, written


@pytest.mark.parametrize(
    ("dtype", "architecture"), [*zip(STORED, cycle(("llama", "qwen3")), strict=False)]
)
def test_tokens_of_a_gguf_file_are_those_of_its_weights(
    dtype: str,
    architecture: str,
    example: Mapping[str, ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(example["gguf_file"], "AT_A_TIME", 500)  # bytes of a few rows
    path = tmp_path / "model.gguf"
    sizes = WHOLE_LARGE_BLOCKS if dtype.endswith("k") else WHOLE_BLOCKS
    layers = 2 if dtype in ("float32", "float16") else 1  # two of each architecture, once
    options = {**NETWORKS[architecture], **sizes, "num_hidden_layers": layers}
    monkeypatch.setitem(NETWORKS, architecture, options)
    network, written = gguf_model(example, path, dtype, architecture)
    import torch

    config, weights = example["generation"].read_model(path)
    model = example["generation"].TextModel(config, weights, 128, ONE_THREAD)
    prompt = [5, 17, 3, 101]
    with torch.no_grad():
        scores = network(torch.tensor([prompt])).logits[0, -1].numpy()
        made = network.generate(torch.tensor([prompt]), max_new_tokens=60, do_sample=False)
    # The same numbers: what is left are sums in f32 in another order.
    assert_allclose(model.scores(prompt), scores, rtol=0, atol=3e-5 * np.abs(scores).max())
    model.forget()
    assert list(model.generate(prompt, 60)) == made[0, 4:].tolist()
    packed = sum(each.nbytes for name, each in written.items() if ".weight" in name)
    # With the table once more, and tiles that end early; scales of blocks of 256 multiplied out.
    assert model.code.memory.prepared < (2.1 if dtype.endswith("k") else 1.6) * packed


def small_file(example: Mapping[str, ModuleType], path: Path) -> bytes:
    """Write a file with a tensor of each type; return its bytes."""
    pytest.importorskip("ml_dtypes")
    random, written = np.random.default_rng(0), dict[str, np.ndarray]()
    for dtype in STORED:
        values = random.standard_normal((3, 256)).astype(np.float32)
        written[dtype] = example["quantization"].as_written(dtype, values)
    metadata = {"general.name": "x", "n": 7, "eps": 1e-5, "words": ["a", "", "bc"]}
    example["gguf_file"].write_gguf(path, metadata, written)
    return path.read_bytes()


def test_a_file_that_is_cut_is_one_error(example: Mapping[str, ModuleType], tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    whole = small_file(example, path)
    read = example["gguf_file"].GgufFile
    assert len(read(path)) == 12
    for length in [*range(0, len(whole) - 128, 7), len(whole) - 33]:
        path.write_bytes(whole[:length])
        with pytest.raises(GaweeError) as raised:
            read(path)
        assert str(raised.value).count("error:") == 1
        assert str(path) in str(raised.value)


def test_a_file_that_lies_is_one_error(example: Mapping[str, ModuleType], tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    whole = small_file(example, path)
    read = example["gguf_file"].GgufFile
    rng = np.random.default_rng(5)
    head = example["gguf_file"].GgufFile(path)._start
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        place = int(rng.integers(4, head - 8))
        damaged[place : place + 8] = [
            (1 << 63).to_bytes(8, "little"),
            b"\xff" * 8,
            int(rng.integers(1 << 40)).to_bytes(8, "little"),
        ][rng.integers(3)]
        path.write_bytes(damaged)
        with suppress(GaweeError):
            file = read(path)
            assert all(file[name].nbytes <= len(whole) for name in file)
            continue
        refused += 1
    assert refused > 150


def refused(
    example: Mapping[str, ModuleType], path: Path, whole: bytes, at: int, value: bytes, message: str
) -> None:
    """Write a file with other bytes at a place, and read it."""
    path.write_bytes(whole[:at] + value + whole[at + len(value) :])
    with pytest.raises(GaweeError, match=message):
        example["gguf_file"].GgufFile(path)


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (0, b"GGML", "byte 0: error: expected a file that begins with GGUF"),
        (4, b"\x09\0\0\0", "byte 4: error: expected version 2 or 3, got 9"),
        (8, b"\xff" * 8, "error: expected .* more bytes, got"),
        (16, b"\xff" * 8, "error: expected .* more bytes, got"),
        (24, b"\xff" * 8, "byte 32: error: expected 18446744073709551615 more bytes, got"),
    ],
)
def test_what_is_wrong_in_the_head_is_said(
    offset: int,
    value: bytes,
    message: str,
    example: Mapping[str, ModuleType],
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.gguf"
    refused(example, path, small_file(example, path), offset, value, message)


def test_tensors_that_are_not_read_are_said(
    example: Mapping[str, ModuleType], tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    whole = small_file(example, path)
    place = whole.index(b"q8_0") + 4  # axes, two sizes, type, offset
    kind = place + 4 + 16
    for at, value, message in (
        (kind, (11).to_bytes(4, "little"), "unsupported type 11 of tensor 'q8_0'; supported: 0"),
        (kind + 4, (1 << 40).to_bytes(8, "little"), "tensor 'q8_0': expected its 816 bytes in a"),
        (place + 4, (40).to_bytes(8, "little"), "expected rows of whole blocks of 32, got shape"),
        (place, (9).to_bytes(4, "little"), "expected at most 4 axes, got 9"),
    ):
        refused(example, path, whole, at, value, message)


def test_the_package_gguf_reads_what_is_written(
    example: Mapping[str, ModuleType], tmp_path: Path
) -> None:
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "model.gguf"
    small_file(example, path)
    ours, theirs = example["gguf_file"].GgufFile(path), gguf.GGUFReader(path)
    widened = example["quantization"].widened
    assert [each.name for each in theirs.tensors] == list(STORED)
    for tensor in theirs.tensors:
        name = tensor.name
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if name in ours:
            np.testing.assert_array_equal(ours[name].astype(np.float32), expected)
            continue
        quantization = example["quantization"]
        parts = quantization.parts_of(name, ours.blocks(name))
        if name.endswith("k"):  # scales of 6 bits are multiplied out, and rounded once
            close = 1e-6 * np.abs(expected).max()
            assert_allclose(widened(parts), expected, rtol=0, atol=close)
            continue
        np.testing.assert_array_equal(widened(parts), expected)
        values = np.random.default_rng(1).standard_normal((5, 64)).astype(np.float32)
        theirs_of = gguf.quants.quantize(values, gguf.GGMLQuantizationType[name.upper()])
        own = quantization.quantized(name, values)
        np.testing.assert_array_equal(own.reshape(theirs_of.shape), theirs_of)
    assert ours.metadata["words"] == ["a", "", "bc"]


def half_at(block: Sequence[int], at: int) -> float:
    """Return the number of two bytes."""
    return float(np.array(block[at : at + 2], np.uint8).view(np.float16)[0])


def numbers_of(dtype: str, block: Sequence[int]) -> list[float]:
    """Return the numbers of a block, one after the other, by the layout of its bytes."""
    if dtype == "q8_0":
        return [half_at(block, 0) * (each - 256 * (each > 127)) for each in block[2:]]
    if dtype == "q4_0":
        levels = [*(each % 16 for each in block[2:]), *(each // 16 for each in block[2:])]
        return [half_at(block, 0) * (each - 8) for each in levels]
    made = list[float]()
    for at in range(256):
        if dtype == "q4_k":
            run, pair, place = at // 32, at // 64, at % 32
            byte = block[16 + 32 * pair + place]
            level = byte // 16 if run % 2 else byte % 16
            packed = block[4:16]
            if run < 4:
                scale, least = packed[run] % 64, packed[run + 4] % 64
            else:
                scale = packed[run + 4] % 16 + packed[run - 4] // 64 * 16
                least = packed[run + 4] // 16 + packed[run] // 64 * 16
            made.append(half_at(block, 0) * scale * level - half_at(block, 2) * least)
        else:
            half, quarter, place = at // 128, at // 32 % 4, at % 32
            byte = block[64 * half + 32 * (quarter % 2) + place]
            low = byte // 16 if quarter >= 2 else byte % 16
            high = block[128 + 32 * half + place] // 4**quarter % 4
            scale = block[192 + at // 16]
            scale -= 256 * (scale > 127)
            made.append(half_at(block, 208) * scale * (low + 16 * high - 32))
    return made


@pytest.mark.parametrize("dtype", ["q8_0", "q4_0", "q4_k", "q6_k"])
def test_blocks_stand_for_what_the_format_says(
    dtype: str, example: Mapping[str, ModuleType]
) -> None:
    quantization = example["quantization"]
    blocks = np.random.default_rng(4).integers(0, 256, (3, 2, quantization.BLOCKS[dtype][1]))
    blocks = blocks.astype(np.uint8)
    for at in (0, 2, blocks.shape[2] - 2):  # where floats may lie: small ones
        blocks[..., at + 1] = 0x2F
    made = quantization.widened(quantization.parts_of(dtype, blocks))
    expected = [[*map(float, numbers_of(dtype, each.tolist()))] for row in blocks for each in row]
    expected = np.reshape(expected, made.shape)
    # Scales of 6 bits are multiplied out in f32, and so are offsets.
    assert_allclose(made, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", ["q8_0", "q4_0", "q4_k", "q6_k"])
def test_a_product_with_blocks_is_that_of_the_numbers_they_stand_for(
    dtype: str, example: Mapping[str, ModuleType]
) -> None:
    quantization, random = example["quantization"], np.random.default_rng(7)
    values, x = (random.standard_normal((n, 512)).astype(np.float32) for n in (11, 3))
    blocks = quantization.quantized(dtype, values)
    function = EntryFunction()
    rows = function.add_argument(ArgumentKind.INPUT, "x", TensorType(f32, x.shape))
    weight = example["weights"].weight_of(function, "w", dtype, values.shape)
    module = function.module([weight.product(rows, 0, 11, None)], ["y"])
    parts = {f"w{part}": each for part, each in quantization.parts_of(dtype, blocks).items()}

    made = Model(module, parts).compile(ONE_THREAD)(x)

    numbers = [[n for block in row for n in numbers_of(dtype, block)] for row in blocks.tolist()]
    expected = x.astype(np.float64) @ np.array(numbers).T
    assert_allclose(made, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", ["q8_0", "q4_0", "q4_k", "q6_k"])
def test_numbers_are_near_the_blocks_that_are_made_of_them(
    dtype: str, example: Mapping[str, ModuleType]
) -> None:
    quantization = example["quantization"]
    values = np.random.default_rng(5).standard_normal((4, 512)).astype(np.float32)
    values[0] = 0
    near = quantization.widened(quantization.parts_of(dtype, quantization.quantized(dtype, values)))
    # Half of a step of the greatest number of a block, and what scales of 6 bits are off by.
    steps = {"q8_0": 127, "q4_0": 8, "q4_k": 7.5, "q6_k": 31}[dtype]
    assert np.abs(near - values).max() < 1.1 * np.abs(values).max() / steps
    assert not near[0].any()


STEP: Mapping[str, Any] = {
    **{"model_type": "llama", "hidden_size": 32, "intermediate_size": 32, "vocab_size": 20},
    **{"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1},
    "rms_norm_eps": 1e-5,
}
"""A network whose steps are small enough to be computed exactly, in whole blocks."""
LENGTH = 17
"""Tokens before the step: a group of the cache that is full, and one that has begun."""


def decode_step(
    example: Mapping[str, ModuleType], dtype: str, monkeypatch: pytest.MonkeyPatch, layers: int = 1
) -> tuple[Model, Mapping[str, np.ndarray]]:
    """Return the graph of a network with weights, open in its sizes, and the inputs of one step."""
    networks = example["random_weights"]
    monkeypatch.setitem(networks.SIZES, "step", {**STEP, "num_hidden_layers": layers})
    config, weights = networks.random_network("step", dtype)
    stored = {name: "float32" if "norm" in name else dtype for name in networks.shapes_of(config)}
    module = example["decoder"].Decoder(config, stored.__getitem__, 2, 4).module()
    random = np.random.default_rng(2)
    inputs = {
        "tokens": np.array([5]),
        "positions": np.array([LENGTH]),
        "sequences": np.array([3]),
        "wanted": np.array([0]),
        "cached_positions": np.arange(32).reshape(2, 16),
        "cached_sequences": np.where(np.arange(32) < LENGTH, 3, -1).reshape(2, 16),
        "keys.0": random.standard_normal((2, 1, 16, 16)).astype(np.float32),
        "values.0": random.standard_normal((2, 1, 16, 16)).astype(np.float32),
    }
    return Model(module, weights), inputs


def test_keys_and_values_are_read_where_they_lie(
    example: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = decode_step(example, "float32", monkeypatch)
    kernels = model.lowered(Level.KERNELS, ONE_THREAD)
    (main,) = (each for each in kernels.ops if isinstance(each, FuncOp) and is_main(each))
    cached = [each for each in main.args if (each.name_hint or "") in ("keys", "values")]
    assert len(cached) == 2
    for each in cached:
        readers = [use.operation for use in each.uses if not isinstance(use.operation, DimOp)]
        kinds = [kernel_kind(reader) for reader in readers if isinstance(reader, KernelOp)]
        assert kinds == [KernelKind.MATMUL]
        assert len(readers) == 1


def is_main(function: FuncOp) -> bool:
    return function.sym_name.data == "main"


def test_the_report_of_a_step_with_its_cache_counts_its_products(
    example: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, inputs = decode_step(example, "float32", monkeypatch)
    report = model.report(options=ONE_THREAD, inputs=inputs)
    assert report.profile is not None
    counted = sum(0 if each.work is None else each.work.flops for each in report.profile)
    weights = sum(each.size for each in dict(model.parameters).values() if each.ndim == 2)
    tables = 20 * 32  # of the embedding, of which one row is read
    cache = 2 * 2 * 32 * 16  # two queries, 32 keys and values of 16
    assert counted > 2 * (weights - tables + cache)
    assert "16 * groups" in str(report.to_json())


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("dtype", mostly_full(["float32", "q4_0", "q8_0", "bfloat16"]))
def test_each_pass_of_a_step_with_its_cache_is_checked_and_proved(
    dtype: str, example: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of some types the table and the last product alone: a layer around them takes most of the time.
    layers = 1 if dtype in ("float32", "q4_0") else 0
    model, inputs = decode_step(example, dtype, monkeypatch, layers)
    module = model.for_inputs(inputs).module
    checked, proofs = CheckEach(), (ProveEach(), ProveEach())
    to_loops, to_llvm = ([checked, each] for each in proofs)
    for instruments, passes in (
        (to_loops, "gawee-to-kernels{num-threads=1},gawee-kernels-to-loops"),
        ([checked], "expand-math"),  # whose polynomials are no exact meaning
        (to_llvm, "convert-to-llvm{target=znver5}"),
    ):
        with instrumented(*instruments):
            run_passes(make_context(), module, parse_passes(passes, all_passes()))
    assert len(checked.steps) > 20
    assert [step.name for step in checked.steps if not step.is_checked] == []
    looks_up = dtype == "q4_0" and find_processor("host").vector_bits == 512
    assert ("llvm.x86.avx512.permvar" in str(module)) == looks_up
    assert [each.steps[-1].name for each in proofs] == [checked.steps[-3].name, "convert-to-llvm"]
    open_ones = unproved(proofs[0]) | unproved(proofs[1])
    if dtype == "bfloat16":  # whose bits machine code shifts
        assert all("no exact meaning of the bits of bf16" in note for note in open_ones.values())
        return
    assert open_ones == {}
