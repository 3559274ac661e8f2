# What computes first makes sure that .venv holds the locked requirements; what only reads asks for `make setup`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# nproc would answer with OMP_NUM_THREADS, which is about threads of a job.
CORES ?= $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || echo 2)
SCALE ?=
SET ?=
ARGS ?=
EXTRAS ?=
# What one paper hears and renders music with. Nothing else needs it, nor the C compiler that it is built with.
COMPILER := $(shell command -v $(or $(CC),cc) 2>/dev/null)
MUSIC := $(filter music-video-description results/music-video-description/%,$(MAKECMDGOALS))
override EXTRAS := $(EXTRAS) $(if $(filter audio,$(EXTRAS)),,$(if \
  $(or $(MUSIC),$(and $(COMPILER),$(filter all report,$(MAKECMDGOALS)))),audio))
INSTALL_AUDIO_ALONE = $(if $(filter audio,$(EXTRAS)),$(PIP) --no-deps \
  -r envs/audio_alone.txt)
PAPER ?=

# What the user gives reaches the engine as it was typed: by the environment, which neither make nor the shell expands.
unexport SCALE SET PAPER MODEL TASK LIKE FILE ENCODER
export GIVEN_SCALE := $(value SCALE)
export GIVEN_SET := $(value SET)
export GIVEN_PAPER := $(value PAPER)
export GIVEN_MODEL := $(value MODEL)
export GIVEN_TASK := $(value TASK)
export GIVEN_LIKE := $(value LIKE)
export GIVEN_FILE := $(value FILE)
export GIVEN_ENCODER := $(value ENCODER)
CONFIG := $(strip $(if $(GIVEN_SCALE),scale="$$GIVEN_SCALE") $(if $(GIVEN_SET),set="$$GIVEN_SET"))
# `--` ends the list of --config, so that a target is not taken for a setting.
SNAKEMAKE = $(BIN)/snakemake --cores $(CORES) $(ARGS) $(if $(CONFIG),--config $(CONFIG)) --
# Hundreds of processes start from copies of the checkout; where no bytecode may be written, each compiles all it imports.
PYTEST = env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# Bytecode is made by all processors at once, behind pip; files of other Pythons, which some packages carry, have none.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
# One stamp for each set of extras: asking for another set installs it.
EMPTY :=
STAMP := $(VENV)/.installed$(if $(strip $(EXTRAS)),-$(subst $(EMPTY) $(EMPTY),-,$(strip $(EXTRAS))))
DEV_STAMP := $(VENV)/.installed-dev
# An environment behind a link is another checkout's: nothing is ever installed there.
LINKED := $(shell test -L $(VENV) && echo yes)
ifdef LINKED
STAMP := ready
DEV_STAMP := ready
endif

# The code of this checkout, whatever .venv was installed from.
export PYTHONPATH := $(CURDIR)/workflow$(if $(PYTHONPATH),:$(PYTHONPATH))

.DEFAULT_GOAL := help
TARGETS := help all report neighbours list metrics explain compare export new preflight rehearse pin verify bundle test test-all test-release test-slow test-faults test-cluster test-smoke mutants lint lock wheel clean prune \
  setup
.PHONY: $(TARGETS) FORCE ready
# A goal that reads or lists computes nothing: what stands beside it is its argument, never a second goal.
READS := help list metrics explain compare export new preflight pin verify bundle prune mutants
READING := $(firstword $(filter $(READS),$(MAKECMDGOALS)))
BESIDE := $(if $(READING),$(filter-out $(READING),$(MAKECMDGOALS)))
ifneq ($(BESIDE),)
ifeq ($(filter list explain preflight,$(READING)),)
$(error make $(READING) takes no other goal ($(firstword $(BESIDE))); call make once for each)
endif
ifneq ($(filter $(TARGETS),$(BESIDE)),)
$(error make $(READING) and make $(firstword $(filter $(TARGETS),$(BESIDE))) are two goals; call make once for each)
endif
.PHONY: $(BESIDE)
$(BESIDE): ; @:
endif
# A variable that nothing reads is a slip: the run would be that of the defaults.
KNOWN := PYTHON CORES SCALE SET ARGS EXTRAS PAPER HUB TARGET RUNS MODEL TASK LIKE FILE ENCODER PACKAGE SINCE RECORD N TORCH_INDEX TEST_JOBS CC
UNKNOWN := $(firstword $(filter-out $(KNOWN) MAKE% -%,$(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))))
ifneq ($(UNKNOWN),)
$(error $(UNKNOWN)=…: there is no such variable; there are $(KNOWN), in capital letters)
endif
# A file of the workflow, a paper by its name, or a slip of the finger: only Snakemake knows, and what is up to date.
VARIED := $(filter results/%/sensitivity.tsv,$(filter-out $(BESIDE),$(MAKECMDGOALS)))
ASKED := $(filter-out $(TARGETS) $(VARIED) FORCE ready $(VENV)/% $(BESIDE),$(MAKECMDGOALS))

