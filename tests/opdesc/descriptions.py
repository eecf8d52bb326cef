"""Small descriptions for tests, as Python values that a test changes and writes as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"


def tensor(arg_name: str = "src", **fields: Json) -> dict[str, Json]:
    return {"arg_name": arg_name, "mtype": "LN_MEM_NONE", **fields}


def output(arg_name: str = "dst", **fields: Json) -> dict[str, Json]:
    shape: dict[str, Json] = {"ndim": "src->ndim", "dims": "src->dims", "dtype": "src->dtype"}
    return {"arg_name": arg_name, "mtype": "LN_MEM_NONE", **(shape | fields)}


def number(arg_name: str, realtype: str = "int", **fields: Json) -> dict[str, Json]:
    return {
        "arg_name": arg_name,
        "ptype": "LN_PARAM_NUMBER",
        "realtype": realtype,
        **fields,
    }


def array(arg_name: str, realtype: str = "int", **fields: Json) -> dict[str, Json]:
    return number(arg_name, realtype, **fields) | {"ptype": "LN_PARAM_ARRAY_NUMBER"}


def string(arg_name: str, **fields: Json) -> dict[str, Json]:
    return {"arg_name": arg_name, "ptype": "LN_PARAM_STRING", **fields}


def operator(optype: str = "probe", **fields: Json) -> dict[str, Json]:
    shell: dict[str, Json] = {
        "optype": optype,
        "author": "a test",
        "arch": "none",
        "tensors_in": [tensor()],
        "tensors_out": [output()],
        "params": [],
    }
    return shell | fields


def text(*operators: dict[str, Json]) -> str:
    return json.dumps({"ops": list(operators)}, indent=1)
