"""The C header and the JSON manifest of an exported network."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from string import Template

from gawee_dialect.backend.c_entry import CInterface
from gawee_dialect.backend.memory import CACHE_LINE
from gawee_dialect.backend.signature import Buffer
from gawee_dialect.backend.weights_file import HEAD, LOADER, MAGIC, MEMORY, VERSION
from gawee_dialect.dialect.types import shape_text

C_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "uint16_t",  # C has no portable half type: the bits
    "bfloat16": "uint16_t",
    "int64": "int64_t",
    "int32": "int32_t",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint16": "uint16_t",
    "uint8": "uint8_t",
    "bool": "uint8_t",
}
"""The C type of an array's elements, by NumPy's name."""

HEADER = """\
/* ${name}: a network compiled by gawee. Every function may be called from any thread; calls that
   run at the same time need a workspace each. */
#ifndef ${NAME}_H
#define ${NAME}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch memory that a run needs; its address must be a multiple of ${alignment}. */
size_t ${name}_workspace_size(void);

/* Bytes of weights that a run reads; their address must be a multiple of ${alignment}. */
size_t ${name}_weights_size(void);

/* Which weights fit: those of ${name}.weights.bin that was written together with this code. */
uint64_t ${name}_weights_id(void);

/* Compute the outputs from the inputs; the arrays are dense, in C order, and may not overlap.
${arrays}
   Returns 0, or the number of the check that failed: outputs are not specified then.${checks} */
int ${name}_run(${arguments});

#ifndef ${NAME}_NO_LOADER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

${loader}#endif

#ifdef __cplusplus
}
#endif

#endif
"""


def _inputs(interface: CInterface) -> list[str]:
    return [
        f"{C_TYPES[buffer.dtype.name]} {name}"
        if buffer.index in interface.scalars
        else f"const {C_TYPES[buffer.dtype.name]} *{name}"
        for name, buffer in interface.inputs
    ]


def _comments(arrays: Iterable[tuple[str, Buffer]], direction: str) -> list[str]:
    return [f"   {array_text(name, buffer, direction)}" for name, buffer in arrays]


def array_text(name: str, buffer: Buffer, direction: str = "") -> str:
    """Return what an array is: `x: input, 5x7 float32`."""
    shape = shape_text(buffer.shape)
    return f"{name}: " + ", ".join(filter(None, (direction, f"{shape} {buffer.dtype.name}")))


def header_text(interface: CInterface) -> str:
    """Return the C header that declares the entry points, and defines what loads the weights."""
    arguments = [
        *_inputs(interface),
        *(f"{C_TYPES[buffer.dtype.name]} *{name}" for name, buffer in interface.outputs),
        "const void *weights",
        "void *workspace",
    ]
    loader = MEMORY + LOADER if interface.weights else MEMORY
    names = {
        "name": interface.name,
        "NAME": interface.name.upper(),
        "alignment": str(CACHE_LINE),
        "head": str(HEAD.size),
        "magic": MAGIC.decode(),
        "version": str(VERSION),
    }
    return Template(HEADER).substitute(
        names,
        arrays="\n".join(
            [*_comments(interface.inputs, "input"), *_comments(interface.outputs, "output")]
        ),
        arguments=", ".join(arguments),
        checks=_checks(interface),
        loader=Template(loader).substitute(names),
    )


def _checks(interface: CInterface) -> str:
    texts = (check.text.replace("*/", "* /") for check in interface.index_checks)
    return "".join(f"\n   {number}: {text}" for number, text in enumerate(texts, 1))


def _described(buffer: Buffer) -> dict[str, object]:
    return {"name": buffer.name, "shape": list(buffer.shape), "dtype": buffer.dtype.name}


def manifest_text(
    interface: CInterface,
    target: dict[str, str],
    weights_file: str | None,
    link_flags: Sequence[str],
) -> str:
    """Return the JSON manifest: names, shapes, element types, offsets, sizes and target."""
    manifest: dict[str, object] = {
        "name": interface.name,
        "run": f"{interface.name}_run",
        "target": target,
        "link_flags": list(link_flags),
        "alignment": CACHE_LINE,
        "workspace_size": interface.workspace_size,
        "weights_size": interface.weights_size,
        "weights_file": weights_file,
        "weights_start": HEAD.size,
        "weights_id": f"{interface.weights_id:016x}",
        "inputs": [{"c_name": name, **_described(buffer)} for name, buffer in interface.inputs],
        "outputs": [{"c_name": name, **_described(buffer)} for name, buffer in interface.outputs],
        "weights": [
            {**_described(buffer), "role": buffer.role, "offset": offset, "size": buffer.size}
            for offset, buffer in interface.weights
        ],
        "checks": [
            {"status": number, **asdict(check)}
            for number, check in enumerate(interface.index_checks, 1)
        ],
    }
    return json.dumps(manifest, indent=2) + "\n"
