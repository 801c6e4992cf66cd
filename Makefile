# make play and make test do everything on a machine with Python 3.11+; see README.md.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: play test lint golden check-slow wheel-test trainers-test integrations-test jax-test docs bench solved books examples hunt-strategy \
	environment-pages baselines ladder ray-test hunt-study new-game trace clean

# Reinstalled only when what is to be installed changes.
.venv/played: pyproject.toml
	@test -d .venv || echo "Setting up duels in .venv; this happens once and takes about a minute."
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[tui,web]'
	@touch $@

.venv/tested: pyproject.toml
	@test -d .venv || echo "Setting up duels in .venv, with all that its tests need; this takes a few minutes."
	@test -d .venv || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/played

play: .venv/played
	@if [ -t 0 ] && [ -t 1 ]; then trap : INT; $(BIN)/duels || [ $$? -eq 130 ]; else $(BIN)/duels demo; fi

test: .venv/tested lint
	$(BIN)/pytest -m 'not slow'

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Writes the golden transcripts and boards anew from what is printed and drawn now; read the difference.
golden: .venv/tested
	$(BIN)/python -m tests.golden.transcripts
	$(BIN)/python -m tests.golden.boards

# With firefox-esr, webkit2gtk-driver and xvfb (Debian's packages), it also plays in Firefox and WebKit.
check-slow: .venv/tested
	$(BIN)/pytest -m slow

# The built packages, on the oldest Python that we support and on the newest that is here.
wheel-test: .venv/tested
	$(BIN)/pytest -m slow -n 0 tests/test_wheel.py

# Trainers on our environments, and readers of exported matches, as their users run them.
trainers-test: .venv-trainers/ready
	.venv-trainers/bin/pytest -m slow -n 0 tests/trainers

# They are large, and nothing else needs them.
.venv-trainers/ready: pyproject.toml tests/trainers/requirements.txt
	@test -d .venv-trainers || $(PYTHON) -m venv .venv-trainers
	@.venv-trainers/bin/pip install --quiet --disable-pip-version-check -r tests/trainers/requirements.txt
	@.venv-trainers/bin/pip install --quiet --disable-pip-version-check --editable '.[rl,openspiel,data,minari]'
	@touch $@

# The adapters for frameworks that evaluate or train language models, each with its framework. The frameworks conflict.
integrations-test: .venv-inspect/ready .venv-mcp/ready
	.venv-inspect/bin/pytest -m slow -n 0 tests/integrations/inspect
	.venv-mcp/bin/pytest -m slow -n 0 tests/integrations/test_mcp.py tests/integrations/test_frameworks.py

.venv-inspect/ready: pyproject.toml
	@test -d .venv-inspect || $(PYTHON) -m venv .venv-inspect
	@.venv-inspect/bin/pip install --quiet --disable-pip-version-check --editable '.[inspect,llm]' pytest pytest-xdist hypothesis
	@touch $@

.venv-mcp/ready: pyproject.toml tests/integrations/requirements.txt
	@test -d .venv-mcp || $(PYTHON) -m venv .venv-mcp
	@.venv-mcp/bin/pip install --quiet --disable-pip-version-check --editable '.[mcp,llm]' -r tests/integrations/requirements.txt
	@touch $@

# The JAX environments, beside Pgx.
jax-test: .venv-jax/ready
	.venv-jax/bin/pytest -m slow tests/jax

# JAX is large, and nothing else needs it.
.venv-jax/ready: pyproject.toml tests/jax/requirements.txt
	@test -d .venv-jax || $(PYTHON) -m venv .venv-jax
	@.venv-jax/bin/pip install --quiet --disable-pip-version-check -r tests/jax/requirements.txt --editable '.[jax]'
	@touch $@

# The site, in site/. Strict: a broken link or a public name without a docstring fails. Always built afresh, for
# Sphinx warns only about pages that it reads.
docs: .venv-docs/ready
	.venv-docs/bin/sphinx-build --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees docs site

