"""The example that generates text: its tokens are those of transformers, from one compilation."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gawee_dialect import CodeOptions, GaweeError
from gawee_dialect.parameters.store import MemoryStore, ParameterStore
from tests.closeness import assert_allclose
from tests.effort import mostly_full

FOLDER = Path(__file__).parent.parent / "examples" / "llm"
ONE_THREAD = CodeOptions(num_threads=1)

TINY: Mapping[str, Any] = {
    "vocab_size": 199,
    "hidden_size": 48,
    "num_hidden_layers": 2,
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
NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "llama": {"tie_word_embeddings": True, "rope_parameters": LLAMA3},
    "mistral": {"sliding_window": 24},
    "qwen2": {},
    "granite": {
        **{"embedding_multiplier": 3.0, "attention_multiplier": 0.4},
        **{"residual_multiplier": 0.6, "logits_scaling": 2.0},
    },
    "qwen3": {"tie_word_embeddings": True},
    "olmo2": {},
    "phi3": {"sliding_window": None},
    "smollm3": {"num_hidden_layers": 4, "use_sliding_window": False},
    "gemma3_text": {
        **{"sliding_window": 16, "num_hidden_layers": 3, "query_pre_attn_scalar": 12},
        **{"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
        "tie_word_embeddings": False,  # else each token is followed by itself
    },
    "helium": {},
}


@pytest.fixture(scope="module")
def example() -> Iterator[Mapping[str, ModuleType]]:
    """Import the files of the example, which import each other by name."""
    pytest.importorskip("ml_dtypes")
    names = ("config", "decoder", "sampling", "generation", "random_weights")
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)


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


@pytest.mark.parametrize("architecture", mostly_full(list(NETWORKS)))
def test_two_hundred_tokens_are_those_of_transformers(
    architecture: str, example: Mapping[str, ModuleType]
) -> None:
    network = network_of(architecture)
    import torch

    config = example["config"].config_of(network.config.to_dict())
    model = example["generation"].TextModel(config, weights_of(network), 256, ONE_THREAD)
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


def test_a_thousand_tokens_are_of_one_compilation(
    example: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gawee_dialect.backend import jit

    config, weights = example["random_weights"].random_network("tiny")
    model = example["generation"].TextModel(config, weights, 1000, ONE_THREAD)
    code = jit.NativeModule.__init__

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("code was made")

    assert code is not refuse
    monkeypatch.setattr(jit.NativeModule, "__init__", refuse)
    made = list(model.generate([1], 1000))
    assert len(made) == model.length == 1000


def test_a_prompt_in_parts_has_the_scores_of_one_that_is_whole(
    example: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, weights = example["random_weights"].random_network("tiny")
    prompt = np.random.default_rng(1).integers(0, config.vocabulary, 50).tolist()
    whole = example["generation"].TextModel(config, weights, 64, ONE_THREAD).scores(prompt)
    monkeypatch.setattr(example["generation"], "MOST_ROWS", 16)
    parts = example["generation"].TextModel(config, weights, 64, ONE_THREAD)
    # The same sums in another order, through two layers.
    assert_allclose(parts.scores(prompt), whole, rtol=0, atol=1e-5 * np.abs(whole).max())
    parts.forget(20)
    assert parts.length == 20
    again = parts.scores(prompt[20:])
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


def test_a_seed_gives_the_same_text(example: Mapping[str, ModuleType]) -> None:
    config, weights = example["random_weights"].random_network("tiny")
    model = example["generation"].TextModel(config, weights, 64, ONE_THREAD)
    sampling = example["sampling"].Sampling(temperature=1.0)

    def text(seed: int) -> list[int]:
        model.forget()
        return list(model.generate([7], 30, sampling, seed))

    assert text(1) == text(1) != text(2)


def test_what_cannot_be_made_is_an_error(example: Mapping[str, ModuleType], tmp_path: Path) -> None:
    config, weights = example["random_weights"].random_network("tiny")
    model = example["generation"].TextModel(config, weights, 8, ONE_THREAD)
    with pytest.raises(GaweeError, match="expected at most 8 tokens, got 9"):
        model.scores(list(range(9)))
    with pytest.raises(GaweeError, match="expected at least one token, got none"):
        model.scores([])
    with pytest.raises(GaweeError, match="index 300 is out of bounds"):
        model.scores([300])
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


def test_the_command_reads_a_folder(example: Mapping[str, ModuleType], tmp_path: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    config, weights = example["random_weights"].random_network("tiny")
    (tmp_path / "config.json").write_text(json.dumps(network_options(example)))
    numpy_files.save_file(dict(weights), tmp_path / "model.safetensors")
    command = [sys.executable, str(FOLDER / "generate.py"), str(tmp_path), "--tokens", "7,8"]
    done = subprocess.run(
        [*command, "--count", "12", "--threads", "1"], capture_output=True, text=True, check=True
    )
    model = example["generation"].TextModel(config, weights, 2048, ONE_THREAD)
    assert [int(each) for each in done.stdout.split()] == list(model.generate([7, 8], 12))
    assert "tokens/s" in done.stderr
    failed = subprocess.run(
        [*command[:2], "nowhere", "--tokens", "1"], capture_output=True, text=True
    )
    assert failed.returncode == 1
    assert failed.stderr.startswith("error: cannot read 'nowhere/config.json'")
