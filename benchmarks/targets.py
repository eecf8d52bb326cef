"""Code for an older processor on this machine, beside other engines that are held to the same.

`hold("znver3")` has this process, and all that it starts, make code for a Zen 3. Of other engines
some have a switch of their own; of those that look at the machine a copy is changed. What is held
is the width of vectors (AVX2), or of wide ones the tiles (AMX).
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from benchmarks.timing import processor
from benchmarks.without_avx512 import import_without_avx512
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.target.description import HOST, multiplies_tiles
from gawee_dialect.target.host import TARGET_VARIABLE, llvm_host, this_processor, vectors_of

ONEDNN = {"ONEDNN_MAX_CPU_ISA": "AVX2"}
ATEN = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
WITHOUT_TILES = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}
"""oneDNN's newest instructions before AMX that all processors with AMX have."""
AVX2_BITS = 256


@dataclass(frozen=True)
class Switch:
    """What holds an engine to AVX2; one that multiplies by oneDNN is held from tiles too."""

    variables: Mapping[str, str]
    """Of the environment."""
    library: str = ""
    """A pattern of the names of libraries of which a copy has to be changed."""
    finds_byte_products: bool = False
    """Whether that copy still multiplies four bytes at once where the machine has AVX-VNNI."""


SWITCHES: Mapping[str, Switch] = {
    "gawee": Switch({}),
    "onnxruntime": Switch({}, "onnxruntime_pybind11_state*", finds_byte_products=True),
    "openvino": Switch(ONEDNN, "libopenvino_intel_cpu_plugin*"),
    "torch": Switch({**ONEDNN, **ATEN}),
    "inductor": Switch({**ONEDNN, **ATEN}),
    "iree": Switch({}),
}
"""By engine; ours and IREE make code for whatever processor is named."""


def add_target(parser: ArgumentParser) -> None:
    """Add the option that `hold` takes."""
    parser.add_argument(
        "--target",
        default=HOST,
        metavar="CPU",
        help="hold our code to a processor by LLVM's name, such as znver3, and others to AVX2, or "
        "to what has no tiles, as far as they can be",
    )


def hold(target: str) -> None:
    """Have this process, and what it starts, make code for a processor by LLVM's name.

    Other engines are held to AVX2 if that is what it has, or to vectors if it has no tiles. Ends
    the process for one whose code cannot run here.
    """
    if target == HOST:
        return
    os.environ[TARGET_VARIABLE] = target
    try:
        llvm_host()
    except GaweeError as error:
        sys.exit(str(error))
    if is_held_to_avx2():
        os.environ.update({**ONEDNN, **ATEN})
    elif is_held_from_tiles():
        os.environ.update(WITHOUT_TILES)


def held_target() -> str:
    """Return LLVM's name of the processor that code is made for, where it is not this machine's."""
    return llvm_host()[0] if os.environ.get(TARGET_VARIABLE, HOST) != HOST else ""


def is_held_to_avx2() -> bool:
    """Whether this process makes code with vectors of 256 bits on a machine that has wider ones."""
    here, wanted = (vectors_of(features) for _, features in (this_processor(), llvm_host()))
    return wanted[0] == AVX2_BITS < here[0]


def is_held_from_tiles() -> bool:
    """Whether this process makes code without tiles on a machine that has them."""
    return multiplies_tiles(*this_processor()) and not multiplies_tiles(*llvm_host())


def import_held(engine: str) -> ModuleType:
    """Import the package of an engine's name, held to AVX2 where this process is.

    Raises ImportError, or RuntimeError where it cannot be held.
    """
    library = SWITCHES[engine].library
    if library and is_held_to_avx2():
        return import_without_avx512(engine, library)
    return import_module(engine)


def is_held(engine: str, *, of_integers: bool = False) -> bool:
    """Whether an engine makes no wider code than we do, and no better products `of_integers`."""
    if not held_target():
        return True
    here, wanted = this_processor()[1], llvm_host()[1]
    switch = SWITCHES.get(engine)
    if vectors_of(wanted) == vectors_of(here):
        leaves_tiles = switch is not None and (bool(switch.variables) or not switch.library)
        return leaves_tiles or not (of_integers and is_held_from_tiles())
    if switch is None:
        return False
    if of_integers and switch.finds_byte_products and "+avxvnni" in here.split(","):
        return "+avxvnni" in wanted.split(",")
    return is_held_to_avx2() or not (switch.variables or switch.library)


def processor_and_target(engines: Sequence[str] = ()) -> str:
    """Return what ran: the processor, what our code was held to, and what of engines was not."""
    text = f"{processor()} ({this_processor()[0]})"
    if not held_target():
        return text
    free = ", ".join(name for name in engines if not is_held(name))
    return f"{text}, held to {held_target()}" + (f"; not held: {free}" if free else "")
