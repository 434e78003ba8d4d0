# `make demo` and `make test` do all set-up themselves, in .venv.
PYTHON ?= python3
BIN = .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint bench clean

demo: .venv/.cli
	$(BIN)/scorecal demo

test: .venv/.dev
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.dev
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf .venv

.venv/.pip:
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade "pip>=25.1"
	touch $@

.venv/.cli: .venv/.pip pyproject.toml constraints.txt
	$(PIP) --editable ".[cli]"
	touch $@

.venv/.dev: .venv/.cli
	$(PIP) --editable ".[cli,torch,jax,numpyro,sbi,reproduce,dask]" --group test --group lint
	touch $@