.venv-docs/ready: pyproject.toml docs/requirements.txt
	@test -d .venv-docs || $(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt --editable '.[minari,rl,openspiel]'
	@touch $@

bench: .venv/tested .venv-bench/ready benchmarks/boardgame_io/node_modules
	$(BIN)/python benchmarks/startup.py --json docs/performance/startup.json
	$(BIN)/python benchmarks/web.py --json docs/performance/web.json
	.venv-bench/bin/python benchmarks/solving.py --json docs/performance/solving.json
	.venv-bench/bin/python benchmarks/bench_envs.py --json docs/performance/environments.json
	.venv-bench/bin/python benchmarks/training.py --json docs/performance/training.json
	.venv-bench/bin/python benchmarks/jax_envs.py --json docs/performance/jax.json
	.venv-bench/bin/python benchmarks/bench_arena.py --json docs/performance/arena.json
	$(BIN)/python docs/performance/build.py

# boardgame.io's server, which ours is measured against. Needs Node.js (Debian: apt-get install nodejs npm).
benchmarks/boardgame_io/node_modules: benchmarks/boardgame_io/package.json
	npm install --prefix benchmarks/boardgame_io --no-audit --no-fund --no-package-lock
	@touch $@

# The peers that our environments are measured against are large, and nothing else needs them.
.venv-bench/ready: pyproject.toml benchmarks/peers.txt
	@test -d .venv-bench || $(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/pip install --quiet --disable-pip-version-check --editable '.[arena,llm,ray,rl,openspiel,fast,jax]' -r benchmarks/peers.txt
	@touch $@

# The ladder and its page, about two minutes on two cores.
ladder: .venv/tested
	rm -rf build/ladder
	$(BIN)/duels arena ladder --out build/ladder
	$(BIN)/python docs/ladder/build.py build/ladder

# Runs on a Ray cluster of two nodes on this machine, one of whose workers is killed.
ray-test: .venv-ray/ready
	.venv-ray/bin/pytest -n 0 -m slow tests/arena/test_ray.py

# Ray is large, and nothing else needs it.
.venv-ray/ready: pyproject.toml
	@test -d .venv-ray || $(PYTHON) -m venv .venv-ray
	@.venv-ray/bin/pip install --quiet --disable-pip-version-check --editable '.[ray,arena,llm]' pytest pytest-xdist hypothesis
	@touch $@

solved: .venv/tested
	$(BIN)/python docs/solved/build.py

# The statements of the rule books and the tests that pin them.
books: .venv/tested
	$(BIN)/python docs/books/build.py

# The page of every environment, from the code.
environment-pages: .venv/tested
	$(BIN)/python docs/environments/build.py

# Writes the package of a new game, to be changed: make new-game NAME=nim, in examples/ or with DIR=folder.
new-game: .venv/tested
	@$(BIN)/python tools/new_game.py '$(NAME)' $(if $(DIR),'$(DIR)')

# The files of src/duels in which one move executes a line, at the terminal, in the browser and in environments.
trace: .venv/tested
	@$(BIN)/python -m tools.trace_move

# Trains and certifies hunt's strategy anew, about an hour; says whether it is the one that is shipped. Run it again
# to continue after an interruption.
hunt-strategy: .venv/tested
	$(BIN)/python -m tools.hunt train --out build/hunt-strategy

# What that strategy does and is worth, about twenty minutes.
hunt-study: .venv/tested
	$(BIN)/python -m tools.hunt study

# Each prints its result; three draw the pictures that the docs show.
examples: .venv-examples/ready
	.venv-examples/bin/python examples/q_learning.py --game lights --steps 100000
	.venv-examples/bin/python examples/masked_ppo.py --game leap --steps 10000
	.venv-examples/bin/python examples/masked_dqn.py --game leap --steps 100000
	.venv-examples/bin/python examples/hunt_cfr.py --plot docs/images/hunt_cfr.svg
	.venv-examples/bin/python examples/chain_ppo.py --plot docs/images/chain_ppo.svg
	.venv-examples/bin/python examples/jax_ppo.py
	.venv-examples/bin/python examples/alphazero.py --plot docs/images/alphazero.svg
	.venv-examples/bin/python examples/credit.py --plot docs/images/credit.svg

# The learners over five seeds, and the page: twenty minutes of one core, in two processes. What was run is kept;
# remove docs/baselines/*.json to run all anew.
baselines: .venv-examples/ready
	.venv-examples/bin/python examples/baselines.py docs/baselines
	.venv-examples/bin/python docs/baselines/build.py
	.venv-examples/bin/python docs/environments/build.py

# What the examples learn with is large, and nothing else needs it.
.venv-examples/ready: pyproject.toml examples/requirements.txt
	@test -d .venv-examples || $(PYTHON) -m venv .venv-examples
	@.venv-examples/bin/pip install --quiet --disable-pip-version-check -r examples/requirements.txt
	@.venv-examples/bin/pip install --quiet --disable-pip-version-check --editable '.[jax,rl,openspiel]'
	@touch $@

clean:
	rm -rf .venv .venv-* benchmarks/boardgame_io/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site
