"""What ops are called with: arrays of a shape, made when they are needed."""

import numpy as np

from benchmarks.ops.case import Array, Operand


def normal(*shape: int) -> Operand:
    """Numbers around zero, f32."""
    return lambda random: random.standard_normal(shape, np.float32)


def positive(*shape: int) -> Operand:
    """Numbers from 0.1 to 2.1, f32."""

    def make(random: np.random.Generator) -> Array:
        return random.random(shape, np.float32) * np.float32(2) + np.float32(0.1)

    return make


def unit(*shape: int) -> Operand:
    """Numbers from -1 to 1, f32."""

    def make(random: np.random.Generator) -> Array:
        return random.random(shape, np.float32) * np.float32(2) - np.float32(1)

    return make


def whole(high: int, *shape: int) -> Operand:
    """Whole numbers from 0 to below a limit, i64."""
    return lambda random: random.integers(0, high, shape)


def small_whole(*shape: int) -> Operand:
    """Whole numbers of 32 bits."""
    return lambda random: random.integers(-999, 999, shape, np.int32)


def flags(*shape: int) -> Operand:
    """Truth values, half of them true."""
    return lambda random: random.random(shape) < 0.5


def orders(rows: int, size: int) -> Operand:
    """A permutation in each row, i64."""
    return lambda random: random.permuted(np.tile(np.arange(size), (rows, 1)), axis=1)
