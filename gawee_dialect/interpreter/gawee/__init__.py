"""The NumPy meaning of every gawee op that does not say it itself: one file per family."""

from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.conv_transpose import ConvTransposeFunctions
from gawee_dialect.interpreter.gawee.evaluated import EvaluatedFunctions
from gawee_dialect.interpreter.gawee.kernel import KernelFunctions
from gawee_dialect.interpreter.gawee.resize import GridSampleFunctions, ResizeFunctions
from gawee_dialect.interpreter.gawee.shape import (
    ConstantFunctions,
    OrderFunctions,
    PythonValueFunctions,
    ScanFunctions,
)
from gawee_dialect.interpreter.gawee.winograd import WinogradFunctions

GAWEE_FUNCTIONS: tuple[type[OpFunctions], ...] = (
    ConvTransposeFunctions,
    EvaluatedFunctions,
    ResizeFunctions,
    GridSampleFunctions,
    ConstantFunctions,
    OrderFunctions,
    ScanFunctions,
    PythonValueFunctions,
    KernelFunctions,
    WinogradFunctions,
)
