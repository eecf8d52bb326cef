"""What is raised where a module cannot be run on exact numbers."""

from gawee_dialect.diagnostics import Diagnostic


class NotProvable(Exception):
    """A module has an op that has no meaning on exact numbers."""

    def __init__(self, diagnostic: Diagnostic):
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))
