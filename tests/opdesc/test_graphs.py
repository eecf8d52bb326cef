"""Graphs of invocations: both forms, what is refused, and back from modules."""

import json
import re
from pathlib import Path

import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.opdesc.graph_import import export_invocations, import_invocations
from gawee_dialect.opdesc.invocation_graph import (
    invocations_json,
    invocations_text,
    parse_invocations,
)
from gawee_dialect.opdesc.load import loaded_operators
from gawee_dialect.source import Source
from gawee_dialect.universe import make_context
from tests.opdesc.descriptions import Json, number, operator, text

pytest.importorskip("pycparser")

GRAPH = """
// an input and a parameter
create(| dst=x | dtype="TL_FLOAT", dims=[2, 3, 9, 7], ran=[0, 0], data=[0], from_file=false);
create(| dst="w 1" | data=[0], dims=[4, 3, 3, 3], ran=[0, 0], dtype="TL_FLOAT", from_file=true);
create(| dst=b | dtype="TL_FLOAT", dims=[4], ran=[0, 0], data=[1, 2.5, 3, -4], from_file=false,);
conv2d(bias=b, src=x, weight="w 1" | dst=y |
       group=1, size=[3, 3], stride=[2, 2], dilation=[1, 1], padding=[0, 0, 0, 0], autopad="VALID");
maxreduce_arg(src=y | arg=where, dst=most | axis=1); /* two outputs */
print(src=most | | msg="the most");
"""


def invocations(source: str, name: str = "graph.il") -> str:
    graph = parse_invocations(Source.of_text(source, name))
    return print_mlir(import_invocations(graph))


def test_text_becomes_a_module() -> None:
    module = invocations(GRAPH)

    assert [line.strip() for line in module.splitlines()[1:-1]] == [
        'func.func @main(%x: tensor<2x3x9x7xf32> {gawee.input = "x"}, %w: tensor<4x3x3x3xf32> {gawee.parameter = "w 1"}) -> (tensor<2x1x4x3xf32> {gawee.output = "most"}, tensor<2x1x4x3xi32> {gawee.output = "where"}) {',
        '%b = lightnet.create dtype "TL_FLOAT" dims [4] ran [0, 0] data [1, 2.5, 3, -4] from_file false : () -> tensor<4xf32>',
        '%y = lightnet.conv2d %x, %w, %b group 1 size [3, 3] stride [2, 2] dilation [1, 1] padding [0, 0, 0, 0] autopad "VALID" : (tensor<2x3x9x7xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<2x4x4x3xf32>',
        "%most, %where = lightnet.maxreduce_arg %y axis 1 : (tensor<2x4x4x3xf32>) -> (tensor<2x1x4x3xf32>, tensor<2x1x4x3xi32>)",
        'lightnet.print %most msg "the most" : (tensor<2x1x4x3xf32>) -> ()',
        "func.return %most, %where : tensor<2x1x4x3xf32>, tensor<2x1x4x3xi32>",
        "}",
    ]


def test_both_forms_say_the_same_and_come_back_from_the_module() -> None:
    module = import_invocations(parse_invocations(Source.of_text(GRAPH, "graph.il")))
    exported = export_invocations(module)

    from_json = invocations(invocations_json(exported), "graph.json")

    assert from_json == print_mlir(module)
    assert invocations(invocations_text(exported)) == print_mlir(module)
    assert [each.name for each in exported] == [
        "create_x", "create_w 1", "create3", "conv2d1", "maxreduce_arg1", "print1",
    ]  # fmt: skip
    again = parse_mlir(make_context(), print_mlir(module, locations=True), "m.mlir")
    names = [each.name for each in export_invocations(again)]
    assert names == [each.name for each in exported]


def test_json_with_comments_and_plans_of_memory() -> None:
    source = """{ // a comment
      "mem_sizes_h": [0], "mem_sizes_l": [4096],
      "ops": [
        {"name": "c", "optype": "zeros", "tensors_in": [], "params": [
          {"arg_name": "dims", "value": [2, 3]}, {"arg_name": "dtype", "value": "TL_INT8"}],
         "tensors_out": [{"arg_name": "dst", "name": "t", "offset_h": 0, "offset_l": 64}]}
      ]}"""

    assert 'lightnet.zeros dtype "TL_INT8" dims [2, 3] : () -> tensor<2x3xi8>' in invocations(
        source
    )


@pytest.mark.parametrize(("name", "format"), [("a.json", "invocations"), ("a.il", "invocations")])
def test_formats_are_recognised(name: str, format: str) -> None:
    exported = export_invocations(import_invocations(parse_invocations(Source.of_text(GRAPH, ""))))
    written = invocations_json(exported) if name.endswith("json") else GRAPH

    graph = open_graph(Source.of_text(written, name))

    assert graph.format == format
    assert [each.op for each in graph.coverage().nodes][-3:] == [
        "lightnet.conv2d", "lightnet.maxreduce_arg", "lightnet.print",
    ]  # fmt: skip
    assert graph.view().name == "a"


