# Two commands are all that a fresh clone needs: make demo, make test.
# Everything is installed into .venv; nothing outside this folder is touched.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1
# Measures the memory of processes that write to disk what does not fit: nothing else runs meanwhile.
ALONE := tests/blocks/test_memory.py
# All but those in a browser, and those by schemathesis, which needs newer packages.
LOWEST_WEB := $(addprefix tests/web/, test_access.py test_api.py test_background.py test_desk.py test_findings.py test_server.py pages/test_answering.py pages/test_forms.py pages/test_looking.py pages/test_sending_files.py pages/test_signing_in.py)
LOWEST_TESTS := tests/table tests/complete/test_supervised.py tests/complete/test_fill.py tests/complete/gaussian tests/prices tests/score tests/select tests/strategy tests/simulation tests/campaign tests/cli tests/report $(LOWEST_WEB) tests/blocks tests/test_theory.py tests/test_package.py

.PHONY: demo test lint types unit lowest docs docs-serve paper studies bench clean help

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: $(VENV)/.installed   ## fill a table, play a campaign, leave its report behind
	$(BIN)/python -m cellworth demo

test: lint types unit lowest docs   ## lint, types, all tests, tests on the oldest supported versions, documentation

lint: $(VENV)/.dev   ## style, formatting, and which folder may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev   ## mypy, strict
	$(BIN)/mypy

unit: $(VENV)/.dev   ## the tests, on two processes, with coverage
	$(BIN)/python -m pytest -q $(ALONE)
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered $(addprefix --ignore ,$(ALONE))

lowest: .venv-lowest/.installed   ## the core's tests on the oldest versions that pyproject.toml allows
	.venv-lowest/bin/python -m pytest -q -n 2 $(LOWEST_TESTS) $(addprefix --ignore ,$(ALONE))

docs: $(VENV)/.dev   ## build the documentation into site/
	$(BIN)/mkdocs build --strict --quiet

docs-serve: $(VENV)/.dev   ## the documentation at http://127.0.0.1:8000
	$(BIN)/mkdocs serve

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed

# The lower bounds are read from pyproject.toml, so that what is tested is what is promised.
.venv-lowest/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --editable ".[parquet,plot,fast,postgres,web,dask]" pytest pytest-xdist hypothesis \
		"pandas<3" polars -c .venv-lowest/constraints.txt
	@touch $@

$(VENV)/.studies: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[parquet,plot,fast]" pandas
	@touch $@ $(VENV)/.installed

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

paper: $(VENV)/.studies   ## the paper's tables and figures, run again: ARGS="figure2 --repeats 10"
	$(BIN)/python -m studies.paper $(or $(ARGS),all)

studies: paper   ## the paper and the studies of completion and acquisition, from which docs/results come
	$(BIN)/python -m studies.completion
	$(BIN)/python -m studies.acquisition

bench: $(VENV)/.bench   ## speed and memory against peers, as ratios in one run
	$(BIN)/python -m benchmarks

clean:           ## remove everything that the other commands made
	rm -rf $(VENV) .venv-lowest site build dist .coverage .pytest_cache .mypy_cache .ruff_cache
