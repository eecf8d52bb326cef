from optuna import distributions as distributions
from optuna import logging as logging
from optuna import samplers as samplers
from optuna import trial as trial
from optuna.distributions import IntDistribution
from optuna.samplers import TPESampler
from optuna.trial import Trial

class Study:
    def ask(self, fixed_distributions: dict[str, IntDistribution]) -> Trial: ...
    def tell(self, trial: Trial, values: float) -> object: ...

def create_study(*, sampler: TPESampler) -> Study: ...
