# Everything runs in a virtual environment that this file makes: `make test` works on a fresh machine.
# PYTHON= names the interpreter to make it from, VENV= the folder to put it in.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= auto
# Slow tests run a part of their cases: `make test PROFILE=full` runs all.
PROFILE ?= quick
TESTS ?= tests/filecheck
INPUTS ?= 5000
SEED ?= 0
# Extras whose versions requirements-dev.lock holds.
LOCKED := dev docs mlir notebook browser coverage mutants

PY := $(VENV)/bin/python
LIT := $(VENV)/bin/lit -sv --no-progress-bar
# The full run starts the tools of these alone too, as a user does (see gawee_dialect/tools/server/).
ALONE := $(addprefix tests/filecheck/,frontends/gawee_json.mlir $(patsubst %,tools/gawee_%.mlir,opt_output reduce run translate_info))
# Work stealing gives each worker a run of neighbours, which share what their file has set up.
PYTEST := $(PY) -m pytest -q -n $(JOBS) --dist worksteal
PIP := $(PY) -m pip --disable-pip-version-check
# One stamp for each extra of pyproject.toml; pip runs again only when that file changes.
STAMP := $(VENV)/.installed-

# Modules that were compiled are kept: a run of the tests starts hundreds of processes that import them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test coverage fuzz mutants check format lit docs docs-serve reference bench regression study lock clean

help: ## List what can be made
	@echo "Usage: make TARGET [VENV=$(VENV)] [PYTHON=$(PYTHON)]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP)demo ## Classify digits, then a photo with ResNet-18, at every level of the IR
	$(PY) examples/demo.py

test: export HYPOTHESIS_PROFILE = $(PROFILE)
test: $(STAMP)dev ## Run lit and pytest; tests of absent oracles (PyTorch, mlir-opt) are skipped and counted
	@echo $(LIT) tests/filecheck; $(LIT) tests/filecheck; lit=$$?; \
	$(if $(filter full,$(PROFILE)),$(LIT) -D fork-tools=no $(ALONE) || lit=$$?;) \
	echo $(PYTEST); $(PYTEST) && exit $$lit

coverage: $(STAMP)dev $(STAMP)coverage ## Run pytest, and print which lines no test runs
	$(PYTEST) --cov=gawee_dialect --cov-report=term-missing:skip-covered

fuzz: $(STAMP)dev ## Give readers damaged inputs, compile random graphs: make fuzz INPUTS=5000 READERS="xoc onnx", or MINUTES=10
	$(PY) -m tests.fuzz --inputs $(INPUTS) $(if $(MINUTES),--minutes $(MINUTES)) $(READERS)
	$(VENV)/bin/gawee-fuzz --minutes $(or $(MINUTES),2) --seed $(SEED) --output fuzz-findings \
	  $(if $(wildcard $(VENV)/lib/python*/site-packages/torch),--load tests/graph_fuzz/pytorch_oracle.py) \
	  $(if $(wildcard $(VENV)/lib/python*/site-packages/onnxruntime),--load tests/graph_fuzz/onnx_models.py)

mutants: $(STAMP)dev $(STAMP)mutants ## List changes that no test sees, of FILES=... or of what changed since main
	$(PY) -m tests.mutants $(FILES) $(if $(filter-out tests/filecheck,$(TESTS)),--tests $(TESTS))

check: $(STAMP)dev ## Lint, check formatting and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright --pythonpath $(PY)
	$(PY) -m pyright --pythonpath $(PY) --project tests/pyrightconfig.json

format: $(STAMP)dev ## Format the sources, fix what the linter can fix
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lit: $(STAMP)dev ## Run the IR tests alone: make lit TESTS=tests/filecheck/dialect
	$(LIT) $(TESTS)

reference: $(STAMP)dev ## Generate the reference pages from docstrings
	$(PY) docs/generate_reference.py

docs: $(STAMP)docs $(STAMP)dev ## Check that the reference is fresh, build the site into site/
	$(PY) docs/generate_reference.py --check
	$(PY) -m mkdocs build --strict

docs-serve: $(STAMP)docs ## Show the site at http://127.0.0.1:8000, rebuilt on every change
	$(PY) -m mkdocs serve

bench: $(STAMP)dev ## Measure ResNet-18: compile time, run time
	$(PY) -m benchmarks.resnet18

regression: $(STAMP)dev ## Measure against the last tag, or BASE=...; fails where this tree is slower
	$(PY) -m benchmarks.regression $(if $(BASE),--base $(BASE))

study: $(STAMP)dev ## Measure what each pass gains; writes docs/passes_study.md and its figure
	$(PY) -m benchmarks.passes_study $(STUDY_FLAGS)

setup: $(addprefix $(STAMP),dev docs mlir notebook browser) ## Install everything that the tests can use, but PyTorch

lock: $(STAMP)lock ## Renew requirements-dev.lock: the newest versions of all that development installs
	$(VENV)/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --custom-compile-command "make lock" \
	  $(addprefix --extra ,$(LOCKED)) pyproject.toml --output-file requirements-dev.lock

clean: ## Remove what was built, but not the virtual environment
	rm -rf build dist site .lit .pytest_cache .ruff_cache .hypothesis

$(PY):
	$(PYTHON) -m venv $(VENV)

$(STAMP)%: pyproject.toml | $(PY)
	$(PIP) install --quiet --editable '.[$*]'
	@touch $@
