"""The constants of the format, which descriptions name and C expressions compare with."""

from collections.abc import Mapping
from types import MappingProxyType

from xdsl.dialects.builtin import IntegerType, Signedness, f32, f64, i1, i8, i16, i32
from xdsl.ir import Attribute

DEFAULT_DIALECT = "lightnet"

ARCHS = ("none", "cpu", "cuda", "cudnn", "tensorrt", "dpu")
MTYPES = ("LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA", "LN_MEM_DPU")
PTYPES = (
    "LN_PARAM_NULL",
    "LN_PARAM_STRING",
    "LN_PARAM_NUMBER",
    "LN_PARAM_BOOL",
    "LN_PARAM_ARRAY_STRING",
    "LN_PARAM_ARRAY_NUMBER",
    "LN_PARAM_ARRAY_BOOL",
)
REALTYPES = ("float", "double", "int")

DTYPES: Mapping[str, Attribute] = MappingProxyType(
    {
        "TL_DOUBLE": f64,
        "TL_FLOAT": f32,
        "TL_INT32": i32,
        "TL_INT16": i16,
        "TL_INT8": i8,
        "TL_UINT32": IntegerType(32, Signedness.UNSIGNED),
        "TL_UINT16": IntegerType(16, Signedness.UNSIGNED),
        "TL_UINT8": IntegerType(8, Signedness.UNSIGNED),
        "TL_BOOL": i1,
    }
)
"""Element types by the name of their constant, whose value is its position."""

ELEW_OPS = ("TL_MUL", "TL_DIV", "TL_SUM", "TL_SUB", "TL_MAX", "TL_MIN", "TL_POW")
RESIZE_TYPES = ("TL_NEAREST", "TL_LINEAR")
SORT_DIRS = ("TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING")

FROM_FUNCS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tl_dtype_from_str": tuple(DTYPES),
        "tl_elew_op_from_str": ELEW_OPS,
        "tl_resize_type_from_str": RESIZE_TYPES,
        "tl_sort_dir_from_str": SORT_DIRS,
    }
)
"""Functions from the name of a constant to its value, and the constants that each has."""

CONSTANTS: Mapping[str, int] = MappingProxyType(
    {
        name: value
        for names in (MTYPES, PTYPES, *FROM_FUNCS.values())
        for value, name in enumerate(names)
    }
)
"""Every enum constant and its value."""

UNKNOWN = -1
"""What a function of `FROM_FUNCS` returns for an unknown text."""


def from_text(function: str, text: str) -> int:
    """Return the value of the constant that a text names, -1 for none."""
    names = FROM_FUNCS[function]
    return names.index(text) if text in names else UNKNOWN


def dtype_name(element: Attribute) -> str | None:
    """Return the constant of an element type, None where there is none."""
    return next((name for name, known in DTYPES.items() if known == element), None)
