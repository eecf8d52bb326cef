"""Small JAX functions of our own, one for each of the ways in which JAX's programs become linalg."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A function, and the shapes and dtypes of what it takes."""

    function: Callable[..., object]
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    largest: int = 8
    """Integers are from 0 up to this."""

    def arrays(self, seed: int = 0) -> list[Array]:
        """Draw the inputs."""
        generator = np.random.default_rng(seed)
        return [self._array(generator, shape, dtype) for shape, dtype in self.inputs]

    def _array(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
        if dtype == "bool":
            return np.asarray(generator.random(shape) < 0.5)
        if dtype.startswith(("int", "uint")):
            return np.asarray(generator.integers(0, self.largest, shape), dtype)
        return np.asarray(generator.standard_normal(shape)).astype(jnp.dtype(dtype))


def _case(
    function: Callable[..., object], *shapes: tuple[int, ...], dtype: str = "float32"
) -> Case:
    """Take shapes, all of one dtype."""
    return Case(function, tuple((shape, dtype) for shape in shapes))


def convolution(x, w):
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return jax.nn.relu(y)


def strided_convolution(x, w):
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=numbers)


def depthwise_convolution(x, w):
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=4
    )


def dilated_convolution(x, w):
    return lax.conv_general_dilated(x, w, (1,), "VALID", rhs_dilation=(2,))


def transposed_convolution(x, w):
    return lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9


def perceptron(x, w, b, v):
    return jnp.tanh(x @ w + b) @ v


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    deviation = jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return (x - mean) / deviation * scale + shift


def recurrence(x, h, w, u):
    def step(state, now):
        state = jnp.tanh(now @ w + state @ u)
        return state, state

    return lax.scan(step, h, x)


def gated_recurrence(x, h, w, u):
    def step(state, now):
        z, r, n = jnp.split(now @ w, 3, -1)
        zs, rs, ns = jnp.split(state @ u, 3, -1)
        update = jax.nn.sigmoid(z + zs)
        new = jnp.tanh(n + jax.nn.sigmoid(r + rs) * ns)
        return (1 - update) * new + update * state, None

    return lax.scan(step, h, x, reverse=True)[0]


def newton(x):
    def step(state):
        guess, count = state
        return 0.5 * (guess + x / guess), count + 1

    start = (jnp.ones_like(x), jnp.int32(0))
    return lax.while_loop(lambda state: state[1] < 6, step, start)[0]


def counted(x, n):
    return lax.fori_loop(0, n, lambda i, y: y * 0.5 + i, x)


def branches(x, which):
    return lax.switch(which, [jnp.sin, jnp.cos, lambda y: y * y], x)


def gradient(x, w, b, v):
    return jax.grad(lambda w, v: (perceptron(x, w, b, v) ** 2).mean(), (0, 1))(w, v)


def gradient_of_convolution(x, w):
    return jax.grad(lambda w: convolution(x, w).sum())(w)


def gradient_of_pooling(x):
    return jax.grad(lambda x: (max_pool(x) ** 2).sum())(x)


def gradient_of_attention(q, k, v):
    return jax.grad(lambda q: attention(q, k, v).sum())(q)


def dynamic_slices(x, i):
    part = lax.dynamic_slice(x, (i, 0), (2, 3))
    return lax.dynamic_update_slice(x, part * 2, (0, i))


def integer_product(x, w, scale):
    total = lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return jnp.clip(jnp.round(total.astype(jnp.float32) * scale), -128, 127).astype(jnp.int8)


def softmax_cross_entropy(x, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()


def embedding(table, tokens):
    return table[tokens] @ table.T


def scattered(x, places, updates):
    return x.at[places].add(updates)


def sorted_pairs(x, y):
    return lax.sort((x, y), dimension=1, num_keys=1)


def most_likely(x):
    return jnp.argmax(x, -1), jnp.max(x, -1)


CASES: Mapping[str, Case] = {
    "perceptron": _case(perceptron, (3, 7), (7, 5), (5,), (5, 2)),
    "convolution": _case(convolution, (2, 3, 7, 6), (4, 3, 3, 3)),
    "strided_convolution": _case(strided_convolution, (1, 9, 7, 3), (3, 3, 3, 4)),
    "depthwise_convolution": _case(depthwise_convolution, (1, 6, 5, 4), (3, 3, 1, 4)),
    "dilated_convolution": _case(dilated_convolution, (2, 3, 11), (5, 3, 3)),
    "transposed_convolution": _case(transposed_convolution, (1, 4, 3, 2), (3, 3, 2, 3)),
    "max_pool": _case(max_pool, (2, 6, 4, 3)),
    "average_pool": _case(average_pool, (1, 7, 5, 2)),
    "attention": _case(attention, (1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
    "layer_norm": _case(layer_norm, (2, 5, 6), (6,), (6,)),
    "gelu": _case(lambda x: jax.nn.gelu(x), (3, 5)),
    "recurrence": _case(recurrence, (5, 2, 3), (2, 4), (3, 4), (4, 4)),
    "gated_recurrence": _case(gated_recurrence, (5, 2, 3), (2, 4), (3, 12), (4, 12)),
    "newton": _case(lambda x: newton(jnp.abs(x) + 1), (7,)),
    "counted": Case(counted, (((5,), "float32"), ((), "int32"))),
    "branches": Case(branches, (((5,), "float32"), ((), "int32")), 3),
    "gradient": _case(gradient, (3, 7), (7, 5), (5,), (5, 2)),
    "gradient_of_convolution": _case(gradient_of_convolution, (2, 3, 7, 6), (4, 3, 3, 3)),
    "gradient_of_pooling": _case(gradient_of_pooling, (1, 6, 4, 3)),
    "gradient_of_attention": _case(gradient_of_attention, (1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
    "dynamic_slices": Case(dynamic_slices, (((5, 7), "float32"), ((), "int32")), 3),
    "int8_product": Case(
        integer_product, (((3, 7), "int8"), ((7, 5), "int8"), ((), "float32")), 20
    ),
    "bf16_perceptron": _case(perceptron, (3, 7), (7, 5), (5,), (5, 2), dtype="bfloat16"),
    "f64_layer_norm": _case(layer_norm, (2, 5, 6), (6,), (6,), dtype="float64"),
    "softmax_cross_entropy": Case(softmax_cross_entropy, (((4, 6), "float32"), ((4,), "int32")), 6),
    "sort": _case(sorted_pairs, (3, 11), (3, 11)),
    "cumulative_sum": _case(lambda x: jnp.cumsum(x, 1), (3, 9)),
    "argmax": _case(most_likely, (4, 7)),
    "embedding": Case(embedding, (((9, 4), "float32"), ((2, 5), "int32")), 9),
    "scatter": Case(scattered, (((7, 3), "float32"), ((4,), "int32"), ((4, 3), "float32")), 7),
    "top_k": _case(lambda x: lax.top_k(x, 3), (2, 10)),
}
