"""Write a compiled network as files for C: LLVM IR, assembly, object, shared library, header.

`.ll`, `.s` and `.o` need llvmlite alone; a shared library needs the system's C compiler to link.
Every file is whole or not there.
"""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.c_entry import CInterface, add_c_entry, c_interface
from gawee_dialect.backend.code_generation import emit_assembly, emit_object
from gawee_dialect.backend.code_units import CodeUnit, named_units
from gawee_dialect.backend.jit import Target, make_machine, optimized_text, system_of
from gawee_dialect.backend.llvm_text import llvm_text
from gawee_dialect.backend.memory import CACHE_LINE
from gawee_dialect.backend.openmp import START_TEAM
from gawee_dialect.backend.signature import Buffer, llvm_function
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.target.tile_permission import (
    ARCH_REQ_XCOMP_PERM,
    SYS_ARCH_PRCTL,
    XFEATURE_XTILEDATA,
)
from gawee_dialect.whole_file import write_file

# NAME.weights.bin: 64 bytes that say what it is, then the blob that the code reads.
#
# The bytes are those of `GAWEEWTS`, then numbers, the lowest byte first: the version of this format
# (4 bytes), the CRC-32 of the blob (4, as zlib and PNG compute it), the size of the blob (8), and
# which code the weights are for (8, `NAME_weights_id`); zeros follow. LOADER is the C that reads
# it.


MAGIC = b"GAWEEWTS"
VERSION = 1
HEAD = struct.Struct("<8sIIQQ32x")
"""What stands before the blob; as long as a cache line, so that a mapped blob is aligned."""


def weights_file(blob: bytes, code: int) -> bytes:
    """Return the content of a weights file; `code` is what `NAME_weights_id` returns."""
    return HEAD.pack(MAGIC, VERSION, zlib.crc32(blob), len(blob), code) + blob


MEMORY = """\
/* Return memory at an address that is a multiple of ${alignment}, NULL where there is none. */
static inline void *${name}_allocate(size_t size) {
    char *memory = NULL, *start = NULL;
    if (size < SIZE_MAX - 2 * ${alignment})
        memory = (char *)malloc(size + 2 * ${alignment});
    if (memory) {
        start = memory + 2 * ${alignment} - (uintptr_t)memory % ${alignment};
        memcpy(start - sizeof memory, &memory, sizeof memory);
    }
    return start;
}

/* Free what ${name}_allocate or ${name}_load gave; NULL is nothing to free. */
static inline void ${name}_free(void *start) {
    char *memory = NULL;
    if (start)
        memcpy(&memory, (char *)start - sizeof memory, sizeof memory);
    free(memory);
}
"""
"""C that allocates what needs an alignment; a string.Template."""

