# Two commands are all that a fresh clone needs: make demo, make test.
# Everything is installed into .venv; nothing outside this folder is touched.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Bytecode is kept, also where the surroundings say otherwise: four processes and the commands that tests start would
# each compile all modules anew, and pytest rewrite the assertions of all tests.
unexport PYTHONDONTWRITEBYTECODE
# Three processes, each with a run of neighbouring tests, which share their servers, browsers and clusters; one that
# ends first takes over work of the others. Two cores are busy with three, since tests wait for servers and disks.
PYTEST := -m pytest -n 3 --dist worksteal

# One thread for each process: processes that share two cores would wait for each other's threads, and a fit of trees
# in two threads takes half as much again of the processor. Tests that are about threads ask for them by number.
fast unit coverage lowest examples: export OMP_NUM_THREADS := 1

# What has failed is remembered apart from the unit tests, which run at the same time.
LOWEST := -m pytest -q -o cache_dir=.pytest_cache/lowest

.PHONY: demo check test beside lint types fast alone unit coverage lowest soak examples wheel docs docs-serve screenshots gallery paper studies bench clean help

help:            ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: $(VENV)/.installed   ## fill a table, play a campaign, leave its report behind
	$(BIN)/python -m cellworth demo

check: $(VENV)/.dev   ## lint, types and the fast tests, in three minutes
	@$(MAKE) --no-print-directory --jobs=2 lint types fast

test: lint $(VENV)/.dev   ## everything: lint, types, documentation, all tests, tests on the oldest supported versions
	@$(MAKE) --no-print-directory alone
	@$(MAKE) --no-print-directory --jobs=2 unit beside

# What runs beside the unit tests, one after the other: together they keep two cores busy to the end, while each of
# them by itself waits a quarter of its time for servers and disks.
beside: types docs wheel .venv-lowest/.installed
	@$(MAKE) --no-print-directory --jobs=1 lowest

lint: $(VENV)/.dev   ## style, formatting, and which folder may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev   ## mypy, strict
	$(BIN)/mypy

fast: $(VENV)/.dev   ## the tests that start nothing and take no more than about a second
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow and not service and not alone" --ignore=tests/web -p no:schemathesis

alone: $(VENV)/.dev   ## the tests that measure memory: nothing else runs meanwhile
	$(BIN)/python -m pytest -q -m alone

# Beside everything else, a killed process may be replaced later than a test waits. What fails is run once more, by
# itself; if it fails again, it has failed.
unit: $(VENV)/.dev   ## all other tests, and which ten were slowest
	$(BIN)/python $(PYTEST) -m "not alone" --durations=10 || \
		$(BIN)/python -m pytest -m "not alone" --last-failed --last-failed-no-failures none

coverage: $(VENV)/.dev   ## the same tests, half as slow again, and which lines of src none of them runs
	$(BIN)/python $(PYTEST) -m "not alone" --cov --cov-report=term:skip-covered

# On the oldest versions that pyproject.toml allows. Left out is what needs newer packages than these (browsers,
# documentation, studies, doctests) and what is slow: it repeats for many numbers what quick tests try here once.
# With NumPy 1.26 the last bits of a sum depend on where its memory lies, so a test that compares bits may fail once
# in many runs. What fails is run once more, by itself; if it fails again, it has failed.
lowest: .venv-lowest/.installed   ## the tests on the oldest supported versions
	.venv-lowest/bin/python $(LOWEST) -n 2 --dist worksteal -m "not slow and not latest and not alone" --durations=10 tests || \
		.venv-lowest/bin/python $(LOWEST) --last-failed --last-failed-no-failures none tests

# Several processes at random operations, with kills, interrupts, clock jumps and full disks, on both stores; it
# needs PostgreSQL's programs, and root for the server's full disks. The figures of a run are in docs/results/soak.md.
soak: $(VENV)/.dev   ## random operations by processes that are killed, on both stores, for MINUTES (60)
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),60)

examples: $(VENV)/.dev   ## the tests by hypothesis with fresh examples, again and again for MINUTES (10)
	end=$$(($$(date +%s) + 60 * $(or $(MINUTES),10))); while [ $$(date +%s) -lt $$end ]; do \
		HYPOTHESIS_PROFILE=soak $(BIN)/python $(PYTEST) -q -m "hypothesis and not alone" tests || exit 1; done

# For this Python nothing is downloaded: the dependencies are those of .venv, the package comes from the wheel.
# Other declared versions of Python that are found get both, from the package index; where there is none, that is all.
wheel: $(VENV)/.dev   ## build the wheel and try it, installed in a clean environment, on each Python that is here
	$(BIN)/python -P tests/installed_wheel.py

docs: $(VENV)/.dev   ## build the documentation into site/
	$(BIN)/python -m zensical build --clean --strict

docs-serve: $(VENV)/.dev   ## the documentation at http://127.0.0.1:8000
	$(BIN)/python -m zensical serve

screenshots: $(VENV)/.dev   ## pictures of every page, light, dark and narrow, into tests/web/pages/artefacts; those of the docs anew
	$(BIN)/python -m tests.web.pages.pictures

gallery: $(VENV)/.dev   ## run the pages of the gallery again, and draw their pictures
	$(BIN)/python docs/gallery/make_pictures.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

KERNELS := $(wildcard src/cellworth/complete/compiled/*.[ch])

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml $(KERNELS)
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[plot]"
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.installed

# The lower bounds are read from pyproject.toml, so that what is tested is what is promised.
.venv-lowest/.installed: pyproject.toml $(KERNELS)
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --editable ".[parquet,excel,plot,fast,postgres,web,dask]" pytest pytest-xdist hypothesis cvxpy \
		"pandas<3" polars -c .venv-lowest/constraints.txt
	@touch $@

$(VENV)/.studies: $(VENV)/bin/python pyproject.toml $(KERNELS)
	$(BIN)/python -m pip install --quiet --editable ".[parquet,plot,fast]" pandas
	@touch $@ $(VENV)/.installed

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

paper: $(VENV)/.studies   ## the paper's tables and figures, run again: ARGS="figure2 --repeats 10"
	$(BIN)/python -m studies.paper $(or $(ARGS),all)

studies: paper   ## the paper and the studies of completion and acquisition, from which docs/results come
	$(BIN)/python -m studies.completion
	$(BIN)/python -m studies.completion.calibration
	$(BIN)/python -m studies.completion.nonlinear --rows 600 --seeds 3
	$(BIN)/python -m studies.completion.category_columns
	$(BIN)/python -m studies.acquisition

bench: $(VENV)/.bench   ## speed and memory against peers, as ratios in one run: writes docs/benchmarks.md
	$(BIN)/python -m benchmarks --out docs/benchmarks.md --plot docs/images/scaling.png $(ARGS)

clean:           ## remove everything that the other commands made
	rm -rf $(VENV) .venv-lowest site build dist .coverage .pytest_cache .mypy_cache .ruff_cache
