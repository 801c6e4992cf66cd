# make play and make test do everything on a machine with Python 3.11+; see README.md.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: play test lint golden check-slow bench clean

# Reinstalled only when what is to be installed changes.
.venv/played: pyproject.toml
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/tested: pyproject.toml
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/played

play: .venv/played
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/duels; else $(BIN)/duels demo; fi

test: .venv/tested lint
	$(BIN)/pytest -m 'not slow'

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Writes the golden transcripts anew from what the command prints now; read the difference.
golden: .venv/tested
	$(BIN)/python -m tests.golden.transcripts

check-slow: .venv/tested
	$(BIN)/pytest -m slow

bench: .venv/tested
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/playouts.py

solved: .venv/tested
	$(BIN)/python docs/solved/build.py

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
