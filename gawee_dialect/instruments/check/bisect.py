"""The search behind `--bisect`: which rewrite it is that breaks what is computed.

1. Passes run one by one under the check, until one breaks what is computed.
2. From the last module before it that could be run, the pipeline runs again up to the N-th rewrite,
   for an N in the middle of those that are left, until one is.
"""

import sys
from collections.abc import Sequence
from enum import Enum

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.instruments.check.each import CheckEach
from gawee_dialect.instruments.check.each_pass import CheckSettings, warn_of_unchecked
from gawee_dialect.instruments.rewrite_limit import NO_LIMIT, CountedRewrite, RewriteLimit
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.pass_manager import leaf_passes, run_passes


class Outcome(Enum):
    """What a run up to some rewrite showed."""

    GOOD = "computes what it did"
    BAD = "computes something else"
    UNKNOWN = "cannot be run"


class Bisect(Instrument):
    """Finds the rewrite to blame before the pipeline runs; raises GaweeError that names it."""

    def __init__(self, settings: CheckSettings) -> None:
        self.settings = settings
        self._checks: list[CheckEach] = []
        self._has_failed = False

    def before_pipeline(self, ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        state, check = module.clone(), CheckEach(self.settings)
        self._checks.append(check)
        start, suspects = module.clone(), list[ModulePass]()
        for each in leaf_passes(passes):
            suspects.append(each)
            try:
                with instrumented(check):
                    run_passes(ctx, state, [each])
            except GaweeError as error:
                self._has_failed = True
                search = Search(ctx, start, suspects, self.settings)
                raise GaweeError(search.blame(error)) from error
            if not check.is_waiting:
                start, suspects = state.clone(), []

    def report(self) -> None:
        if self._has_failed or not self._checks:
            return
        print("bisect: no rewrite breaks what is computed", file=sys.stderr)
        for check in self._checks:
            warn_of_unchecked(check.steps)


class Search:
    """The search among the rewrites of some passes, of which the last breaks what is computed."""

    def __init__(
        self,
        ctx: Context,
        module: ModuleOp,
        passes: Sequence[ModulePass],
        settings: CheckSettings,
    ) -> None:
        self._ctx, self._module = ctx, module
        self._passes, self._settings = passes, settings

    def run(self, limit: int) -> tuple[Outcome, Sequence[CountedRewrite]]:
        """Run up to a rewrite; return how it went, and the rewrites that were done."""
        module, limited = self._module.clone(), RewriteLimit(limit)
        check = CheckEach(self._settings)
        try:
            with instrumented(limited, check):
                run_passes(self._ctx, module, self._passes)
        except GaweeError:
            return Outcome.BAD, limited.steps
        return Outcome.UNKNOWN if check.is_waiting else Outcome.GOOD, limited.steps

    def blame(self, error: GaweeError) -> Diagnostic:
        """Return what is wrong, and with which rewrite."""
        first = error.diagnostics[0]
        _, steps = self.run(NO_LIMIT)
        good, bad = self._narrowed(len(steps))
        hint = f"the pass failed with: {first.message}"
        if bad == 0:
            message = f"pass '{self._passes[-1].name}' fails without a rewrite: {first.message}"
            return Diagnostic(message, first.place, first.node, first.hint)
        _, steps = self.run(bad)
        last = steps[bad - 1]
        if bad - good > 1:
            others = "; ".join(map(str, steps[good:bad]))
            message = (
                f"one of the rewrites {good + 1} to {bad} breaks what is computed, and the module "
                f"cannot be run between them: {others}"
            )
            return Diagnostic(message, last.place, last.node, hint)
        if not last.op_name:
            message = f"'{last.pass_name}' as a whole breaks what is computed: it has no patterns"
            return Diagnostic(message, first.place, first.node, hint)
        message = (
            f"rewrite {bad} of '{last.pass_name}' breaks what is computed: {last.cause} "
            f"on '{last.op_name}' op"
        )
        return Diagnostic(message, last.place, last.node, hint)

    def _narrowed(self, count: int) -> tuple[int, int]:
        """Return the last rewrite known to be good, and the first known to be bad after it."""
        good, bad = 0, count
        untold = set[int]()
        while True:
            middle = (good + bad) // 2
            left = [each for each in range(good + 1, bad) if each not in untold]
            if not left:
                return good, bad
            tried = min(left, key=lambda each: abs(each - middle))
            outcome, _ = self.run(tried)
            if outcome is Outcome.GOOD:
                good = tried
            elif outcome is Outcome.BAD:
                bad = tried
            else:
                untold.add(tried)
