"""What a network costs by its kernels, before any of them runs."""

from collections.abc import Sequence

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import total
from gawee_dialect.dialect.entry import find_function
from gawee_dialect.evaluation.evaluator import Build, Evaluator, Figures
from gawee_dialect.levels import Level
from gawee_dialect.target.description import find_processor


class Cost(Evaluator[Build]):
    """FLOPs and bytes of the kernels, and the least seconds that one core needs, kernel by kernel.

    The limit of a kernel is that of `annotate-cost`: FLOPs at the rate of multiply-adds, or bytes
    at the rate of the nearest memory that holds them.
    """

    def figures(self, candidates: Sequence[Build]) -> Sequence[Figures]:
        return [self._figures(each) for each in candidates]

    def _figures(self, build: Build) -> Figures:
        processor = find_processor(build.options.target)
        main = find_function(build.model.lowered(Level.KERNELS, build.options))
        assert main is not None
        works = [work for op in main.body.block.ops if (work := op_work(op)) is not None]
        all_work = total(works)
        return {
            "flops": all_work.flops,
            "moved_bytes": all_work.bytes,
            "predicted_seconds": sum(limit_of(each, processor).seconds for each in works),
        }
