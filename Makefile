# Linkwise: every target sets up what it needs. `make PYTHON=python3.12 test` chooses the interpreter.

PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/ready
SEEN   := .venv/browser

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo papers test test-slow test-torch attack bench docs format lint types layers pytest clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## make gallery.html: a dozen machines in motion, Pinocchio's table, the sources' experiments
	@echo "==> demo"
	@$(BIN)/python examples/demo.py

papers: $(READY) ## repeat the experiments of the sources into report.html; NAMES="hexapod delta" chooses
	@echo "==> papers"
	@$(BIN)/python -m papers $(NAMES)

test: lint types layers docs pytest ## run every check and the tests

test-slow: $(READY) $(SEEN) ## run the proofs that take minutes
	@echo "==> pytest, slow"
	@$(BIN)/python -m pytest -q -n 2 -m slow

test-torch: $(READY) ## install PyTorch, which is large, and run its tests
	@echo "==> pytest, PyTorch"
	@$(BIN)/pip install -q torch
	@$(BIN)/python -m pytest -q tests/backend/test_torch.py

attack: $(READY) ## try 100,000 ways to break it, a quarter of an hour
	@echo "==> attack"
	@$(BIN)/python attack/run.py

bench: $(READY) ## measure
	@echo "==> benchmarks"
	@$(BIN)/python benchmarks/run.py

docs: $(READY) ## build the documentation into docs/_build/html
	@echo "==> documentation"
	@$(BIN)/python -m sphinx -E -W --keep-going -q -j auto -b html docs docs/_build/html

format: $(READY) ## rewrite the sources in the house format
	@echo "==> ruff, rewriting"
	@$(BIN)/ruff check -q --fix .
	@$(BIN)/ruff format -q .

lint: $(READY) ## check style and format
	@echo "==> ruff"
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .

types: $(READY) ## check types
	@echo "==> mypy"
	@$(BIN)/python -m mypy --no-error-summary

layers: $(READY) ## check that no import points back
	@echo "==> import-linter"
	@$(BIN)/lint-imports --no-logo > .venv/layers.log || { cat .venv/layers.log; exit 1; }

pytest: $(READY) $(SEEN) ## run the quick tests
	@for part in "tests/[a-g]*/" "tests/[h-l]*/" "tests/[m-o]*/" "tests/r*/" "tests/p*/" "tests/[s-z]*"; do \
		echo "==> pytest $$part"; $(BIN)/python -m pytest -q -n 2 $$part || exit 1; \
	done # in parts: a process can hold a limited number of compiled kernels

clean: ## remove all that make made, the virtual environment included
	@echo "==> removing .venv, caches, build products"
	@rm -rf .venv build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find src papers tests docs attack benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so that an interrupted installation starts again.
$(READY): pyproject.toml
	@echo "==> virtual environment in .venv ($(PYTHON))"
	@$(PYTHON) -m venv .venv
	@echo "==> installing linkwise with its test, dev and docs extras (a few minutes the first time)"
	@$(BIN)/python -m pip install -e '.[test,dev,docs]' > .venv/pip.log 2>&1 || { cat .venv/pip.log; exit 1; }
	@touch $@

# Tests open pages in a browser: Chromium where there is one, else where Debian brings it, else the one inside of Qt.
$(SEEN): $(READY)
	@echo "==> a browser for the tests of pages"
	@PYTHONPATH=tests $(BIN)/python -c 'from support.browser import found; exit(found() is None)' > .venv/browser.log 2>&1 \
		|| { apt-get update && apt-get install -y --no-install-recommends chromium; } >> .venv/browser.log 2>&1 \
		|| $(BIN)/python -m pip install PyQt6-WebEngine >> .venv/browser.log 2>&1 || { cat .venv/browser.log; exit 1; }
	@touch $@
