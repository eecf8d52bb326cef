"""The body of a description: its program, and how the sizes of its indices are found."""

from collections.abc import Mapping
from dataclasses import dataclass

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.opdesc.description import Code
from gawee_dialect.opdesc.index_notation.instance import Instance, Misfit, Type, instantiate
from gawee_dialect.opdesc.index_notation.lexer import IndexNotationError
from gawee_dialect.opdesc.index_notation.program import Arguments, Program, read_program
from gawee_dialect.opdesc.index_notation.scalars import ParameterValue
from gawee_dialect.opdesc.index_notation.sizes import Plan, plan_sizes


@dataclass(frozen=True)
class Body:
    """A program, and the plan of each of its definitions by the tensor that it defines."""

    program: Program
    plans: Mapping[str, Plan]

    @property
    def defaults(self) -> Mapping[str, ParameterValue]:
        """The values of parameters that a use may leave out."""
        parameters = self.program.parameters
        return {each.name: each.default for each in parameters if each.default is not None}

    def instance(
        self, inputs: Mapping[str, Type], parameters: Mapping[str, ParameterValue]
    ) -> Instance:
        """Return what the body is for inputs and parameters, those with a default left out or not.

        Raises Misfit for what is missing, unknown, or does not fit.
        """
        values: dict[str, ParameterValue] = {}
        for parameter in self.program.parameters:
            value = parameters.get(parameter.name, parameter.default)
            if value is None:
                raise Misfit(f"expected a parameter '{parameter.name}', got none")
            values[parameter.name] = value
        return instantiate(self.program, self.plans, inputs, values)


def read_body(code: Code, given: Arguments | None = None) -> Body:
    """Read a body; raises IndexNotationError that lists every problem of it."""
    program = read_program(code, given)
    problems: list[Diagnostic] = []
    plans: dict[str, Plan] = {}
    for group in program.groups:
        together = [each.tensor for each in group.definitions]
        for each in group.definitions:
            plans[each.tensor] = plan_sizes(code, each, together, problems)
    if problems:
        raise IndexNotationError(problems)
    return Body(program, plans)
