"""Which attributes each operator of ONNX's default domain has, in any version of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

# Written by docs/generate_onnx_attributes.py from the schemas of the package `onnx`.
ATTRIBUTES: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text()
)
