# Everything a developer does. Each target does its own set-up; `make help` lists them.
PYTHON ?= python3
WORKERS ?= 2
VENV := .venv/bin
FUZZ_TARGET ?= onnx_importer
FUZZ_SECONDS ?= 600
FUZZ_NATIVE ?= model
# Packages of an extra of pyproject.toml that few targets need.
INSTALL = $(VENV)/pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[$(1)]"
CLANG ?= clang-19
REPORT := build/test-report.xml
# A worker that runs dry takes tests from the others: each begins with files of its own, whose fixtures are made once.
PYTEST := $(VENV)/python -m pytest --quiet -n $(WORKERS) --dist worksteal --durations=15 --durations-min=1

export PATH := $(CURDIR)/$(VENV):$(PATH)
# Some machines forbid Python to keep what it has compiled: each run of the tests would compile their files anew, for 10 s.
unexport PYTHONDONTWRITEBYTECODE

NATIVE_FILES = $(wildcard $(shell git ls-files --cached --others --exclude-standard '*.c' '*.cc' '*.h' '*.hpp'))
CMAKE_FILES = $(wildcard $(shell git ls-files --cached --others --exclude-standard '*CMakeLists.txt' '*.cmake'))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup lock demo test quick test-all test-times lint tidy format docs release test-train conformance oracles strangers bench-peers bench-arm bench-arm-loops bench-micro bench-vision bench-wasm bench-ops bench-profile bench-limits bench-history gallery first-hour fuzz fuzz-native fuzz-all mutants kills clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

setup: ## install what is missing: Debian packages, .venv, the package itself; LOCKED=1: by versions and hashes
	@$(PYTHON) scripts/setup_environment.py $(if $(LOCKED),--locked)

lock: setup ## write the versions and hashes that `make setup LOCKED=1` installs: scripts/python_packages.lock
	@$(VENV)/python scripts/lock_packages.py

demo: setup ## build a library for a small network, run it, check it, show its size and speed
	@$(VENV)/python examples/digits/demo.py

test: setup lint docs ## everything that a submission has to pass
	@$(PYTEST) --junitxml=$(REPORT)

quick: setup lint ## the tests that need seconds only, and no ARM toolchain
	@$(PYTEST) -m "not slow and not arm and not sweep"

test-all: setup lint docs ## the tests and the exhaustive sweeps, with the coverage of the package: build/coverage
	@$(PYTEST) -m "" --junitxml=$(REPORT) --cov --cov-report=term:skip-covered --cov-report=html

test-times: ## which capability used how much of the time of the last `make test`
	@$(VENV)/python scripts/test_times.py $(REPORT)

lint: setup ## check style, types, layers, sizes
	@$(VENV)/ruff check --quiet
	@$(VENV)/ruff format --check --quiet
	@# A busy machine may start the workers too late for mypy: the second run does without, and shows what is wrong.
	@$(VENV)/mypy --num-workers=2 >/dev/null 2>&1 || $(VENV)/mypy --no-error-summary
	@layers=$$($(VENV)/lint-imports --no-logo) || { echo "$$layers"; exit 1; }
	@$(VENV)/python scripts/check_sizes.py
	@$(VENV)/python scripts/check_includes.py
	@$(if $(NATIVE_FILES),$(VENV)/clang-format --dry-run --Werror $(NATIVE_FILES))
	@$(VENV)/gersemi --check --quiet $(CMAKE_FILES)

tidy: setup ## look for defects in the native runtime with clang-tidy; FILES=
	@$(VENV)/python -c "import clang_tidy" 2>/dev/null || $(call INSTALL,tidy)
	@$(VENV)/python scripts/run_clang_tidy.py --program $(VENV)/clang-tidy --workers $(WORKERS) $(FILES)

format: setup ## lay out all sources
	@$(VENV)/ruff check --quiet --fix --exit-zero
	@$(VENV)/ruff format --quiet
	@$(if $(NATIVE_FILES),$(VENV)/clang-format -i $(NATIVE_FILES))
	@$(VENV)/gersemi --in-place --quiet $(CMAKE_FILES)

docs: setup ## build the documentation into build/site; warnings are errors
	@# not --quiet: mkdocs then counts no warnings, and --strict lets them pass
	@log=$$(NO_MKDOCS_2_WARNING=1 $(VENV)/mkdocs build --strict 2>&1) || { echo "$$log"; exit 1; }

release: setup ## source archive and wheel, tried in a clean environment of each Python, into dist/; PYTHONS=, CHANGES=1 for a changed tree
	@$(VENV)/python scripts/release.py $(if $(PYTHONS),--pythons $(PYTHONS)) $(if $(CHANGES),--allow-changes)

