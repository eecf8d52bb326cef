"""A pass from idea to figure: a marimo notebook.

marimo edit examples/notebook/first_pass.py    in a clone, after `pip install '.[notebook,plot]'`
"""

import marimo

app = marimo.App(width="full")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    mo.md("""
    # A pass from idea to figure

    `max_pool(relu(x))` is `relu(max_pool(x))`: both keep the order of numbers. Behind the pooling,
    relu has a quarter of the elements to look at.
    """)
    return (mo,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Load a network, and look at it
    """)
    return


@app.cell
def _():
    from pathlib import Path

    from gawee_dialect import load

    GRAPH = Path(__file__).parents[1] / "digits/graph.json"
    model = load(GRAPH)
    model
    return (model,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Write the pass

    A pattern rewrites one op, or says why it leaves it.
    """)
    return


@app.cell
def _():
    from dataclasses import dataclass
    from typing import ClassVar

    from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

    from gawee_dialect.dialect.graph.elementwise import ReluOp
    from gawee_dialect.dialect.graph.pool import MaxPoolOp
    from gawee_dialect.passes.numerics import EXACT, Numerics
    from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

    class PoolFirst(Pattern):
        """gawee.max_pool (gawee.relu %x) -> gawee.relu (gawee.max_pool %x)"""

        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
            readers = {use.operation for use in op.result.uses}
            pool = next(iter(readers), None)
            if len(readers) != 1 or not isinstance(pool, MaxPoolOp):
                names = ", ".join(sorted(each.name for each in readers))
                return self.missed(op, f"expected one reader, a gawee.max_pool, got {names}")
            smaller = pool.clone({op.result: op.input})
            rewriter.replace(pool, [smaller, ReluOp(smaller.results[0])])

    @dataclass(frozen=True)
    class SinkRelu(RewritePass):
        """Take the maximum of a window before its positive part.

        rewrite:
            %r = gawee.relu %x
            %y = gawee.max_pool %r
            ->  %p = gawee.max_pool %x
                %y = gawee.relu %p
        """

        name = "sink-relu"
        patterns = (PoolFirst,)
        numerics: ClassVar[Numerics] = EXACT

    return PoolFirst, SinkRelu


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## See it fire and decline

    The report of the pass alone: press `sink-relu`, or an op.
    """)
    return


@app.cell
def _(SinkRelu, model):
    report = model.report("gawee", passes=[SinkRelu()])
    report
    return (report,)


@app.cell
def _(report):
    (told,) = report.to_json()["passes"]
    fired = [(each["pattern"], each["count"]) for each in told["rewrites"]]
    declined = [why["reason"] for each in told["declined"] for why in each["reasons"]]
    fired, declined
    return declined, fired


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Check it

    `CheckEach` runs the module before and after the pass, and stops where an output differs: here,
    by any bit.
    """)
    return


@app.cell
def _(SinkRelu, model):
    from gawee_dialect.instruments.check.each import CheckEach
    from gawee_dialect.passes.instrument import instrumented
    from gawee_dialect.passes.pass_manager import run_pipeline
    from gawee_dialect.universe import make_context

    check, changed = CheckEach(), model.module.clone()
    with instrumented(check):
        run_pipeline(make_context(), changed, [SinkRelu()])
    largest_difference = max(step.absolute for step in check.steps)
    largest_difference
    return changed, largest_difference


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Measure it

    What relu reads and writes is counted, and the network is timed both ways. Fused into a kernel,
    as the pipeline does with it, a relu costs next to nothing: the count says what the pass does to
    the graph, the time whether that matters.
    """)
    return


@app.cell
def _(changed, model):
    from gawee_dialect.model import Model

    networks = {"before": model, "after": Model(changed, model.parameters)}
    relu_bytes, microseconds = {}, {}
    for when, network in networks.items():
        nodes = network.cost().nodes
        relu_bytes[when] = sum(
            each.read_bytes + each.write_bytes for each in nodes if each.op == "gawee.relu"
        )
        microseconds[when] = network.benchmark(runs=20, least_seconds=0.1).median * 1e6
    relu_bytes, microseconds
    return microseconds, relu_bytes


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Plot it
    """)
    return


@app.cell
def _(microseconds, relu_bytes):
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    left.bar(relu_bytes.keys(), [each / 1024 for each in relu_bytes.values()], color="#0072b2")
    left.set_ylabel("KB that relu reads and writes")
    right.bar(microseconds.keys(), microseconds.values(), color="#cc7a00")
    right.set_ylabel("microseconds a run, median")
    figure
    return (figure,)


if __name__ == "__main__":
    app.run()