LOADER = """
/* What ${name}_load returns. */
enum {
    ${NAME}_LOADED = 0,
    ${NAME}_CANNOT_READ = 1,   /* there is no such file, or it cannot be read */
    ${NAME}_NO_MEMORY = 2,
    ${NAME}_NOT_WEIGHTS = 3,   /* the file is something else */
    ${NAME}_WRONG_VERSION = 4, /* weights in another version of the format */
    ${NAME}_OTHER_CODE = 5,    /* weights of another network, or of another export of this one */
    ${NAME}_CUT_OFF = 6,
    ${NAME}_TOO_LONG = 7,
    ${NAME}_WRONG_CHECKSUM = 8 /* the weights are damaged */
};

static inline const char *${name}_load_message(int status) {
    static const char *const messages[] = {
        "loaded", "cannot be read", "does not fit into memory", "is no file of weights",
        "has another version of the format", "has weights for other code", "is cut off",
        "is too long", "is damaged: its checksum is wrong"};
    return status >= 0 && status <= ${NAME}_WRONG_CHECKSUM ? messages[status] : "unknown status";
}

static inline uint64_t ${name}_number(const unsigned char *bytes, int count) {
    uint64_t number = 0;
    while (count-- > 0)
        number = number << 8 | bytes[count];
    return number;
}

/* The CRC-32 of zlib and PNG, eight bytes at a time. */
static inline uint32_t ${name}_crc32(const unsigned char *data, size_t size) {
    uint32_t table[8][256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[0][i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[0][i] = table[0][i] >> 1 ^ (table[0][i] & 1 ? 0xedb88320u : 0);
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    for (; size >= 8; size -= 8, data += 8) {
        crc ^= (uint32_t)${name}_number(data, 4);
        crc = table[7][crc & 255] ^ table[6][crc >> 8 & 255] ^ table[5][crc >> 16 & 255] ^
              table[4][crc >> 24] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
              table[0][data[7]];
    }
    for (; size > 0; size--, data++)
        crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
    return ~crc;
}

static inline int ${name}_check_head(FILE *file, uint32_t *checksum) {
    unsigned char head[${head}];
    size_t count = fread(head, 1, sizeof head, file);
    if (ferror(file))
        return ${NAME}_CANNOT_READ;
    if (memcmp(head, "${magic}", count < 8 ? count : 8) != 0)
        return ${NAME}_NOT_WEIGHTS;
    if (count < sizeof head)
        return ${NAME}_CUT_OFF;
    if (${name}_number(head + 8, 4) != ${version})
        return ${NAME}_WRONG_VERSION;
    if (${name}_number(head + 16, 8) != ${name}_weights_size() ||
        ${name}_number(head + 24, 8) != ${name}_weights_id())
        return ${NAME}_OTHER_CODE;
    *checksum = (uint32_t)${name}_number(head + 12, 4);
    return ${NAME}_LOADED;
}

static inline int ${name}_read_weights(FILE *file, unsigned char *data, uint32_t checksum) {
    size_t size = ${name}_weights_size();
    size_t count = fread(data, 1, size, file);
    int after = fgetc(file);
    if (ferror(file))
        return ${NAME}_CANNOT_READ;
    if (count < size)
        return ${NAME}_CUT_OFF;
    if (after != EOF)
        return ${NAME}_TOO_LONG;
    return ${name}_crc32(data, size) == checksum ? ${NAME}_LOADED : ${NAME}_WRONG_CHECKSUM;
}

/* Read ${name}.weights.bin into memory for ${name}_run, to be freed with ${name}_free.
   Returns 0, or what is wrong with the file; *weights is NULL then. */
static inline int ${name}_load(const char *path, void **weights) {
    uint32_t checksum = 0;
    FILE *file = fopen(path, "rb");
    int status = file ? ${name}_check_head(file, &checksum) : ${NAME}_CANNOT_READ;
    *weights = NULL;
    if (status == ${NAME}_LOADED) {
        *weights = ${name}_allocate(${name}_weights_size());
        status = *weights ? ${name}_read_weights(file, (unsigned char *)*weights, checksum)
                          : ${NAME}_NO_MEMORY;
    }
    if (file)
        fclose(file);
    if (status != ${NAME}_LOADED) {
        ${name}_free(*weights);
        *weights = NULL;
    }
    return status;
}
"""
"""C that loads a weights file into memory; a string.Template."""


# The C header and the JSON manifest of an exported network.


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

/* Bytes of scratch memory that a run needs; its address must be a multiple of ${workspace} */
size_t ${name}_workspace_size(${sizes_argument});

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


def _sizes_comment(interface: CInterface) -> str:
    """Return what the array of open sizes has, for the comment of what takes it first."""
    if not interface.sizes:
        return ""
    entries = ", ".join(f"{each.name} ({each.range_text()})" for each in interface.sizes)
    return f"\n   sizes: {entries}. Of sizes out of range it is 0."


def _sizes_argument(interface: CInterface) -> str:
    return f"const int64_t sizes[{len(interface.sizes)}]"


def header_text(interface: CInterface) -> str:
    """Return the C header that declares the entry points, and defines what loads the weights."""
    arguments = [
        *([_sizes_argument(interface)] if interface.sizes else []),
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
        workspace=f"{CACHE_LINE}.{_sizes_comment(interface)}",
        sizes_argument=_sizes_argument(interface) if interface.sizes else "void",
        checks=_checks(interface),
        loader=Template(loader).substitute(names),
    )


def _checks(interface: CInterface) -> str:
    texts = [check.text.replace("*/", "* /") for check in interface.index_checks]
    texts += [f"size '{each.name}' is not of {each.range_text()}" for each in interface.sizes]
    return "".join(f"\n   {number}: {text}" for number, text in enumerate(texts, 1))


def _described(buffer: Buffer) -> dict[str, object]:
    shape = [str(size) if isinstance(size, OpenSize) else size for size in buffer.shape]
    return {"name": buffer.name, "shape": shape, "dtype": buffer.dtype.name}


