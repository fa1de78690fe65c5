# Everything from a bare clone: a machine needs only python3 (3.11 or later) with pip and venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find src -name '*.py')
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench docs lock clean

demo: .venv/user
	$(BIN)/onmargin demo

test: .venv/dev
	$(BIN)/python -m pytest

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/dev
	$(BIN)/python -m benchmarks

docs: .venv/dev
	$(BIN)/python -m docs.build

# uv installs in seconds what pip takes minutes for.
.venv/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q 'uv>=0.5,<1'
	touch $@

.venv/user: .venv/uv pyproject.toml constraints.txt $(SOURCES)
	$(call install,cli)

.venv/dev: .venv/uv pyproject.toml constraints.txt $(SOURCES)
	$(call install,dev)
	touch .venv/user

# Bytecode is compiled here, so that PYTHONDONTWRITEBYTECODE does not make every start slow; the
# long part (other people's packages) only when a package was added.
define install
	$(BIN)/uv pip install -q --python $(BIN)/python --compile-bytecode -c constraints.txt -e '.[$(1)]'
	$(BIN)/python -m compileall -q -j 0 src
	touch $@
endef

# Pin what was tested: names and versions, no addresses.
lock: .venv/uv
	$(BIN)/uv pip compile -q --no-header --no-annotate --no-emit-index-url --universal \
	  --extra dev --python-version 3.11 pyproject.toml -o constraints.txt

clean:
	rm -rf .venv out .pytest_cache .mypy_cache .ruff_cache .hypothesis