help: ## show the targets
	@awk -F ':.*## ' '/^[a-zA-Z_\/…-]+:.*## /{printf "  make %-22s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  make <paper>           all of one paper: $(basename $(notdir $(wildcard config/papers/*.yaml)))"
	@echo "  make results/<paper>/<table>.tsv   any file of the workflow; options: SCALE= CORES= SET=key=value ARGS="
	@echo "  make results/<paper>/sensitivity.tsv   what its verdicts depend on"

ready:
	@test -x $(BIN)/python || { echo "error: there is no $(BIN)/python; run make setup first" >&2; exit 1; }

ifndef LINKED
$(STAMP): envs/requirements.txt pyproject.toml $(foreach extra,$(EXTRAS),envs/$(extra).txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "error: Python 3.11 is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	@test -z "$(filter audio,$(EXTRAS))" -o -n "$(COMPILER)" || { echo "error: the extra audio (music-video-description) needs a C \
	compiler, and $(or $(CC),cc) does not exist; install gcc and Python's headers: every other paper runs without" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) \
	  $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r envs/requirements.txt $(foreach extra,$(EXTRAS),-r envs/$(extra).txt)
	$(INSTALL_AUDIO_ALONE)
	$(PIP) --no-deps --editable .
	$(COMPILE)
	touch $@

# Tests of the one paper that needs a C compiler are skipped where there is none.
$(DEV_STAMP): $(STAMP) envs/dev.txt envs/audio.txt envs/audio_alone.txt
	$(PIP) -r envs/dev.txt
	$(if $(COMPILER),$(PIP) -r envs/audio.txt)
	$(if $(COMPILER),$(PIP) --no-deps -r envs/audio_alone.txt)
	$(COMPILE)
	touch $@

setup: $(STAMP) ## create .venv with the locked requirements
else
setup:
	@echo "error: $(VENV) is a link: nothing is installed through it; remove the link and run make setup again" >&2; exit 1
endif

ifneq ($(ASKED),)
$(ASKED): $(STAMP) FORCE
	@$(SNAKEMAKE) '$(subst ','\'',$@)'
endif

# What verdicts depend on: a run for each variation of the paper, and then its claims again.
ifneq ($(VARIED),)
$(VARIED): $(STAMP) FORCE
	@$(BIN)/python -m reprlab.planning.sensitivity $(patsubst results/%/sensitivity.tsv,%,$@) --cores $(CORES) \
	  $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") $(if $(GIVEN_SET),--set "$$GIVEN_SET")
endif

FORCE:

# Where the one paper that needs a compiler cannot run, the others do.
all: override ARGS += $(if $(COMPILER),,--keep-going)
all: $(STAMP) ## every paper, and the report
	@$(SNAKEMAKE) all

report: $(STAMP) ## results/report.html and results/summary.tsv
	@$(SNAKEMAKE) results/report.html

neighbours: $(STAMP) ## results/neighbours.tsv: published rivals of the papers' methods beside them
	@$(SNAKEMAKE) results/neighbours.tsv

list: ready ## targets with minutes and disk; of one paper: make list depth
	@$(BIN)/python -m reprlab.planning.targets $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") $(foreach name,$(BESIDE),'$(name)')

metrics: ready ## every metric with its unit, direction and range
	@$(BIN)/python -m reprlab.planning.metric_list

explain: ready ## what would run and why: make explain results/depth/glue.tsv SET=…
	@$(BIN)/python -m reprlab.preflight.explain $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") \
	  $(if $(GIVEN_SET),--set "$$GIVEN_SET") $(or $(TARGET),$(foreach name,$(BESIDE),'$(name)'),all)

compare: ready ## two runs side by side: make compare RUNS="mini mask15" ARGS="--page compare.html --table cells.tsv"
	@$(BIN)/python -m reprlab.runs.compare $(RUNS) $(ARGS)

export: $(STAMP) ## a trained encoder for sentence-transformers: make export ENCODER=smollm2/l3prune_small_seed_0
	@$(BIN)/python -m reprlab.planning.encoders $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") \
	  $(if $(GIVEN_SET),--set "$$GIVEN_SET") "$$GIVEN_ENCODER"
	@$(SNAKEMAKE) "results/shared/sentence_transformers/$$GIVEN_ENCODER"

