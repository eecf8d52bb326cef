"""Large graphs: reading takes seconds, and twice the nodes take twice the time."""

import json
from time import process_time

from gawee_dialect.frontends.gawee_json import export_graph, parse_gawee_json
from tests.effort import full_run
from tests.frontends.graphs import Json, data, graph, node, value


def chain(length: int) -> str:
    """Return the JSON of a chain of convolutions, each with a weight, and ReLUs."""
    nodes: list[Json] = []
    values = [value("x", (1, 8, 16, 16))]
    for index in range(length):
        before, after = str(values[-1]["id"]), f"v{index}"
        if index % 2:
            nodes.append(node("Relu", [before], after, op="call_module", op_type="ReLU"))
        else:
            weight = data((8, 8, 3, 3), f"weights/w_{index}.bin")
            window = {"kernel_size": [3, 3], "stride": [1, 1], "padding": [1, 1]}
            nodes.append(
                node("Conv", [before], after, weight=weight, mod="Conv2d()", name=None, **window)
            )
        values.append(value(after, (1, 8, 16, 16)))
    return json.dumps(graph(nodes, values))


def seconds_to_read_and_write(length: int) -> float:
    text = chain(length)
    start = process_time()
    export_graph(parse_gawee_json(text, name="g.json", folder=None))
    return process_time() - start


@full_run
def test_time_grows_linearly_up_to_3000_nodes():
    seconds_to_read_and_write(30)  # imports and caches

    small, large = seconds_to_read_and_write(600), seconds_to_read_and_write(3000)

    # Five times the nodes; quadratic growth would be 25 times. The limit leaves room for noise.
    assert large < 10 * small
    assert large < 10
