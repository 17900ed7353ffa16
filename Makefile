# The commands of the book and the library; `make help` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SITE := _build/html
FIRST := $(SITE)/book/welcome.html
SOURCES := $(shell find shuffledp -name '*.py' -o -name '*.yaml')
UV := uv==0.13.9
COMPILE := --python-version 3.11.7 --generate-hashes --no-header --no-annotate --no-emit-index-url --quiet
TEX := texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended texlive-xetex latexmk \
	fonts-freefont-otf tex-gyre

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help env book ledger test browser verify notebooks classroom lint format serve bench pdf tex lock clean

help: ## list these commands
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

env: .venv/.done ## create .venv from the hash lock
.venv/.done: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

book: env _build/evidence.json ## build the book into _build/html, warnings as errors
	rm -rf $(SITE) _build/.doctrees
	$(BIN)/jupyter-book build . --all -W -n --keep-going --quiet
	@test -s $(FIRST) || { echo "the build wrote no page: $(FIRST) is missing" >&2; exit 1; }
	@echo "The book: file://$(CURDIR)/$(FIRST)"

_build/evidence.json: $(SOURCES) | env
	@mkdir -p _build
	$(BIN)/shuffledp verify --json > $@

ledger: book ## the ledger pages, and ledger.json for other software
	@echo "The ledger: file://$(CURDIR)/$(SITE)/ledger.json"

verify: env ## check every claim of the ledger, one line each
	$(BIN)/shuffledp verify

test: book ## build the book, then run every test and every notebook
	$(BIN)/python -m pytest -q -n 2 --ignore tests/book/test_browser.py --nbval --nbval-current-env \
		--nbval-cell-timeout=120 --nbval-sanitize-with notebooks/sanitize.cfg

browser: env ## open every page of the built book in headless Chromium
	@command -v $${CHROMIUM:-chromium} > /dev/null || { echo "needs Chromium (Debian: apt-get install chromium)" >&2; exit 1; }
	@test -s $(FIRST) || { echo "build the book first: make book" >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	$(BIN)/python -m pytest -q -n 2 tests/book/test_browser.py

notebooks: env ## run the notebooks and store their outputs (ONLY=notebooks/x.ipynb for some)
	$(BIN)/python notebooks/refresh.py $(ONLY)

classroom: env ## student copies, their solutions and sheets to print, in _build/classroom
	$(BIN)/python notebooks/classroom.py
	@echo "The sheets: file://$(CURDIR)/_build/classroom/sheets"

lint: env ## ruff (Python and notebooks) and codespell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

format: env ## let ruff repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

serve: ## serve the built book at http://localhost:8000
	$(BIN)/python -m http.server --directory $(SITE) --bind 127.0.0.1 8000

bench: env ## speed and accuracy against the baselines, as ratios
	@if ls tests/benchmarks/*.py > /dev/null 2>&1; then \
		for f in tests/benchmarks/*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done; \
	else echo "no benchmarks yet (tests/benchmarks/*.py)"; fi

pdf: tex env _build/evidence.json ## the book as one PDF; needs XeLaTeX
	$(BIN)/jupyter-book build . --all --builder pdflatex --quiet
	@echo "The PDF: file://$(CURDIR)/_build/latex/book.pdf"

tex:
	@{ command -v xelatex && command -v latexmk; } > /dev/null || \
		{ printf 'needs XeLaTeX, on Debian:\n  apt-get install --no-install-recommends %s\n' "$(TEX)" >&2; exit 1; }

lock: ## derive both hash locks from environment.yml and pyproject.toml
	$(PYTHON) -m venv _build/lock
	_build/lock/bin/pip install --quiet --disable-pip-version-check $(UV)
	sed -n 's/^ *- \([A-Za-z0-9_.-]*==.*\)/\1/p' environment.yml > _build/lock/direct.in
	_build/lock/bin/uv pip compile _build/lock/direct.in --output-file requirements.lock $(COMPILE)
	_build/lock/bin/uv pip compile --group browser --constraint requirements.lock --output-file requirements-browser.lock \
		$(COMPILE)
	rm -rf _build/lock

clean: ## remove what the build wrote (not .venv)
	rm -rf _build
