"""`linalg.elementwise`: a function of one element of each input, read by any projection."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.upstream.linalg.bodies import ELEMENTWISE, ElementwiseKindAttr, body_region
from gawee_dialect.upstream.linalg.matmul import maps_attribute, parse_indexing_maps
from gawee_dialect.upstream.linalg.named_op import NamedOp, element_shape, element_types


@irdl_op_definition
class ElementwiseOp(NamedOp):
    """A function of one element of each input, which may be transposed or broadcast by its map.

    ```mlir
    %y = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>] ins(%a, %b : tensor<5x7xf32>, tensor<7xf32>) outs(%init : tensor<5x7xf32>) -> tensor<5x7xf32>
    ```

    Constraints:
      C1: the function takes as many inputs as there are, and makes one output.
    """

    name = "linalg.elementwise"

    kind = prop_def(ElementwiseKindAttr)
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        result_types: Sequence[Attribute] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        if len(outputs) != 1:
            raise VerifyException(f"expected 1 output, got {len(outputs)}")
        identity = AffineMap.identity(len(element_shape(outputs[0])))
        maps = maps_attribute([identity] * (len(inputs) + 1))
        given = {"indexing_maps": maps, **(properties or {})}
        super().__init__(inputs, outputs, result_types, given, attributes)

    @classmethod
    def make_region(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        properties: Mapping[str, Attribute | None],
    ) -> Region:
        kind = properties.get("kind")
        if not isinstance(kind, ElementwiseKindAttr):
            raise VerifyException("expected a kind, such as #linalg.elementwise_kind<add>")
        expected, body = ELEMENTWISE[str(kind.data)]
        if len(inputs) != expected:
            raise VerifyException(f"expected {expected} inputs of '{kind.data}', got {len(inputs)}")
        return body_region(element_types((*inputs, *outputs)), body)

    @classmethod
    def parse_front(cls, parser: Parser) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("kind"):
            parser.parse_punctuation("=")
            properties["kind"] = parser.parse_attribute()
        maps = parse_indexing_maps(parser)
        if maps is not None:
            properties["indexing_maps"] = maps
        return properties

    def print_front(self, printer: Printer) -> Sequence[str]:
        printer.print_string(" kind=")
        printer.print_attribute(self.kind)
        identity = AffineMapAttr(AffineMap.identity(len(element_shape(self.outputs[0]))))
        if any(map != identity for map in self.indexing_maps):
            printer.print_string(" indexing_maps = ")
            printer.print_attribute(self.indexing_maps)
        return ("kind", "indexing_maps")

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        return tuple(map.data for map in self.indexing_maps)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        loops = self.indexing_maps.data[-1].data.num_dims
        return ArrayAttr([IteratorTypeAttr.parallel()] * loops)
