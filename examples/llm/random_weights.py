"""Networks of known sizes with seeded random weights, for where weights cannot be had."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from config import Config, config_of
from decoder import shapes_of
from numpy.typing import NDArray
from quantization import stored_as

from gawee_dialect.parameters.store import MemoryStore

SIZES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {
        **{"model_type": "llama", "hidden_size": 64, "intermediate_size": 160, "vocab_size": 300},
        **{"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
        **{"rms_norm_eps": 1e-5},
    },
    "smollm2-135m": {
        **{"model_type": "llama", "hidden_size": 576, "intermediate_size": 1536},
        **{"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3},
        **{"vocab_size": 49152, "rms_norm_eps": 1e-5, "rope_theta": 1e5},
        "tie_word_embeddings": True,
    },
    "llama-3.2-1b": {
        **{"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192},
        **{"num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8},
        **{"vocab_size": 128256, "rms_norm_eps": 1e-5, "rope_theta": 5e5},
        "tie_word_embeddings": True,
        "rope_scaling": {
            **{"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0},
            **{"high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
        },
    },
    "qwen3-0.6b": {
        **{"model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072},
        **{"num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8},
        **{"vocab_size": 151936, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "head_dim": 128},
        "tie_word_embeddings": True,
    },
}


def random_network(name: str, dtype: str = "float32", seed: int = 0) -> tuple[Config, MemoryStore]:
    """Return the sizes of a network and weights: normal ones, and ones for norms.

    `dtype` is how they are stored: `float32`, `bfloat16`, `q8_0`, ...
    """
    config = config_of(SIZES[name])
    arrays = dict[str, np.ndarray]()
    for weight, values in random_values(config, seed):
        arrays |= stored_as(dtype, weight, values)
    return config, MemoryStore(arrays)


def random_values(config: Config, seed: int = 0) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the names of weights with normal numbers, and ones for norms."""
    random = np.random.default_rng(seed)
    for weight, shape in shapes_of(config).items():
        scale = 1 / np.sqrt(shape[-1]) if len(shape) > 1 else 0
        values = random.standard_normal(shape, np.float32) * np.float32(scale)
        yield weight, values + (len(shape) == 1)