new: ready ## files to begin with: make new PAPER=my-paper | MODEL=my_t5 LIKE=t5_mini | TASK=reviews FILE=reviews.tsv
	@$(BIN)/python -m reprlab.scaffold $(if $(GIVEN_PAPER),--paper "$$GIVEN_PAPER") $(if $(GIVEN_MODEL),--model "$$GIVEN_MODEL") \
	  $(if $(GIVEN_TASK),--task "$$GIVEN_TASK") $(if $(GIVEN_LIKE),--like "$$GIVEN_LIKE") $(if $(GIVEN_FILE),--file "$$GIVEN_FILE")

# What `make test` leaves to `make test-all`.
LONG := slow or faults or cluster or release
PARALLEL = -n $(or $(TEST_JOBS),2) --dist loadfile --no-loadscope-reorder

test: $(DEV_STAMP) ## the suite: units, plans, one run of all papers at nano, faults on a toy paper
	$(PYTEST) $(PARALLEL) -m "not ($(LONG))" $(ARGS)

# Each part runs whatever became of the ones before it: a release is told all that fails.
PARTS := test test-release test-cluster test-faults test-slow
test-all: $(DEV_STAMP) ## what a release runs: make test, and all that is slow, breaks things, or needs Slurm
	@failed=; for part in $(PARTS); do $(MAKE) $$part || failed="$$failed $$part"; done; \
	  test -z "$$failed" || { echo "make test-all: failed:$$failed" >&2; exit 1; }

test-release: $(DEV_STAMP) ## every setting changed, every scale's plan, the rehearsal of every paper, the report in a browser
	$(PYTEST) $(PARALLEL) -m "release and not (slow or faults or cluster)" $(ARGS)

test-slow: $(DEV_STAMP) ## fuzzing, downloads, a whole paper on Slurm
	$(PYTEST) -m "slow" $(ARGS)

# In one process, which keeps the tally that it prints and records.
test-faults: $(DEV_STAMP) ## kills, full disks, edited code, lost records, damaged caches, clocks
	$(PYTEST) -m "faults" $(ARGS)

test-cluster: $(DEV_STAMP) ## the slurm profile against a one-node Slurm
	$(PYTEST) -n 2 --dist loadfile -m "cluster and not slow" tests/cluster $(ARGS)

test-smoke: $(DEV_STAMP) ## one array, one kill and one resume on a one-node Slurm
	$(PYTEST) -m "cluster" tests/cluster/test_smoke.py $(ARGS)

# Tests write what they are about; a fault is put into copies, never here.
mutants: $(DEV_STAMP) ## plausible faults that no test sees: make mutants PACKAGE=audio | SINCE=commit; RECORD=yes first, N=40
	@env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m tests.mutation $(if $(RECORD),--record) \
	  $(foreach name,$(PACKAGE),--package '$(name)') $(if $(SINCE),--since '$(SINCE)') $(if $(N),--number '$(N)') $(ARGS)

preflight: ready ## what a run (SCALE= SET= PAPER=) needs and does not have: origins, models, rows, disk, memory
	@$(BIN)/python -m reprlab.preflight $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") \
	  $(if $(GIVEN_SET),--set "$$GIVEN_SET") $(if $(GIVEN_PAPER),--paper "$$GIVEN_PAPER") \
	  $(foreach name,$(BESIDE),--paper '$(name)')

# Models of the hub and published data are small here, so that what is asked for is met before a GPU day is spent.
rehearse: $(STAMP) ## each kind of job of scale paper once, small: make rehearse PAPER=depth ARGS="--profile profiles/slurm" HUB=local
	@$(BIN)/python -m reprlab.preflight.rehearse $(if $(GIVEN_PAPER),--paper "$$GIVEN_PAPER") $(if $(GIVEN_SET),--set "$$GIVEN_SET") \
	  $(if $(HUB),--hub '$(HUB)') --cores $(CORES) $(ARGS)

pin: ready ## write config/hub.lock.json: the commit of each branch of the hub that SCALE=paper takes (ARGS=--update: anew)
	@$(BIN)/python -m reprlab.preflight.branches $(if $(GIVEN_SCALE),--scale "$$GIVEN_SCALE") $(ARGS)

verify: ready ## results that are not what their stages wrote
	@$(BIN)/python -m reprlab.reporting.verify

bundle: ready ## report and results in one archive: make bundle ARGS="runs/x --out x.zip"
	@$(BIN)/python -m reprlab.reporting.bundle $(ARGS)

lint: $(DEV_STAMP) ## ruff, types, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(BIN)/snakemake --lint --config scale=nano

wheel: $(STAMP) ## dist/reprlab-*.whl, for code of your own (docs/library.md)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist . && rm -rf build

lock: ## write envs/*.txt from envs/*.in (needs a network)
	PYTHON=$(PYTHON) bash envs/lock.sh

prune: ready ## free what can be made again without training: resume points, unpacked downloads, old plans and code
	$(BIN)/python -m reprlab.reporting.prune

clean: ## remove results and runs; downloads and .venv stay
	rm -rf results runs .snakemake