def one(name: str = "n", optype: str = "zeros", **fields: Json) -> dict[str, Json]:
    shell: dict[str, Json] = {
        "name": name,
        "optype": optype,
        "tensors_in": [],
        "tensors_out": [{"arg_name": "dst", "name": name}],
        "params": [{"arg_name": "dims", "value": [2]}, {"arg_name": "dtype", "value": "TL_FLOAT"}],
    }
    return shell | fields


def ops(*each: Json) -> str:
    return json.dumps({"ops": list(each)})


def param(value: Json) -> list[Json]:
    return [{"arg_name": "dims", "value": value}]


RELU = one("r", "relu", params=[], tensors_in=[{"arg_name": "src", "name": "n"}])
WITHOUT_NAME = {key: value for key, value in one().items() if key != "name"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{}", "expected an object with an array 'ops'"),
        ('{"ops": [], "op": 1}', "unknown field 'op' of graph"),
        (ops(3), "op: expected an object"),
        (ops(WITHOUT_NAME), "op: expected a string 'name', got none"),
        (ops(one() | {"optype": 3}), "op 'n': expected a string 'optype', got no text"),
        (ops(one(tensors_in={})), "op 'n': expected an array 'tensors_in'"),
        (ops(one(params=[3])), "op 'n': expected 'params' to hold objects"),
        (ops(one(tensors_out=[{"arg_name": "dst"}])), "op 'n': expected a string 'name', got none"),
        (ops(one(tensors_out=[{"arg_name": "a", "name": "b", "shape": []}])), "op 'n': unknown field 'shape' in 'tensors_out'"),
        (ops(one(tensors_out=[{"arg_name": "a", "name": "b", "offset_h": "0"}])), "expected 'offset_h' to be an integer"),
        (ops(one(extra=1)), "op 'n': unknown field 'extra'"),
        (ops(one(params=[{"arg_name": "dims"}])), "op 'n': expected a value of param 'dims', got none"),
        (ops(one(params=param([1, "a"]))), "of param 'dims', got a mixed array"),
        (ops(one(params=param([]))), "of param 'dims', got an empty array"),
        (ops(one(params=param([[1]]))), "of param 'dims', got an array of other values"),
        (ops(one(params=param([None]))), "of param 'dims', got an array of other values"),
        (ops(one(params=param({}))), "of param 'dims', got an object"),
        (ops(one(params=[*param([1]), *param([2])])), "op 'n': expected params to differ, got 'dims' twice"),
        (ops(one(tensors_out=[{"arg_name": "a", "name": "b"}, {"arg_name": "a", "name": "c"}])), "expected arguments to differ, got 'a' twice"),
        (ops(one(), one(tensors_out=[{"arg_name": "dst", "name": "m"}])), "expected ops to differ, got 'n' twice"),
        (ops(one("a"), one("b", tensors_out=[{"arg_name": "dst", "name": "a"}])), "op 'b': expected one op that makes tensor 'a', got two"),
        (ops(one(optype="maxreduce_arg", tensors_out=[{"arg_name": "dst", "name": "t"}, {"arg_name": "arg", "name": "t"}])), "op 'n': expected one op that makes tensor 't', got two"),
        (ops(one(), RELU | {"tensors_in": [{"arg_name": "src", "name": "n"}, {"arg_name": "src", "name": "n"}]}), "op 'r': expected arguments to differ, got 'src' twice"),
        (ops(RELU, one()), "op 'r': expected tensor 'n' to be made by an earlier op\nhint: ops come in the order in which they run"),
        (ops(RELU), "op 'r': expected tensor 'n' to be made by an earlier op"),
        (ops(one(optype="zero")), "'zero' op is not registered\n  node \"n\"\nhint: did you mean 'zeros'?"),
        (ops(one(params=param([2]))), "'zeros' op expected 2 params, got 1\n  node \"n\""),
        ("zeros(| dst=a |", "graph:1:16: error: cannot read invocations: expected ')', got the end of the text"),
        ("zeros(a=b | c=d);", "cannot read invocations: expected '|', got ')'"),
        ("zeros(a=b, a=c | |);", "expected arguments to differ, got 'a' twice"),
        ("zeros(| | a=1, a=2);", "expected params to differ, got 'a' twice"),
        ("zeros(| | a=[]);", "expected an array of one kind of value, got an empty array"),
        (f"zeros(| | a={1 << 64});", "op 'zeros1': expected integers of 64 bits as param 'a', got a larger one"),
        (ops(one(params=param([1, -(1 << 63) - 1]))), "expected integers of 64 bits as param '"),
        ("zeros(| | a={});", "expected a string, number, boolean, null or array"),
    ],
)  # fmt: skip
def test_graph_that_is_wrong_is_refused_with_its_place(source: str, message: str) -> None:
    with pytest.raises(GaweeError) as caught:
        import_invocations(parse_invocations(Source.of_text(source, "graph")))

    assert message in str(caught.value)
    assert str(caught.value).startswith("graph:1:")