def manifest_text(
    interface: CInterface,
    target: dict[str, str],
    weights_file: str | None,
    link_flags: Sequence[str],
) -> str:
    """Return the JSON manifest: names, shapes, element types, offsets, sizes and target.

    Sizes that are open have names in shapes; the workspace's is null where it depends on them.
    """
    manifest: dict[str, object] = {
        "name": interface.name,
        "run": f"{interface.name}_run",
        "target": target,
        "link_flags": list(link_flags),
        "alignment": CACHE_LINE,
        "workspace_size": interface.workspace_size,
        **({"sizes": [asdict(each) for each in interface.sizes]} if interface.sizes else {}),
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


# A program that calls an exported network, and its `CMakeLists.txt`: to start from.

READ_ARRAY = """\
/* Read an array; NULL, with a message, where the file has not exactly its size. */
static void *read_array(const char *path, size_t size) {
    void *data = ${name}_allocate(size);
    FILE *file = fopen(path, "rb");
    int fits = data && file && fread(data, 1, size, file) == size && fgetc(file) == EOF;
    if (file)
        fclose(file);
    if (fits)
        return data;
    fprintf(stderr, "%s: expected a file of %zu bytes\\n", path, size);
    ${name}_free(data);
    return NULL;
}

"""
"""What a network without inputs has no use for, of which a compiler warns."""

MAIN_C = """\
/* Runs ${name} on raw files: dense arrays, in C order, in the byte order of this machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "${name}.h"

#define USAGE "usage: %s ${usage}\\n"

${reader}static int write_array(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    int written = file && fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0)
        written = 0;
    if (!written)
        fprintf(stderr, "%s: cannot be written\\n", path);
    return written;
}

#define PRINT_ARRAY(text, format, array, count)     \\
    do {                                            \\
        puts(text);                                 \\
        for (size_t i = 0; i < (count); i++)        \\
            printf(format "\\n", (array)[i]);        \\
    } while (0)

int main(int argc, char **argv) {
    int status = 1, writes = argc == ${most};
    void *workspace = NULL;
${declarations}
    if (argc != ${least} && !writes) {
        fprintf(stderr, USAGE, argv[0]);
        return 1;
    }
${reads}
    workspace = ${name}_allocate(${name}_workspace_size());
    if (${missing}!workspace) {
        fprintf(stderr, "there is not enough memory\\n");
        goto done;
    }
    status = ${name}_run(${arguments});
    if (status != 0) {
        fprintf(stderr, "${name}_run returned %d, which ${name}.h explains\\n", status);
        status = 1;
        goto done;
    }
    if (writes) {
        status = !(${written});
        goto done;
    }
${prints}
done:
${frees}
    ${name}_free(workspace);
    return status;
}
"""

WEIGHTS = """\
    int loaded = ${name}_load(argv[1], &weights);
    if (loaded != ${NAME}_LOADED) {
        fprintf(stderr, "%s: %s\\n", argv[1], ${name}_load_message(loaded));
        goto done;
    }
"""

CMAKE = """\
# Builds the example. In a project of your own: add_subdirectory(${name}_example) and
# target_link_libraries(your_program PRIVATE ${name}).
cmake_minimum_required(VERSION 3.12)
project(${name}_example C)
${openmp}
add_library(${name} INTERFACE)
target_include_directories(${name} INTERFACE "$${CMAKE_CURRENT_SOURCE_DIR}/..")
target_link_libraries(${name} INTERFACE "$${CMAKE_CURRENT_SOURCE_DIR}/../${name}.o" ${libraries})

add_executable(${name}_example main.c)
set_property(TARGET ${name}_example PROPERTY C_STANDARD 11)
target_link_libraries(${name}_example PRIVATE ${name})
"""

FORMATS = {
    "float32": '"%.9g"',
    "float64": '"%.17g"',
    "float16": '"0x%04" PRIx16',  # the bits
    "bfloat16": '"0x%04" PRIx16',
    "int64": '"%" PRId64',
    "uint16": '"%" PRIu16',
    "uint8": '"%" PRIu8',
    "bool": '"%" PRIu8',
    "int32": '"%" PRId32',
    "int16": '"%" PRId16',
    "int8": '"%" PRId8',
}
"""How C prints an element, by NumPy's name of its type."""


def _pointer(name: str, buffer: Buffer) -> str:
    return f"    {C_TYPES[buffer.dtype.name]} *array_{name} = NULL;"


def _print(name: str, buffer: Buffer) -> str:
    kind = buffer.dtype.name
    count = buffer.size // buffer.dtype.itemsize
    text = array_text(name, buffer)
    return f'    PRINT_ARRAY("{text}", {FORMATS[kind]}, array_{name}, (size_t){count});'


def example_program(interface: CInterface) -> str:
    """Return a program that reads inputs from files, and prints the outputs or writes them."""
    name, inputs, outputs = interface.name, interface.inputs, interface.outputs
    names = [*(each for each, _ in inputs), *(each for each, _ in outputs)]
    first = 2 if interface.weights else 1
    reads = [Template(WEIGHTS).substitute(name=name, NAME=name.upper())] if first == 2 else []
    for place, (each, buffer) in enumerate(inputs, first):
        reads.append(f"    array_{each} = read_array(argv[{place}], {buffer.size});")
        reads.append(f"    if (!array_{each})\n        goto done;")
    for each, buffer in outputs:
        reads.append(f"    array_{each} = {name}_allocate({buffer.size});")
        reads.append(f"    if (array_{each})\n        memset(array_{each}, 0, {buffer.size});")
    least = first + len(inputs)
    written = [
        f"write_array(argv[{place}], array_{each}, {buffer.size})"
        for place, (each, buffer) in enumerate(outputs, least)
    ]
    usage = ["WEIGHTS"] if first == 2 else []
    usage += [each.upper() for each, _ in inputs]
    usage.append(f"[{' '.join(each.upper() for each, _ in outputs)}]")
    pointers = [_pointer(each, buffer) for each, buffer in (*inputs, *outputs)]
    weights = ["weights"] if first == 2 else []
    arrays = [f"array_{each}" for each in names]
    given = [
        f"*array_{each}" if buffer.index in interface.scalars else f"array_{each}"
        for each, buffer in (*inputs, *outputs)
    ]
    return Template(MAIN_C).substitute(
        name=name,
        usage=" ".join(usage),
        most=least + len(outputs),
        least=least,
        declarations="\n".join([*(f"    void *{each} = NULL;" for each in weights), *pointers]),
        reader=Template(READ_ARRAY).substitute(name=name) if inputs else "",
        reads="\n".join(reads),
        missing="".join(f"!array_{each} || " for each, _ in outputs),
        arguments=", ".join([*given, *(weights or ["NULL"]), "workspace"]),
        written=" && ".join(written) or "1",
        prints="\n".join(_print(each, buffer) for each, buffer in outputs),
        frees="\n".join(f"    {name}_free({each});" for each in [*weights, *arrays]),
    )


def example_build(interface: CInterface, link_flags: Sequence[str]) -> str:
    """Return the `CMakeLists.txt` that builds the program, with the object beside its folder."""
    openmp = "-fopenmp" in link_flags
    return Template(CMAKE).substitute(
        name=interface.name,
        openmp="find_package(OpenMP REQUIRED COMPONENTS C)" if openmp else "",
        libraries="OpenMP::OpenMP_C m" if openmp else "m",
    )


Array = NDArray[np.generic]

KINDS = ("ll", "asm", "obj", "shared", "header", "example")
"""What can be written: NAME.ll, NAME.s, NAME.o, NAME.so, NAME.h with NAME.json, and in
NAME_example/ a program that calls NAME.o."""

SUFFIXES = {"ll": ".ll", "asm": ".s", "obj": ".o", "shared": ".so"}


def link_flags(module: ModuleOp) -> Sequence[str]:
    """Return what a C compiler links a module with: libm, and OpenMP where threads are started."""
    starts_threads = llvm_function(module, START_TEAM) is not None
    return ("-fopenmp", "-lm") if starts_threads else ("-lm",)


def _check_linker(target: Target) -> None:
    """Raise GaweeError where this machine's C compiler would link code for another one."""
    theirs, own = (make_machine(each, jit=False).triple for each in (target, Target()))
    if "CC" in os.environ or system_of(theirs) == system_of(own):
        return
    raise GaweeError(
        Diagnostic(
            f"cannot link a shared library for {theirs} with this machine's C compiler",
            hint="name a cross compiler in CC, or emit 'obj', which needs none",
        )
    )


def link_shared(object_code: bytes, name: str, flags: Sequence[str] = ("-lm",)) -> bytes:
    """Link an object file to a shared library; raises GaweeError where there is no C compiler."""
    compiler = os.environ.get("CC") or "cc"
    found = shutil.which(compiler)
    if found is None:
        raise GaweeError(
            Diagnostic(
                f"cannot make a shared library because no C compiler '{compiler}' was found",
                hint="install one, name one in CC, or emit 'obj', which needs none",
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, f"{name}.o"), Path(folder, f"{name}.so")
        source.write_bytes(object_code)
        command = [found, "-shared", "-o", str(library), str(source), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise GaweeError(f"cannot link the shared library: {lines[0]}")
        return library.read_bytes()


def weights_blob(interface: CInterface, values: Mapping[str, Array]) -> bytes:
    """Return the one blob that holds every weight at its offset."""
    blob = bytearray(interface.weights_size)
    for offset, buffer in interface.weights:
        key = key_of_weight(buffer.role, buffer.name)
        blob[offset : offset + buffer.size] = values[key].tobytes()
    return bytes(blob)


def key_of_weight(role: str, name: str) -> str:
    """Return what a weight is called among all: prepared ones are numbered, as a name may be."""
    return f"prepared {name}" if role == "prepared" else name


def write_code(
    module: ModuleOp,
    name: str,
    directory: Path,
    kinds: Collection[str],
    weights: Callable[[], Mapping[str, Array]] | None = None,
    function: str = MAIN,
    target: Target | None = None,
) -> list[Path]:
    """Write the files of some KINDS for a module at the llvm level; return their paths.

    `obj` and `shared` bring the header and the manifest with them, `example` the object. With
    `weights`, as `key_of_weight` calls them, NAME.weights.bin is written too. Raises GaweeError for
    an unknown kind, a name that is no C identifier, a missing C compiler, and as `weights` does.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise GaweeError(f"unsupported output '{unknown[0]}'; supported: {', '.join(KINDS)}")
    kinds = {*kinds, "obj"} if "example" in kinds else set(kinds)
    if sources_of(module):
        message = "cannot write code for C: the network calls C of descriptions"
        raise GaweeError(Diagnostic(message, hint="it runs in Python, and in gawee-run"))
    interface = c_interface(module, name, function)
    if "example" in kinds and interface.sizes:
        message = f"cannot write an example for open sizes: '{interface.sizes[0].name}'"
        raise GaweeError(Diagnostic(message, hint="'shared' and 'header' are for all of them"))
    target = (target or Target()).resolved()
    blob = None
    if weights is not None and interface.weights:
        blob = weights_blob(interface, weights())
    if "shared" in kinds:
        _check_linker(target)
    files: dict[str, bytes] = _code(add_c_entry(module, interface), kinds, name, target)
    if blob is not None:
        files[f"{name}.weights.bin"] = weights_file(blob, interface.weights_id)
    if {"header", "obj", "shared"} & kinds:
        described = {
            "triple": make_machine(target, jit=False).triple,
            "cpu": target.cpu,
            "features": target.features,
        }
        beside = f"{name}.weights.bin" if blob is not None else None
        files[f"{name}.h"] = header_text(interface).encode()
        files[f"{name}.json"] = manifest_text(
            interface, described, beside, link_flags(module)
        ).encode()
    if "example" in kinds:
        files[f"{name}_example/main.c"] = example_program(interface).encode()
        build = example_build(interface, link_flags(module))
        files[f"{name}_example/CMakeLists.txt"] = build.encode()
        (directory / f"{name}_example").mkdir(parents=True, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    return [write_file(directory / file, data) for file, data in files.items()]


_ASK = f"i64 {SYS_ARCH_PRCTL}, i64 {ARCH_REQ_XCOMP_PERM}, i64 {XFEATURE_XTILEDATA}"
_CONSTRUCTOR = "{ i32, ptr, ptr }"
TILES_ARE_ASKED_FOR = f"""
declare i64 @syscall(i64, ...)

define internal void @ask_for_tiles() {{
  %refused = call i64 (i64, ...) @syscall({_ASK})
  ret void
}}

@llvm.global_ctors = appending global [1 x {_CONSTRUCTOR}] [
  {_CONSTRUCTOR} {{ i32 65535, ptr @ask_for_tiles, ptr null }}
]
"""
"""What runs when code that multiplies tiles is loaded: Linux gives a process these registers when
it asks for them, and its threads have them too."""


def _code(module: ModuleOp, kinds: Collection[str], name: str, target: Target) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    target = target.resolved()
    text = llvm_text(module, target.function_attributes())
    asks_for_tiles = "@llvm.x86.tile" in text
    if "ll" in kinds:
        files[f"{name}.ll"] = (text + TILES_ARE_ASKED_FOR * asks_for_tiles).encode()
    if not {"asm", "obj", "shared"} & set(kinds):
        return files
    *called, last = named_units(module, target.function_attributes())
    called += [CodeUnit(TILES_ARE_ASKED_FOR)] * asks_for_tiles
    parsed, machine = optimized_text(last.text, target, jit=False, called=called)
    emitters: dict[str, Callable[[], bytes]] = {
        "asm": lambda: emit_assembly(machine, parsed).encode(),
        "obj": lambda: emit_object(machine, parsed),
        "shared": lambda: link_shared(emit_object(machine, parsed), name, link_flags(module)),
    }
    for kind, emit in emitters.items():
        if kind in kinds:
            files[name + SUFFIXES[kind]] = emit()
    return files
