"""Older layouts of NPU_IR files, made into the one that `ir.py` describes.

| layout | has not | has |
|---|---|---|
| documentation | producers, sometimes dtypes and the mapping | weights by placeholder |
| A | producers | `shape` of view, `dims` of transpose |
| B | constants, masks of None | producers, names of the schema |
| C | nulls of optional tensors | everything else |
"""

from collections.abc import Iterator

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, OpNode, TensorMeta, place_text

MISSING_DTYPE = ""
"""The dtype of a tensor whose entry has none, until `normalize` fills it in."""

DEFAULT_DTYPE = "float32"
"""What all tensors are in a file that names no dtype at all."""


def normalize(ir: NPU_IR) -> list[Diagnostic]:
    """Fill in, in place, what an older layout leaves to its reader; return what cannot be."""
    _name_weights(ir)
    _fill_producers(ir)
    for node in ir.nodes:
        _rename_attributes(node)
        _write_nulls(node, ir)
    return _fill_dtypes(ir)


def _name_weights(ir: NPU_IR) -> None:
    """Call weights that are listed by placeholder by their name in the state_dict."""
    listed = {weight.name for weight in ir.weights}
    for weight in ir.weights:
        name = ir.weight_name_mapping.get(weight.name)
        if name is not None and name not in listed:
            weight.name = name


def _fill_producers(ir: NPU_IR) -> None:
    made = {each.name: (each.name, 0) for each in ir.graph_inputs}
    for node in ir.nodes:
        for each in node.inputs:
            if each.producer_node is None and each.name in made:
                each.producer_node, each.producer_output_idx = made[each.name]
        made.update((each.name, (node.name, index)) for index, each in enumerate(node.outputs))


def _rename_attributes(node: OpNode) -> None:
    """Name arguments of layout A as the schema does."""
    op, attrs = node.op_type.removeprefix("aten.").partition(".")[0], node.attrs
    if op in ("view", "expand") and "shape" in attrs and "size" not in attrs:
        attrs["size"] = attrs.pop("shape")
    dims = attrs.get("dims")
    if op == "transpose" and isinstance(dims, list) and len(dims) == 2:
        del attrs["dims"]
        attrs["dim0"], attrs["dim1"] = dims


def _write_nulls(node: OpNode, ir: NPU_IR) -> None:
    """Write the nulls of normalizations without scale, whose tensors would shift otherwise."""
    op = node.op_type.removeprefix("aten.").partition(".")[0]
    # Running statistics are always there in these: three inputs are what is normalized and those.
    evaluating = op == "_native_batch_norm_legit_no_training" or node.attrs.get("training") is False
    if op.endswith(("batch_norm", "_no_training")) and evaluating and len(node.inputs) == 3:
        node.attrs.setdefault("weight", None)
        node.attrs.setdefault("bias", None)
    if op in ("layer_norm", "native_layer_norm", "group_norm") and len(node.inputs) == 2:
        second = ir.weight_name_mapping.get(node.inputs[1].name, node.inputs[1].name)
        if second.endswith(("bias", "_bias")) and "bias" not in node.attrs:
            node.attrs.setdefault("weight", None)


def _all_tensors(ir: NPU_IR) -> Iterator[TensorMeta]:
    yield from ir.graph_inputs
    yield from ir.weights
    for node in ir.nodes:
        yield from node.outputs
        yield from node.inputs
    yield from ir.graph_outputs


def _fill_dtypes(ir: NPU_IR) -> list[Diagnostic]:
    tensors = list(_all_tensors(ir))
    missing = [each for each in tensors if each.dtype == MISSING_DTYPE]
    if len(missing) == len(tensors):
        for each in missing:
            each.dtype = DEFAULT_DTYPE
        return []
    known = {each.name: each.dtype for each in tensors if each.dtype != MISSING_DTYPE}
    known.update((name, each.dtype) for name, each in ir.placeholders() if each.dtype)
    problems: list[Diagnostic] = []
    for each in missing:
        each.dtype = known.get(each.name, MISSING_DTYPE)
        if each.dtype == MISSING_DTYPE:
            message = f"expected tensor '{each.name}' to have key 'dtype'"
            problems.append(Diagnostic(message, place_text(each.place)))
    return problems