@pytest.mark.parametrize("value", [None, 3, "", {}], ids=["null", "number", "empty", "object"])
@pytest.mark.parametrize("key", ["name", "optype", "tensors_in", "tensors_out", "params"])
def test_key_of_an_op_that_is_missing_or_of_another_type_is_refused(key: str, value: Json) -> None:
    missing = {name: each for name, each in one().items() if name != key}
    expected = f"expected a string '{key}'" if "type" in key or key == "name" else f"'{key}'"

    for source in (ops(missing), ops(one() | {key: value})):
        with pytest.raises(GaweeError) as caught:
            import_invocations(parse_invocations(Source.of_text(source, "graph")))
        assert re.match(r"graph:1:\d+: error: op.*: expected a", str(caught.value))
        assert expected in str(caught.value)


@pytest.mark.parametrize("value", [None, 3, "", []], ids=["null", "number", "empty", "array"])
@pytest.mark.parametrize(
    ("group", "key"),
    [(group, key) for group in ("tensors_in", "tensors_out") for key in ("arg_name", "name")]
    + [("params", "arg_name")],
)
def test_key_of_an_argument_that_is_missing_or_of_another_type_is_refused(
    group: str, key: str, value: Json
) -> None:
    argument: dict[str, Json] = {"arg_name": "a", "value": 1}
    if group != "params":
        argument = {"arg_name": "a", "name": "t"}
    missing = {name: each for name, each in argument.items() if name != key}

    for each in (missing, argument | {key: value}):
        with pytest.raises(GaweeError) as caught:
            import_invocations(parse_invocations(Source.of_text(ops(one() | {group: [each]}), "g")))
        assert re.match(rf"g:1:\d+: error: op 'n': expected a string '{key}'", str(caught.value))


def test_all_wrong_ops_of_a_graph_are_reported() -> None:
    source = ops(
        one("a", optype="zero"),
        one("b", params=[]),
        one("c") | {"optype": "one"},
        RELU | {"tensors_in": [{"arg_name": "src", "name": "a"}]},
    )

    with pytest.raises(GaweeError) as caught:
        import_invocations(parse_invocations(Source.of_text(source, "graph")))

    assert [each.node for each in caught.value.diagnostics] == ["a", "b", "c"]


def test_tensor_that_was_overwritten_is_not_read() -> None:
    source = """
    create(| dst=k | dtype="TL_FLOAT", dims=[5], ran=[0, 0], data=[0], from_file=false);
    sort1d(src_key=k | dst_key=s | dir="TL_SORT_DIR_ASCENDING");
    relu(src=k | dst=r |);
    """

    with pytest.raises(GaweeError, match=r"graph\.il:4:5: error: 'relu' op reads tensor 'k', which op 'sort1d1' has overwritten"):  # fmt: skip
        invocations(source)


def test_ops_of_a_loaded_file_are_invoked(tmp_path: Path) -> None:
    (tmp_path / "ops.json").write_text(
        text(operator("probe", params=[number("n")]), operator("off", autogen=False))
    )
    source = """create(| dst=x | dtype="TL_INT8", dims=[5], ran=[0, 0], data=[0], from_file=false);
    probe(src=x | dst=y | n=3);"""

    with loaded_operators([str(tmp_path / "ops.json")]):
        assert "%y = lightnet.probe %x n 3 : (tensor<5xi8>) -> tensor<5xi8>" in invocations(source)
        with pytest.raises(GaweeError, match="'off' op is not registered"):
            invocations(source.replace("probe", "off"))
    with pytest.raises(GaweeError, match="'probe' op is not registered"):
        invocations(source)


def test_module_of_other_ops_is_no_graph_of_invocations() -> None:
    module = parse_mlir(make_context(), """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = gawee.relu %x : (tensor<3xf32>) -> tensor<3xf32>
      func.return %y : tensor<3xf32>
    }""", "m.mlir")  # fmt: skip

    with pytest.raises(GaweeError, match=r"m\.mlir:3:7: error: 'gawee\.relu' op cannot be an invocation: no description defines it"):  # fmt: skip
        export_invocations(module)
    function = parse_mlir(make_context(), "func.func @f() { func.return }", "m.mlir")
    with pytest.raises(GaweeError, match="expected a function '@main' in the module, got none"):
        export_invocations(function)
    odd = "func.func @main(%x: tensor<3xf16>) -> tensor<3xf16> { func.return %x : tensor<3xf16> }"
    with pytest.raises(GaweeError, match="cannot create tensor 'x' of element type 'f16'"):
        export_invocations(parse_mlir(make_context(), odd, "m.mlir"))
