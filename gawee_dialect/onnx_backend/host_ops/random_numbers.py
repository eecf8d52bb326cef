"""Random numbers: those of a seed are the same every time; which ones, ONNX does not say."""

from collections.abc import Sequence

import numpy as np

from gawee_dialect.frontends.onnx.held_types import HELD, array_of_held, dtype_of_code
from gawee_dialect.onnx_backend.host_ops.registry import host_op
from gawee_dialect.onnx_backend.values import Array


def _generator(seed: float | None) -> np.random.RandomState:
    return np.random.RandomState(None if seed is None else int(seed))


def _as(numbers: Array, code: int) -> Array:
    dtype = dtype_of_code(code)
    return array_of_held(numbers, dtype) if dtype in HELD else numbers.astype(dtype)


@host_op("RandomNormal")
def random_normal(
    shape: Sequence[int],
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Array:
    """Numbers of a normal distribution"""
    return _as(_generator(seed).normal(mean, scale, tuple(shape)), dtype)


@host_op("RandomUniform")
def random_uniform(
    shape: Sequence[int],
    dtype: int = 1,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
) -> Array:
    """Numbers between two others, all as likely"""
    return _as(_generator(seed).uniform(low, high, tuple(shape)), dtype)


@host_op("RandomNormalLike")
def random_normal_like(
    input: Array,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Array:
    """Numbers of a normal distribution, in the shape of a tensor"""
    numbers = _generator(seed).normal(mean, scale, input.shape)
    return numbers.astype(input.dtype) if dtype is None else _as(numbers, dtype)


@host_op("RandomUniformLike")
def random_uniform_like(
    input: Array,
    dtype: int | None = None,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
) -> Array:
    """Numbers between two others, in the shape of a tensor"""
    numbers = _generator(seed).uniform(low, high, input.shape)
    return numbers.astype(input.dtype) if dtype is None else _as(numbers, dtype)


@host_op("Bernoulli")
def bernoulli(input: Array, dtype: int | None = None, seed: float | None = None) -> Array:
    """One with the probability that each element is, else zero"""
    drawn: Array = np.less(_generator(seed).uniform(size=input.shape), input)
    return drawn.astype(input.dtype) if dtype is None else _as(drawn, dtype)


@host_op("Multinomial")
def multinomial(
    input: Array, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> Array:
    """Classes drawn by logarithms of their probabilities, which need not add up to 1"""
    noise = _generator(seed).gumbel(size=(input.shape[0], sample_size, input.shape[1]))
    return _as(np.argmax(np.add(input[:, None, :], noise), axis=2), dtype)


@host_op("Dropout")
def dropout(
    data: Array,
    ratio: Array | None = None,
    training_mode: Array | None = None,
    seed: int | None = None,
) -> tuple[Array, Array]:
    """Elements that are dropped at random in training; the others are scaled by what is kept"""
    part = 0.5 if ratio is None else float(ratio.item())
    if training_mode is None or not training_mode.item() or part == 0:
        return data, np.ones(data.shape, bool)
    kept = _generator(seed).uniform(size=data.shape) >= part
    return np.multiply(data, kept / (1 - part)).astype(data.dtype), kept
