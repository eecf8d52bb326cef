"""The NumPy meaning of every gawee op that does not say it itself."""

from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.graph import (
    ConstantFunctions,
    ConvTransposeFunctions,
    EvaluatedFunctions,
    GridSampleFunctions,
    OrderFunctions,
    PythonValueFunctions,
    ResizeFunctions,
    ScanFunctions,
)
from gawee_dialect.interpreter.gawee.kernel import KernelFunctions
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
