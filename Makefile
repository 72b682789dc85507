# Two commands matter: `make demo` and `make test`. Both need only Python 3.11 and make.
.DEFAULT_GOAL := help
.PHONY: help demo test lint types layers unit browser docs bench results clean

VENV := .venv
BIN := $(VENV)/bin
# What the tests use; tests of an extra that is missing are skipped.
TEST_EXTRAS := dev,docs,tables,tune,images,text,onnx,ray,mlflow,emoji-build
JOBS := 2

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export NO_MKDOCS_2_WARNING := 1
PIP_INSTALL := $(BIN)/python -m pip install -qq -c constraints.txt

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.core ## Install the core and run the demonstration on embedded data
	@echo "== Demo"
	@$(BIN)/mczsl demo

test: lint types layers unit docs ## Install the tools and run every check
	@echo "== All checks passed"

lint: $(VENV)/.test ## Style and format (ruff)
	@echo "== Style: ruff check, ruff format --check"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || \
		{ echo "Not formatted (mend with $(BIN)/ruff format):"; $(BIN)/ruff format --check .; }

types: $(VENV)/.test ## Static types (mypy --strict)
	@echo "== Types: mypy --strict src"
	@$(BIN)/mypy --strict src

layers: $(VENV)/.test ## Import layers (import-linter)
	@echo "== Layers: lint-imports"
	@$(BIN)/lint-imports --no-logo

unit: $(VENV)/.test browser ## Tests and doctests (pytest)
	@echo "== Tests and doctests: pytest"
	@$(BIN)/pytest -q -n $(JOBS) --dist worksteal

# The tests of the report page need Chromium; it comes from the system where that can be done.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		echo "== Installing Chromium for the tests of the report page" && \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
		echo "No Chromium (Debian: apt-get install chromium): tests of the report page are skipped."

docs: $(VENV)/.test ## Build the documentation into site/
	@echo "== Documentation: mkdocs build --strict"
	@$(BIN)/mkdocs build --strict --quiet --clean --site-dir site

bench: $(VENV)/.core ## Measure speed and scale
	@echo "== Benchmarks"
	@$(BIN)/python -m benchmarks

results: $(VENV)/.core ## Do the runs behind docs/results.md that are missing (hours; needs MCZSL_DATA)
	@echo "== Results"
	@$(BIN)/mczsl bench docs/results/*.toml --out results --jobs $(JOBS)
	@$(BIN)/mczsl report results --template docs/results/results.md.j2 -o docs/results.md

clean: ## Remove builds and caches (not .venv, not your runs)
	@echo "== Clean"
	@rm -rf build dist site src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---------------------------------------------------------------- environment
# Each stamp is touched last, so an interrupted set-up is taken up again next time.
$(VENV)/.created:
	@echo "== Creating $(VENV)"
	@for python in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python; do \
		if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			"$$python" -m venv $(VENV) && touch $@ && exit 0; \
			exit 1; \
		fi; \
	done; \
	echo "No usable Python found: mczsl needs Python 3.11 or newer with its venv module." >&2; \
	echo "Install it, or name one: make PYTHON=/path/to/python3.11 ..." >&2; \
	exit 1

# torch first and exactly pinned: a looser requirement may fetch gigabytes of GPU libraries.
$(VENV)/.core: $(VENV)/.created pyproject.toml constraints.txt
	@echo "== Installing torch and mczsl (the first time takes a minute or two)"
	@$(PIP_INSTALL) "$$(grep '^torch==' constraints.txt)"
	@$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.core Makefile
	@echo "== Installing the tools for the checks"
	@$(PIP_INSTALL) -e ".[$(TEST_EXTRAS)]"
	@touch $@
