"""Names of graph values as names of SSA values."""

import re

from gawee_dialect.identifiers import ascii_letters


def name_hint(name: str) -> str:
    """Return a name as an SSA value may bear it: `layer1.0.conv1` becomes `layer1_0_conv1`."""
    hint = re.sub(r"[^A-Za-z0-9_$-]", "_", ascii_letters(name))
    # xDSL drops one number from the end and appends its own: a second one would give names twice.
    hint = re.sub(r"(?<=.)(_\d+)+$", "", hint)
    return f"v{hint}" if not hint or hint[0].isdigit() else hint
