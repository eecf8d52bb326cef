"""Which nodes of a graph of known shapes cannot be imported, and why: all of them at once."""

from collections.abc import Mapping, Sequence

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.convert import Converter, place_of, reads_other_order
from gawee_dialect.frontends.npu_ir.errors import ConversionError
from gawee_dialect.frontends.npu_ir.importer import Importer
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, OpNode, TensorMeta, place_text
from gawee_dialect.frontends.npu_ir.liveness import read_inputs
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, Node

Refused = Mapping[str, Diagnostic]
"""Why nodes cannot be compiled, by their names."""


def refused_nodes(graph: GraphModule) -> Refused:
    """Judge each node, whatever the others are: a refused one makes what it declares.

    Complex tensors are held as their parts, inputs too.
    """
    judge = _Judge(graph)
    return judge.refused


class _Judge:
    def __init__(self, graph: GraphModule) -> None:
        self.graph = graph
        self.refused: dict[str, Diagnostic] = {}
        self.converter = Converter()
        self.owners: list[Node] = []
        """The node of the graph that each converted one is from."""
        self.inputs: list[TensorMeta] = []
        self.read: list[TensorMeta] = []
        """What refused nodes and the output read."""
        for node in graph.graph.nodes:
            if node.op == "output":
                self._read_by(node)
            elif node.op != "call_function":
                self._given(graph, node)
            else:
                self._convert(graph, node)
        self._import()
        self._refuse_all_for_order()

    def _refuse_all_for_order(self) -> None:
        """Refuse all where an op reads memory in another order: parts make tensors in C order."""
        calls = [node for node in self.graph.graph.nodes if node.op == "call_function"]
        for node in calls:
            if reads_other_order(node):
                text = f"unsupported '{node.target}' in a graph that is cut: parts change strides"
                why = _diagnostic(node, text)
                self.refused = {**{each.name: why for each in calls}, **self.refused}
                return

    def _given(self, graph: GraphModule, node: Node) -> None:
        """Take an input, or what the graph holds itself, as an input."""
        try:
            if node.op == "get_attr" and node.meta.get("val") is None:
                node.meta["val"] = getattr(graph, str(node.target))
            meta = self.converter.add_placeholder(node, weight=False)
        except ConversionError as error:
            self._refuse(node, error.diagnostics[0])
            return
        if meta is not None:
            self.inputs.append(meta)

    def _convert(self, graph: GraphModule, node: Node) -> None:
        before = len(self.converter.nodes)
        try:
            self.converter.convert_node(graph, node)
        except ConversionError as error:
            self._refuse(node, error.diagnostics[0])
        except Exception as error:  # what it reads was refused, or the node is unknown
            self._refuse(node, _diagnostic(node, f"internal error: {error!r}"))
        if node.name in self.refused:
            del self.converter.nodes[before:]
        self.owners += [node] * (len(self.converter.nodes) - before)

    def _refuse(self, node: Node, why: Diagnostic) -> None:
        self.refused[node.name] = why
        self._read_by(node)
        try:
            self.inputs += self.converter.stand_in(node)
        except ConversionError:
            pass  # a shape that depends on data: what reads it is refused too

    def _read_by(self, node: Node) -> None:
        for each in node.all_input_nodes:
            self.read += self.converter.tensors_of(each)

    def _import(self) -> None:
        importer = Importer(NPU_IR(self.converter.nodes, self.inputs, self.read, []))
        for meta in self.inputs:
            importer.add_stand_in(meta)
        for index, (converted, owner) in enumerate(
            zip(self.converter.nodes, self.owners, strict=True)
        ):
            if index not in importer.liveness.live:
                continue
            importer.index = index
            why = _verdict(importer, converted)
            if why is not None:
                self.refused.setdefault(owner.name, why)
            for output in converted.outputs:
                importer.add_stand_in(output)


def _verdict(importer: Importer, node: OpNode) -> Diagnostic | None:
    """Import one node; return why it is refused."""
    importer.problems, importer.unsupported = [], []
    unknown = [each for each in read_inputs(node) if each.name not in importer.values]
    if unknown:
        text = f"unsupported dtype '{unknown[0].dtype}' of '{unknown[0].name}'"
        return Diagnostic(text, place_text(node.place), node.name)
    try:
        importer.add_node(node)
    except Exception as error:
        return Diagnostic(f"internal error: {error!r}", place_text(node.place), node.name)
    importer.report_unsupported()
    return importer.problems[0] if importer.problems else None


def _diagnostic(node: Node, text: str) -> Diagnostic:
    return Diagnostic(text, place_text(place_of(node)), node.name)


def named_nodes(diagnostics: Sequence[Diagnostic]) -> Refused:
    """Return what errors say of nodes that they name."""
    return {each.node: each for each in diagnostics if each.node is not None}