test-train: setup ## install torch (a gigabyte) into build/train, and run the tests of training there; TORCH=, MARKED=sweep
	@$$($(VENV)/python scripts/train_environment.py --torch "$(TORCH)") -m pytest --quiet -m "$(or $(MARKED),not sweep)" tests/training

conformance: setup ## run ONNX's own conformance cases; what they show is in docs/conformance.md
	@$(VENV)/python -m tests.conformance

oracles: setup ## install other frameworks (gigabytes) and refresh what they are expected to compute; FRAMEWORKS=
	@$(VENV)/python scripts/refresh_oracles.py $(FRAMEWORKS)

strangers: setup ## judge random models, compared with their frameworks, into build/strangers.json; FAMILIES=onnx COUNT= SEED= PYTHON_WITH_TORCH=
	@$(VENV)/python -m tests.strangers $(if $(FAMILIES),--families $(FAMILIES)) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) \
		--processes $(WORKERS) $(if $(PYTHON_WITH_TORCH),--python $(PYTHON_WITH_TORCH))

gallery: setup ## export, build and compare real architectures (gigabytes of frameworks): docs/gallery.md; MODELS=, KEEP=1, PAGE=1, PYTHON_WITH_TORCH=
	@$(VENV)/python -m tests.gallery $(if $(MODELS),--models '$(MODELS)') $(if $(KEEP),--keep) $(if $(PAGE),--page) \
		$(if $(PYTHON_WITH_TORCH),--python $(PYTHON_WITH_TORCH))

first-hour: setup ## try init, check and build on every model of the tests: build/first-hour.json; TARGETS=, KINDS=, FRAMEWORKS=, EVERY=
	@$(VENV)/python -m tests.first_hour $(if $(TARGETS),--targets $(TARGETS)) $(if $(KINDS),--kinds $(KINDS)) \
		$(if $(FRAMEWORKS),--frameworks $(FRAMEWORKS)) $(if $(EVERY),--every $(EVERY))

bench-peers: setup ## Lathe beside other engines; SUITE=real, NETWORKS=, THREADS=, ENGINES=, DTYPE=int8, ROUNDS=, QUICK=1, PRIORITY=1, PAGE=1
	@$(VENV)/python -m tests.bench.peers $(if $(SUITE),--suite $(SUITE)) $(if $(PYTHON_WITH_TORCH),--python $(PYTHON_WITH_TORCH)) $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(ENGINES),--engines $(ENGINES)) $(if $(DTYPE),--dtype $(DTYPE)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUICK),--quick) $(if $(PRIORITY),--priority) \
		$(if $(PAGE),--page)

bench-arm: setup ## instructions per inference on ARM, in qemu; SUITE=real, NETWORKS=, ABIS=, DTYPES=, CPU=
	@$(VENV)/python -m tests.bench.arm $(if $(SUITE),--suite $(SUITE)) $(if $(PYTHON_WITH_TORCH),--python $(PYTHON_WITH_TORCH)) $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(ABIS),--abis $(ABIS)) \
		$(if $(DTYPES),--dtypes $(DTYPES)) $(if $(CPU),--cpu $(CPU))

bench-gpu: setup ## networks on the GPU of this machine, before and after tuning: build/bench-gpu.json; NETWORKS=, STORAGES=, MEMORIES=, WINOGRAD=, SIZE=, TUNE=, PEER=1
	@$(VENV)/python -m tests.bench.gpu $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(STORAGES),--storages $(STORAGES)) \
		$(if $(MEMORIES),--memories $(MEMORIES)) $(if $(WINOGRAD),--winograd $(WINOGRAD)) $(if $(SIZE),--size $(SIZE)) \
		$(if $(TUNE),--tune $(TUNE)) $(if $(PEER),--peer)

bench-hexagon: setup ## packets and instructions per inference on the Hexagon DSP, in qemu: build/bench-hexagon.json; NETWORKS=, SIZE=
	@$(VENV)/python -m tests.bench.hexagon $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(SIZE),--size $(SIZE))

bench-vision: setup ## image functions beside OpenCV and libyuv: build/bench-vision.json; FUNCTIONS=, ROUNDS=, ABIS=
	@$(VENV)/python -m tests.bench.vision $(if $(FUNCTIONS),--functions $(FUNCTIONS)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(ABIS),--abis $(ABIS))

bench-wasm: setup ## Lathe beside onnxruntime-web and TensorFlow.js in one browser: build/bench-wasm.json; NETWORKS=, DTYPES=, ROUNDS=, THREADS=, NODE=1
	@$(VENV)/python -m tests.bench.wasm $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(DTYPES),--dtypes $(DTYPES)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(THREADS),--threads $(THREADS)) $(if $(NODE),--node)

