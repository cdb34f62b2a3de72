# make run      shallow water on the sphere, in a fresh environment; results in out/
# make test     tests, and the doctests of the packages; SSR_THOROUGH=1 for all random examples
# make check    formatting, lint, types, import layers, vocabulary
# make ends     the tests with the oldest and the newest versions of Python, NumPy, SciPy and Numba;
#               needs python3.11 and python3.13
# make docs     the documentation as a site, from build/site/index.html on
# make notebooks  make and run the notebooks of docs/notebooks
# make tables   write the tables of measured times into the pages
# make bench    measure; results in build/bench-*.json
# make clean    remove all that the above made, the environment too

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := $(wildcard ssr boundary)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
FLOW := galewsky
TESTS :=

.DELETE_ON_ERROR:
.PHONY: run test check ends docs notebooks tables bench clean

run: $(VENV)/.apps
	$(BIN)/python -m apps.swe --case $(FLOW) --n 64 --plot out/$(FLOW).png --output out/$(FLOW).nc --checkpoint out/$(FLOW).checkpoint

# mpiexec comes with the environment.
test check: export PATH := $(CURDIR)/$(BIN):$(PATH)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal --durations=25 $(TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES) apps benchmarks
	$(BIN)/python tools/layers.py
	$(BIN)/python tools/vocabulary.py

ends: $(VENV)/.dev
	$(BIN)/nox

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: $(VENV)/.apps
	$(BIN)/python tools/notebooks.py

tables: $(VENV)/.made
	$(BIN)/python tools/tables.py

bench: $(VENV)/.apps
	mkdir -p build
	$(BIN)/python -m benchmarks.ssr --json build/bench-ssr.json
	$(BIN)/python -m benchmarks.programs --json build/bench-programs.json
	$(BIN)/python -m benchmarks.hpcg --json build/bench-hpcg.json
	$(BIN)/python -m benchmarks.boundary --json build/bench-boundary.json
	$(BIN)/python -m benchmarks.swe --json build/bench-swe.json
	$(BIN)/python -m benchmarks.npb --json build/bench-npb.json

clean:
	rm -rf $(VENV) .nox build dist out *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras: made again when pyproject.toml or the environment is newer.
$(VENV)/.apps $(VENV)/.docs $(VENV)/.dev: $(VENV)/.%: $(VENV)/.made pyproject.toml
	@echo "installing the packages and the '$*' extra into $(VENV)"
	@$(PIP) install --editable '.[$*]'
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed and $(PYTHON) is not; try: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu install python3-venv:" >&2; \
	  echo "    apt-get install python3-venv" >&2; \
	  echo "(python3.12-venv for an interpreter python3.12 beside the system's own)." >&2; \
	  exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@
