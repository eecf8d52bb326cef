"""Names of graph values as names of SSA values."""

import re


def name_hint(name: str) -> str:
    """Return a name as an SSA value may bear it: `layer1.0.conv1` becomes `layer1_0_conv1`."""
    # xDSL's printer takes a name that starts with an underscore for a new one each time.
    hint = re.sub(r"[^A-Za-z0-9_$-]", "_", name).lstrip("_")
    return f"v{hint}" if hint[:1].isdigit() else hint
