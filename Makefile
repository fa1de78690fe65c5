# Everything from a bare clone: a machine needs only python3 (3.11 or later) with pip and venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find src -name '*.py')
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests, and Hypothesis with them, are rewritten by pytest: seconds for each process where nothing is kept.
export PYTHONDONTWRITEBYTECODE :=

.SECONDARY:
.PHONY: demo test soak lint bench defaults docs lock clean servers

demo: .venv/cli
	$(BIN)/onmargin demo --figure out/demo.png

# Tests of formulas and of the Python around the loops that are marked `uncompiled` run as plain Python: compiling what
# they alone use would take minutes. `make soak` has them as machine code.
test: .venv/dev servers
	$(BIN)/python -m pytest -m 'not soak and not uncompiled'
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m 'uncompiled and not soak' \
	  $$(grep -rl --include='test_*.py' 'soaking import.*uncompiled' tests)

# What takes long by nature: long streams, crash loops, big fuzz; at most 20 minutes.
soak: .venv/dev servers
	ONMARGIN_SOAK=1 $(BIN)/python -m pytest -m soak

# $(call debian,program:package ...): Debian's packages of programs that are missing, where that can be.
debian = @PATH="$$PATH:/usr/sbin:$$(echo /usr/lib/postgresql/*/bin)"; for pair in $(1); do \
	  command -v $${pair%:*} >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	  { apt-get update -q && apt-get install -y -q --no-install-recommends $${pair\#*:}; } >/dev/null || \
	  echo "$${pair\#*:} could not be installed: what needs it is skipped"; \
	done

# What tests run against: Redis, NATS, PostgreSQL, a browser.
servers:
	$(call debian,redis-server:redis-server nats-server:nats-server postgres:postgresql chromium:chromium)

# What `make bench` sends requests with.
.PHONY: load
load:
	$(call debian,wrk:wrk)

# Format, lint, strict types and import rules, as pre-commit runs them before every commit.
lint: .venv/dev
	$(BIN)/pre-commit run --all-files --show-diff-on-failure

# Ours beside the peers and beside the limit of the machine: docs/benchmarks.md, about ten minutes on two quiet
# cores. ARGS="--quick" or "--only NAME" write to out/bench alone.
bench: .venv/dev load
	$(BIN)/python -m benchmarks $(ARGS)

# The table from which defaults are chosen: ours beside scikit-learn's, River's and Vowpal Wabbit's on real sets,
# in the folder that ONMARGIN_DATA names. What was measured stays in out/defaults; ARGS="--resume", "--only AROW", "--quick".
defaults: .venv/dev .venv/bench.packages
	$(BIN)/python -m benchmarks.defaults $(ARGS)

docs: .venv/dev
	$(BIN)/python -m docs.build

# uv installs in seconds what pip takes minutes for.
.venv/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q 'uv>=0.5,<1'
	touch $@

# Bytecode is compiled at install, so that PYTHONDONTWRITEBYTECODE does not make every start slow.
.venv/%.packages: .venv/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[$*]'
	touch $@

.venv/cli: .venv/cli.packages $(SOURCES)
	$(BIN)/python -m compileall -q src
	$(BIN)/onmargin warm
	touch $@

.venv/dev: .venv/dev.packages $(SOURCES)
	$(BIN)/python -m compileall -q src
	touch $@

# Pin what was tested: names and versions, no addresses.
lock: .venv/uv
	$(BIN)/uv pip compile -q --no-header --no-annotate --no-emit-index-url --universal \
	  --extra dev --extra bench --python-version 3.11 pyproject.toml -o constraints.txt

clean:
	rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache .hypothesis
