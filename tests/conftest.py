"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

# A slow machine is no failure: speed lives in benchmarks/. Where `CI` is set the examples are the
# same every time, so that a failure there can be seen again.
settings.register_profile(
    "gawee",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gawee")
