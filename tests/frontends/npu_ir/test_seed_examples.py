"""The code of the concepts document: it runs as written there, apart from the package's name."""

import dataclasses

import pytest

torch = pytest.importorskip("torch")

CONCEPTS = """
# 2.1
t = torch.randn(1, 3, 224, 224, device='meta')
print(t.shape)   # torch.Size([1, 3, 224, 224])
print(t.dtype)   # torch.float32
print(t.device)  # device(type='meta')

with torch.device('meta'):
    model = torch.nn.Linear(1000, 1000)  # 4MB weight not actually allocated

# 2.3
example_inputs = (torch.randn(1, 1000, device='meta'),)
exported = torch.export.export(model, example_inputs)

exported.graph_module      # torch.fx.GraphModule (graph representation)
exported.graph_signature   # Input/output and parameter information
exported.state_dict        # Parameters (only shapes if meta tensors)

# 3.1
from npu_ir import extract_ir
ir = extract_ir(model, example_inputs)

# 4.3
from npu_ir.ops import register_executor

# Register execution function for non-ATen op
@register_executor("my_custom_op")
def execute_my_op(inputs, attrs):
    return [result_tensor]
"""

FIELDS = {
    "TensorMeta": ["name", "shape", "dtype"],
    "OpNode": ["name", "op_type", "inputs", "outputs", "attrs"],
    "NPU_IR": [
        *("nodes", "graph_inputs", "graph_outputs", "weights", "weight_name_mapping"),
        *("model_name", "pytorch_version"),
    ],
}


def test_the_examples_run():
    from gawee_dialect.frontends.npu_ir.ops import find_executor

    code = CONCEPTS.replace("from npu_ir", "from gawee_dialect.frontends.npu_ir")
    names: dict[str, object] = {"torch": torch, "result_tensor": 5}
    exec(code, names)

    execute = find_executor("my_custom_op")
    assert execute is names["execute_my_op"]
    assert execute is not None
    assert execute([], {}) == [5]
    assert [each.name for each in vars(names["ir"])["weights"]] == ["weight", "bias"]


@pytest.mark.parametrize("name", FIELDS)
def test_the_data_structures_take_the_fields_in_their_order(name: str):
    import gawee_dialect.frontends.npu_ir as npu_ir

    fields = [field.name for field in dataclasses.fields(getattr(npu_ir, name))]

    assert fields[: len(FIELDS[name])] == FIELDS[name]


def test_executors_are_found_with_and_without_overload():
    from gawee_dialect.frontends.npu_ir.ops import (
        find_executor,
        register_executor,
        registered_executors,
    )

    @register_executor("mine::op")
    def run(inputs: object, attrs: object) -> list[object]:
        return [inputs, attrs]

    assert find_executor("mine.op.default") is run
    assert find_executor("mine.other.default") is None
    assert registered_executors()["mine.op"] is run