bench-micro: setup ## instructions and memory on microcontrollers, in qemu: build/bench-micro.json; MODELS=, ABIS=, TFLM= (sources of tflite-micro)
	@$(VENV)/python -m tests.bench.micro $(if $(MODELS),--models $(MODELS)) $(if $(ABIS),--abis $(ABIS)) $(if $(TFLM),--tflm $(TFLM))

bench-arm-loops: setup ## what llvm-mca says of the inner loops on ARM; CPUS=, MCA= (apt-get install llvm-19)
	@$(VENV)/python -m tests.bench.arm.inner_loops $(if $(CPUS),--cpus $(CPUS)) $(if $(MCA),--mca $(MCA))

fuzz: setup ## fuzz a reader of files for FUZZ_SECONDS: FUZZ_TARGET=, one of TARGETS in tests/fuzz/__main__.py
	@$(VENV)/python -c "import atheris" 2>/dev/null || $(call INSTALL,fuzz)
	@$(VENV)/python -m tests.fuzz $(FUZZ_TARGET) --seconds $(FUZZ_SECONDS)

fuzz-native: setup ## fuzz the native runtime with all kernels, the kmodel interpreter or the model of the MAX7800x, sanitized, for FUZZ_SECONDS: FUZZ_NATIVE=model kmodel max7800x
	@$(VENV)/python -c "import atheris" 2>/dev/null || $(call INSTALL,fuzz)
	@CC=$(CLANG) CXX=$(subst clang,clang++,$(CLANG)) $(VENV)/cmake -S tests/fuzz/native -B build/fuzz/native -G Ninja --log-level=ERROR
	@$(VENV)/ninja -C build/fuzz/native -j $(WORKERS) --quiet $(FUZZ_NATIVE)_fuzzer
	@$(VENV)/python -m tests.fuzz native_$(FUZZ_NATIVE) --seconds $(FUZZ_SECONDS)

fuzz-all: setup ## fuzz every reader and every native program for HOURS= each (0.05), into build/fuzz/summary.json
	@$(VENV)/python -c "import atheris" 2>/dev/null || $(call INSTALL,fuzz)
	@CC=$(CLANG) CXX=$(subst clang,clang++,$(CLANG)) $(VENV)/cmake -S tests/fuzz/native -B build/fuzz/native -G Ninja --log-level=ERROR
	@$(VENV)/ninja -C build/fuzz/native -j $(WORKERS) --quiet model_fuzzer kmodel_fuzzer max7800x_fuzzer
	@$(VENV)/python -m tests.fuzz all --seconds $$($(PYTHON) -c "print(int(3600 * $(or $(HOURS),0.05)))")

kills: setup ## kill convert, build, quantize, tune and, with torch, train at COUNT= random moments; run each again; SEED=
	@$(VENV)/python -m tests.workflow.kills --count $(or $(COUNT),200) --seed $(or $(SEED),1)

mutants: setup ## plant COUNT= faults in each of ROOMS= and report those that no test finds: build/mutants.json; SEED=, AGAIN=1
	@$(VENV)/python -m tests.mutants $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(if $(AGAIN),--again) $(if $(ROOMS),--rooms $(ROOMS))

bench-ops: setup ## time single kernels, or count what they execute on ARM; FILTER=, THREADS=, ABI=, CPU=, ISAS=
	@$(VENV)/python -m tests.bench.ops $(if $(FILTER),--filter '$(FILTER)') $(if $(THREADS),--threads $(THREADS)) \
		$(if $(ABI),--abi $(ABI)) $(if $(CPU),--cpu $(CPU)) $(if $(ISAS),--isas $(ISAS))

bench-profile: setup ## where the time of a network goes; NETWORKS=, THREADS=, NODES=, DTYPE=int8
	@$(VENV)/python -m tests.bench.profile $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(NODES),--nodes $(NODES)) $(if $(DTYPE),--dtype $(DTYPE))

bench-limits: setup ## how near networks come to what this machine can do: build/bench-limits.json; NETWORKS=, THREADS=, RUNS=, PAGE=1
	@$(VENV)/python -m tests.bench.limits $(if $(NETWORKS),--networks $(NETWORKS)) $(if $(PYTHON_WITH_TORCH),--python $(PYTHON_WITH_TORCH)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(RUNS),--runs $(RUNS)) $(if $(PAGE),--page)

bench-history: setup ## measure this commit, add it to tests/bench/history/history.jsonl and draw that; DRY=1 adds nothing
	@$(VENV)/python -m tests.bench.history $(if $(DRY),--dry)

clean: ## remove everything that was made, .venv included
	rm -rf build dist .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis examples/*/build
	rm -f buildtool/_runtime.*.so buildtool/schemas/*_pb2.py buildtool/schemas/*_pb2.pyi
