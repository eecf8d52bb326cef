"""The NumPy meaning of every gawee op that does not say it itself: one file per family."""

from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.attention import AttentionFunctions
from gawee_dialect.interpreter.gawee.conv import ConvFunctions
from gawee_dialect.interpreter.gawee.evaluated import EvaluatedFunctions
from gawee_dialect.interpreter.gawee.grid_sample import GridSampleFunctions
from gawee_dialect.interpreter.gawee.kernel import KernelFunctions
from gawee_dialect.interpreter.gawee.matmul import MatMulFunctions
from gawee_dialect.interpreter.gawee.order import OrderFunctions
from gawee_dialect.interpreter.gawee.pool import PoolFunctions
from gawee_dialect.interpreter.gawee.python_value import PythonValueFunctions
from gawee_dialect.interpreter.gawee.resize import ResizeFunctions
from gawee_dialect.interpreter.gawee.scan import ScanFunctions
from gawee_dialect.interpreter.gawee.shape import ShapeFunctions
from gawee_dialect.interpreter.gawee.winograd import WinogradFunctions

GAWEE_FUNCTIONS: tuple[type[OpFunctions], ...] = (
    ConvFunctions,
    MatMulFunctions,
    AttentionFunctions,
    EvaluatedFunctions,
    PoolFunctions,
    ResizeFunctions,
    GridSampleFunctions,
    ShapeFunctions,
    OrderFunctions,
    ScanFunctions,
    PythonValueFunctions,
    KernelFunctions,
    WinogradFunctions,
)
