"""The example that generates text: its tokens are those of transformers, from one compilation."""

import importlib
import json
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
    },
    "helium": {},
}


@pytest.fixture(scope="module")
def example() -> Iterator[Mapping[str, ModuleType]]:
    """Import the files of the example, which import each other by name."""
    pytest.importorskip("ml_dtypes")
    names = ("config", "decoder", "sampling", "generation")
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
