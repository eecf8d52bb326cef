"""Write gawee_dialect/frontends/onnx_attributes.json from the schemas of the package `onnx`.

python docs/generate_onnx_attributes.py            write the file
python docs/generate_onnx_attributes.py --check    exit with 1 where it is not what would be written
"""

import json
import sys
from pathlib import Path

from onnx.defs import get_all_schemas_with_history

PATH = Path(__file__).parents[1] / "gawee_dialect" / "frontends" / "onnx_attributes.json"


def text() -> str:
    """Return the attributes of every operator of the default domain, in any version, as JSON."""
    known: dict[str, set[str]] = {}
    for schema in get_all_schemas_with_history():
        if schema.domain == "":
            known.setdefault(schema.name, set()).update(schema.attributes)
    lines = (f'  "{name}": {json.dumps(sorted(known[name]))}' for name in sorted(known))
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(text() != PATH.read_text())
    PATH.write_text(text())
