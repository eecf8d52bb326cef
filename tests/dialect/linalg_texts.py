"""Functions of linalg ops as text: each op on small operands of odd, all different sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.upstream.linalg.named_ops import NAMED_OPS, WINDOW_OF, index_maps

SIZES = {
    **{"b": 3, "m": 5, "n": 2, "k": 4, "a": 2, "e": 3, "g": 3, "f": 5, "c": 4},
    **{"d": 3, "h": 4, "w": 5, "z": 2, "y": 3, "x": 2},
}
"""How many iterations each loop has."""

STRIDES, DILATIONS = (2, 1, 3), (1, 2, 1)
DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "i1": "bool",
    "i8": "int8",
    "i32": "int32",
}

AnyArray = NDArray[np.generic]


@dataclass(frozen=True)
class Call:
    """An op in a function: its text with `{ins}`-like names, and the types of what it takes."""

    text: str
    operands: Sequence[str]
    result: str


def tensor(shape: Sequence[int], element: str) -> str:
    """Return the text of a tensor type; of a scalar, where the shape is None."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def shapes_of(name: str) -> tuple[list[tuple[int, ...] | None], Sequence[int], Sequence[int]]:
    """Return the shapes of an op's operands, None for scalars, and its strides and dilations."""
    row = NAMED_OPS[name]
    if "..." in row.reads:
        operands = row.reads.replace("->", ",").split(",")
        return [(3, 5) if each else None for each in operands], (), ()
    first = row.reads.split(",")[0]
    axes = sum(letter in WINDOW_OF for letter in first) if row.slides else 0
    strides, dilations = STRIDES[:axes], DILATIONS[:axes]
    inputs, output = row.reads.split("->")
    operands = [*inputs.split(","), output]
    window = operands[1] if len(operands) > 1 else ""
    loops = "".join(dict.fromkeys(output + window + operands[0]))
    last = [SIZES[letter] - 1 for letter in loops]
    maps = index_maps(row.reads, 0, strides, dilations)
    scalars = [
        not letters and number < len(operands) - 1 for number, letters in enumerate(operands)
    ]
    return (
        [
            None if scalar else tuple(index + 1 for index in map.eval(last, []))
            for map, scalar in zip(maps, scalars, strict=True)
        ],
        strides,
        dilations,
    )


def named_call(name: str, elements: Sequence[str]) -> Call:
    """Return a call of a named op; `elements` are those of its operands, the output last."""
    shapes, strides, dilations = shapes_of(name)
    attributes = ""
    if strides:
        type = f"tensor<{len(strides)}xi64>"
        attributes = (
            f" {{dilations = dense<{list(dilations)}> : {type}, "
            f"strides = dense<{list(strides)}> : {type}}}"
        )
    types = [
        element if shape is None else tensor(shape, element)
        for shape, element in zip(shapes, elements, strict=True)
    ]
    *inputs, output = types
    ins = f"ins({', '.join(f'%{i}' for i in range(len(inputs)))} : {', '.join(inputs)})"
    out = f"outs(%{len(inputs)} : {output})"
    return Call(f"linalg.{name}{attributes} {ins} {out} -> {output}", types, output)


def module_text(calls: Sequence[Call]) -> str:
    """Return a module whose `@main` makes every call on arguments of its own."""
    arguments: list[str] = []
    lines: list[str] = []
    for number, call in enumerate(calls):
        first = len(arguments)
        text = call.text
        for index in reversed(range(len(call.operands))):
            text = text.replace(f"%{index} ", f"%a{first + index} ")
            text = text.replace(f"%{index},", f"%a{first + index},")
        for index, type in enumerate(call.operands):
            if not type.startswith("tensor"):  # a scalar: upstream's interface takes memrefs
                number_text = "1.5" if type.startswith("f") else "3"
                lines.append(f"  %a{first + index} = arith.constant {number_text} : {type}")
        arguments += call.operands
        lines.append(f"  %r{number} = {text}")
    results = ", ".join(call.result for call in calls)
    returned = ", ".join(f"%r{number}" for number in range(len(calls)))
    signature = ", ".join(
        f"%a{number}: {type}" for number, type in enumerate(arguments) if type.startswith("tensor")
    )
    head = f"func.func @main({signature}) -> ({results}) {{"
    return "\n".join([head, *lines, f"  return {returned} : {results}", "}"]) + "\n"


def arrays_for(calls: Sequence[Call], seed: int = 0) -> list[AnyArray]:
    """Return an array for every argument of `@main`: floats from 0.5 to 2, small integers."""
    generator = np.random.default_rng(seed)
    types = [type for call in calls for type in call.operands if type.startswith("tensor")]
    return [_array(type, generator) for type in types]


def _array(type: str, generator: np.random.Generator) -> AnyArray:
    *sizes, element = type.removeprefix("tensor<").removesuffix(">").split("x")
    shape, dtype = tuple(map(int, sizes)), np.dtype(DTYPES[element])
    if dtype.kind == "f" or element == "bf16":
        return np.asarray(generator.uniform(0.5, 2, shape)).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, shape)).astype(dtype)
    magnitudes = generator.integers(1, 50, shape)
    return np.asarray(magnitudes * generator.choice((-1, 1), shape)).astype(dtype)
