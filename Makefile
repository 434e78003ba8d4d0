# `make demo` and `make test` do all set-up themselves, in .venv.
PYTHON ?= python3
BIN = .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test fuzz tutorials docs lint bench clean

demo: .venv/.cli
	$(BIN)/scorecal demo

# One thread a process: with a process for each core, more would only get into each other's way.
# Files in their own order: by the number of their tests, a file of few long ones would come last, and alone.
test: .venv/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# Look for inputs that break a promise: make fuzz MINUTES=30 SEED=123
MINUTES ?= 5
fuzz: .venv/.dev
	cd tests && OMP_NUM_THREADS=1 ../$(BIN)/python -m fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(CAMPAIGNS)

tutorials: .venv/.dev
	for tutorial in docs/tutorials/*.py; do echo "$$tutorial"; OMP_NUM_THREADS=1 $(BIN)/python "$$tutorial" || exit 1; done

docs: .venv/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The schemas of files that a code host reads come with check-jsonschema: nothing is downloaded.
lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

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

.venv/.docs: .venv/.cli
	$(PIP) --group docs
	touch $@
