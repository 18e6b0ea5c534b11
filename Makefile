# Two commands are all that a fresh clone needs: make demo, make test.
# Everything is installed into .venv; nothing outside this folder is touched.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types unit lowest docs docs-serve bench clean help

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: $(VENV)/.installed   ## complete a table with holes and show what came out
	$(BIN)/python -m cellworth demo

test: lint types unit lowest docs   ## lint, types, all tests, tests on the oldest supported versions, documentation

lint: $(VENV)/.dev   ## style, formatting, and which folder may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev   ## mypy, strict
	$(BIN)/mypy

unit: $(VENV)/.dev   ## the tests, on two processes, with coverage
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

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

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

bench: $(VENV)/.bench   ## speed and memory against peers, as ratios in one run
	$(BIN)/python -m benchmarks

clean:           ## remove everything that the other commands made
	rm -rf $(VENV) .venv-lowest site build dist .coverage .pytest_cache .mypy_cache .ruff_cache
