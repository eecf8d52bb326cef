from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

class Transform:
    def transform(self, values: tuple[float, float]) -> tuple[float, float]: ...

class Axis:
    def set_major_formatter(self, formatter: Callable[[float, object], str]) -> None: ...

class Line2D:
    def set_gid(self, gid: str) -> None: ...

class Axes:
    figure: Figure
    transData: Transform
    xaxis: Axis
    yaxis: Axis
    def set(
        self,
        *,
        xscale: str = ...,
        yscale: str = ...,
        xlim: tuple[float, float] = ...,
        ylim: tuple[float, float] = ...,
        xlabel: str = ...,
        ylabel: str = ...,
    ) -> None: ...
    def set_xticks(
        self, ticks: Sequence[float], labels: Sequence[str] | None = None, *, minor: bool = False
    ) -> None: ...
    def errorbar(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        yerr: tuple[Sequence[float], Sequence[float]],
        **style: str | float,
    ) -> None: ...
    def set_yticks(self, ticks: Sequence[float], labels: Sequence[str]) -> None: ...
    def legend(self, *, loc: str, frameon: bool) -> None: ...
    def set_axis_off(self) -> None: ...
    def grid(self, *, visible: bool, which: str, color: str, linewidth: float) -> None: ...
    def plot(
        self, x: Sequence[float], y: Sequence[float], **style: str | float
    ) -> list[Line2D]: ...
    def annotate(
        self,
        text: str,
        xy: tuple[float, float],
        *,
        xytext: tuple[float, float],
        textcoords: str,
        **style: str | float,
    ) -> None: ...
