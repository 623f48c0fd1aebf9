# One command for everything; `make help` lists them. Needs Python 3.11 or newer, a C++20 compiler and
# make: cmake, ninja and the rest come from PyPI into .venv. Every target that runs the package first
# rebuilds the core and installs it, so a stale binary is never tested.
#
#   PYTHON=python3.12   which Python makes .venv           ARGS="-k token"   further words for pytest
#   FUZZ_SECONDS=60     time for each fuzzer               BENCH_ARGS=...    words for the benchmark

PYTHON ?= python3
ARGS ?=
BENCH_ARGS ?=
FUZZ_SECONDS ?= 60
FUZZ_CXX ?= $(firstword $(shell command -v clang++-19 clang++))
SANITIZE_CXX ?= g++

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
EDITABLE := build/editable
# pip says nothing when all is well.
PIP := -m pip --disable-pip-version-check -qq
CPP := $(wildcard $(foreach end,cpp hpp inl,src/core/*.$(end) src/bindings/*.$(end) fuzz/*.$(end)))
PYTHON_CODE := $(wildcard src tests tools bench)
# Where the environment keeps compiled packages.
PLATLIB = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
CONFIGURE = $(BIN)/cmake -S . -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" \
    -DCMAKE_BUILD_TYPE=Debug -DROUGHLY_DEVELOPER=ON

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	    || sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1: \2/p' $(MAKEFILE_LIST)

# --- the environment -------------------------------------------------------------------------------

# A stamp is written last, so what was interrupted is done again.
$(VENV)/.made:
	@command -v "$(PYTHON)" > /dev/null || { \
	    echo "make: python: '$(PYTHON)' was not found, wanted Python 3.11 or newer"; \
	    echo "hint: install it, or name one: make PYTHON=python3.12"; exit 2; } >&2
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "make: python: '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1), wanted 3.11 or newer"; \
	    echo "hint: name a newer one: make PYTHON=python3.12"; exit 2; } >&2
	@"$(PYTHON)" -c 'import ensurepip, venv' 2> /dev/null || { \
	    echo "make: python: '$(PYTHON)' has no venv module with pip, wanted both"; \
	    echo "hint: on Debian and Ubuntu: apt-get install python3-venv"; exit 2; } >&2
	@command -v $${CXX:-c++ g++ clang++} > /dev/null || { \
	    echo "make: compiler: no C++ compiler was found ($${CXX:-c++, g++, clang++}), wanted C++20"; \
	    echo "hint: on Debian and Ubuntu: apt-get install g++; or set CXX"; exit 2; } >&2
	@echo "making $(VENV) (once)"
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python $(PIP) install --upgrade 'pip>=25.1'
	@touch $@

# The editable install knows the package's files by name, so a new one calls for a new install.
.PHONY: always
$(EDITABLE)/.files: always
	@mkdir -p $(@D)
	@find src/roughly -type f -not -name '*.pyc' | sort > $@.now
	@if cmp -s $@.now $@; then rm $@.now; else mv $@.now $@; fi

# In the build folder: deleting either that or .venv makes both anew.
$(EDITABLE)/.installed: $(VENV)/.made pyproject.toml $(EDITABLE)/.files
	@echo "installing what the build needs, building the core, installing roughly and its tools"
	@$(BIN)/python $(PIP) install --group build
	@$(BIN)/python $(PIP) install --no-build-isolation -C cmake.define.ROUGHLY_DEVELOPER=ON \
	    --editable . --group dev
	@touch $@

# Parts that only some tests need.
$(EDITABLE)/.optional: $(EDITABLE)/.installed
	@echo "installing the browser driver, Scrapy and the rest of the optional parts"
	@$(BIN)/python $(PIP) install --group optional
	@touch $@
$(EDITABLE)/.spark: $(EDITABLE)/.installed
	@echo "installing Spark"
	@$(BIN)/python $(PIP) install --group spark
	@touch $@

# CMAKE_INSTALL_ALWAYS: otherwise two builds within one second count as the same file. compileall:
# Python may have been told to write no bytecode, and then would compile the package at every start.
.PHONY: build
build: $(EDITABLE)/.installed ## the C++ core, compiled and installed into .venv
	@$(BIN)/cmake --build $(EDITABLE) -- --quiet
	@CMAKE_INSTALL_ALWAYS=1 $(BIN)/cmake --install $(EDITABLE) --prefix "$(PLATLIB)" > /dev/null
	@$(BIN)/python -m compileall -q src/roughly

# --- run and check ---------------------------------------------------------------------------------

.PHONY: demo
demo: build ## see it work
	@$(BIN)/roughly demo

.PHONY: check
check: build ## formatting, lint and types
	@$(BIN)/ruff format --quiet --check $(PYTHON_CODE) || { \
	    echo "hint: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet $(PYTHON_CODE)
	@$(BIN)/clang-format --dry-run -Werror $(CPP) || { echo "hint: make format" >&2; exit 1; }
	@$(BIN)/mypy

.PHONY: test
test: check $(if $(shell command -v java),$(EDITABLE)/.spark) ## the checks and the tests, property tests with few examples
	@ROUGHLY_TESTS=light $(BIN)/pytest --numprocesses=auto --dist=loadfile $(ARGS)

.PHONY: test-all
test-all: check $(EDITABLE)/.optional $(EDITABLE)/.spark ## the checks and the tests with full counts on all cores; ROUGHLY_REQUIRE=a,b allows no skips
	@ROUGHLY_TESTS=all $(BIN)/pytest --numprocesses=auto --dist=loadfile $(ARGS)

# ROUGHLY_KILLS: how often a process that writes to a growing index is killed.
# ROUGHLY_REQUESTS: how many requests a service gets from clients of all manners.
.PHONY: soak
soak: build ## a writer killed 10,000 times, a service asked a million times, 200,000 documents on Spark
	@ROUGHLY_TESTS=all ROUGHLY_KILLS=$${ROUGHLY_KILLS:-10000} $(BIN)/pytest tests/test_seen.py -k killed $(ARGS)
	@ROUGHLY_TESTS=all ROUGHLY_REQUESTS=$${ROUGHLY_REQUESTS:-1000000} $(BIN)/pytest tests/test_web_soak.py $(ARGS)
	@ROUGHLY_TESTS=all ROUGHLY_WEB=$${ROUGHLY_WEB:-200000} $(BIN)/pytest tests/test_engine_web.py $(ARGS)

.PHONY: format
format: $(EDITABLE)/.installed ## format Python and C++
	@$(BIN)/ruff check --quiet --fix --select I $(PYTHON_CODE)
	@$(BIN)/ruff format --quiet $(PYTHON_CODE)
	@$(BIN)/clang-format -i $(CPP)

.PHONY: stub
stub: build ## the type stub of the core, src/roughly/_core.pyi, generated anew
	@$(BIN)/python -m nanobind.stubgen --quiet -m roughly._core -o src/roughly/_core.pyi

# --- sanitizers, fuzzers, benchmarks ---------------------------------------------------------------

# The Python that runs is not built with ASan, so the run-time goes in front; --capture=sys because the
# default capture swallows the report. tests/conftest.py puts ROUGHLY_CORE in place of the core.
.PHONY: sanitize
sanitize: $(EDITABLE)/.installed ## the core's tests under AddressSanitizer and UBSan
	@$(CONFIGURE) -B build/sanitize -DROUGHLY_SANITIZE=ON -DCMAKE_CXX_COMPILER=$(SANITIZE_CXX) \
	    -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" > /dev/null
	@$(BIN)/cmake --build build/sanitize -- --quiet
	@ROUGHLY_TESTS=light ROUGHLY_CORE="$$(echo build/sanitize/_core*.so)" PYTHONMALLOC=malloc \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	    LD_PRELOAD="$$($(SANITIZE_CXX) -print-file-name=libasan.so) \
	    $$($(SANITIZE_CXX) -print-file-name=libstdc++.so.6)" \
	    $(BIN)/python -m pytest --capture=sys -m core $(ARGS)

# Seeds are fuzz/seeds/NAME; whatever crashed is kept in fuzz/crashers/NAME, committed, and tried first.
.PHONY: fuzz
fuzz: $(EDITABLE)/.installed ## every fuzzer of fuzz/ for FUZZ_SECONDS each
	@test -n "$(FUZZ_CXX)" || { \
	    echo "make: fuzz: no clang++ was found, wanted one with libFuzzer"; \
	    echo "hint: apt-get install clang-19 libclang-rt-19-dev; or set FUZZ_CXX"; exit 2; } >&2
	@$(CONFIGURE) -B build/fuzz -DROUGHLY_FUZZ=ON -DCMAKE_CXX_COMPILER=$(FUZZ_CXX) > /dev/null
	@$(BIN)/cmake --build build/fuzz -- --quiet
	@export ASAN_SYMBOLIZER_PATH="$$(command -v llvm-symbolizer-19 llvm-symbolizer addr2line | head -n 1)"; \
	for source in fuzz/*.cpp; do \
	    name=$$(basename $$source .cpp); \
	    seeds=fuzz/seeds/$$name; crashers=fuzz/crashers/$$name; found=build/fuzz/corpus/$$name; \
	    mkdir -p $$crashers $$found; \
	    echo "fuzz_$$name: $(FUZZ_SECONDS) s"; \
	    build/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 \
	        -verbosity=0 -artifact_prefix=$$crashers/ $$found $$crashers $$(ls -d $$seeds 2> /dev/null || true); \
	    rmdir -p $$crashers 2> /dev/null || true; \
	done

# The build a user gets (no editable, no -Werror), beside the peers.
.PHONY: bench
bench: $(EDITABLE)/.installed ## speed against the peers, in .venv-bench
	@if [ ! -f .venv-bench/.made ] || [ pyproject.toml -nt .venv-bench/.made ]; then \
	    echo "making .venv-bench"; \
	    "$(BIN)/python" -m venv --clear .venv-bench; \
	    .venv-bench/bin/python $(PIP) install --upgrade 'pip>=25.1'; \
	    .venv-bench/bin/python $(PIP) install --group bench; \
	    touch .venv-bench/.made; fi
	@rm -rf build/wheel
	@$(BIN)/python $(PIP) wheel --no-build-isolation --no-deps -C build-dir=build/bench \
	    --wheel-dir build/wheel .
	@.venv-bench/bin/python $(PIP) install build/wheel/*.whl
	@.venv-bench/bin/python $(PIP) install --force-reinstall --no-deps build/wheel/*.whl
	@.venv-bench/bin/python -m bench $(BENCH_ARGS)

.PHONY: clean
clean: ## remove everything that was built or installed here
	@rm -rf .venv .venv-bench build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2> /dev/null || true
