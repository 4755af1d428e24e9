# make help lists the targets. Go is all that has to be there before.

# The recipes use pipefail nowhere and bash only in .ci/run: any POSIX shell will do.
SHELL      := /bin/sh
GO         ?= go
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
ARGS       ?=
# Packages tested at the same time. Most tests wait, on simulated servers; those of some
# packages start ZooKeeper ensembles of three JVMs each, and need the CPU.
PARALLEL   ?= 3
# Parallel tests of a package at the same time. Most of them wait.
BESIDE     ?= 8
TIMEOUT    ?= 20m
BENCHTIME  ?= 5x
FUZZTIME   ?= 30s
# Processes that keep the CPUs busy during make stress: two for each CPU.
LOAD       ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
# The ZooKeeper that setup, test, verify, selftest and the benchmarks run: a version,
# which is installed if need be, a jar, or the folder of a release. Empty: the system's.
ZOOKEEPER  ?= $(ZKVERIFY_ZOOKEEPER)
COMPOSE    ?= $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)

ifneq ($(ZOOKEEPER),)
# Tests run in folders of their own.
override ZOOKEEPER := $(if $(findstring /,$(ZOOKEEPER)),$(abspath $(ZOOKEEPER)),$(ZOOKEEPER))
export ZKVERIFY_ZOOKEEPER := $(ZOOKEEPER)
INSTALL_ZOOKEEPER := --zookeeper $(ZOOKEEPER)
endif

.DEFAULT_GOAL := help
.PHONY: help setup build build-sim build-mutants check test-fast test-simulated test test-real fuzz stress verify selftest interop spec bench bench-checker bench-loss up down clean go curator images image chromium kazoo promtool byteman spin kerberos

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

go:
	@command -v $(GO) >/dev/null 2>&1 || { echo "Go is missing: install the version that go.mod names from https://go.dev/dl/" >&2; exit 1; }

setup: ## make sure that Java and ZooKeeper are there, install them if they are not; ZOOKEEPER= is a version
	@sh ensemble/install.sh $(INSTALL_ZOOKEEPER)

# Only what tests with Curator needs; without it they are skipped.
curator:
	@sh ensemble/install.sh --curator $(INSTALL_ZOOKEEPER)

# Only what tests in containers need, if there is a Docker daemon; without it they
# are skipped.
images: go
	@sh ensemble/image/build.sh || echo "no images of ZooKeeper and Toxiproxy: the tests in containers will be skipped"

image: go ## build the container image zkverify/zkverify, which has Java, ZooKeeper and zkverify
	@sh ensemble/image/build.sh zkverify

# Only what tests of the report with a browser need; without it they are skipped.
chromium:
	@sh ensemble/install.sh --chromium

# Only what the test of a worker in Python needs; without it it is skipped.
kazoo:
	@sh ensemble/install.sh --kazoo

# Only what tests of the alert rules need; without it they are skipped.
promtool:
	@sh ensemble/install.sh --promtool

# Only what tests of failpoints in real servers need; without it they are skipped.
byteman:
	@sh ensemble/install.sh --byteman || echo "no Byteman: the tests of failpoints will be skipped"

# Only what the searches of the models need; without it they are skipped.
spin:
	@sh ensemble/install.sh --spin

# Only what the tests of Kerberos need; without it they are skipped.
kerberos:
	@sh ensemble/install.sh --kerberos

build: go ## build bin/zkverify
	$(GO) build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/zkverify ./cmd/zkverify

build-sim: go ## build bin/zkverify-sim on the seeded runtime, where a seed repeats a run exactly
	$(GO) run ./workload/mutants/build -seeded -version $(VERSION) -o bin/zkverify-sim

build-mutants: go ## build bin/zkverify-mutants, which has the mutants of the recipes, on both runtimes
	$(GO) run ./workload/mutants/build -mutants -version $(VERSION) -o bin/zkverify-mutants
	$(GO) run ./workload/mutants/build -mutants -seeded -version $(VERSION) -o bin/zkverify-mutants-sim

# Format and code, before any test: go test need not vet again.
check: go
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

test-fast: check ## check format and code, run the tests that need neither Java nor Docker nor a browser; ARGS= are options of go test
	$(GO) test -short -vet=off -p $(PARALLEL) $(ARGS) ./...

# ensemble/model compares the model with real servers, and needs those.
test-simulated: go ## run the tests of the locks on simulated servers, without Java; ARGS= are options of go test
	ZKVERIFY_TEST_SERVERS=simulated $(GO) test -timeout $(TIMEOUT) -parallel $(BESIDE) $(ARGS) ./recipes ./zktest ./ensemble/simulated ./ensemble/model/cluster

.PHONY: told
told:
	@echo "make test takes 10 to 20 minutes on two cores, make test-real about 30"

# Packages that compute, some of them in virtual time. The race detector makes their tests take up
# to five times as long. What they share between goroutines, tests of recipes, workload and
# cmd/zkverify use with the race detector.
PLAIN = ./checker/... ./histories/... ./report/... ./spec/... ./workload/simulation
TEST = $(GO) test -vet=off -timeout $(TIMEOUT) -p $(PARALLEL) -parallel $(BESIDE) $(ARGS)

# A test runs on simulated servers unless it says why it needs real ones (ensemble/ensembletest).
test: told check curator images chromium kazoo promtool byteman spin kerberos ## check format and code, run every test, with the race detector where packages do more than compute; ZOOKEEPER= as with setup, ARGS= are options of go test
	@status=0; \
	$(if $(PLAIN),$(TEST) $(PLAIN) || status=$$?;) \
	GORACE="suppressions=$(CURDIR)/.ci/races atexit_sleep_ms=0" $(TEST) -race $(if $(PLAIN),$$($(GO) list ./... | grep -vxF "$$($(GO) list $(PLAIN))"),./...) || status=$$?; \
	exit $$status

test-real: PLAIN = # the race detector for all
test-real: export ZKVERIFY_TEST_SERVERS = real
test-real: TIMEOUT = 40m
test-real: PARALLEL = 2
test-real: test ## make test with every test on real servers: every night, and before a release
	cd recipes/examples/sqltable && $(GO) test ./... # a module of its own, for its driver

fuzz: go ## fuzz every target for FUZZTIME= each; what fails is left in testdata/fuzz of its package
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' .); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "$$name in $$(dirname $$file)"; \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$(dirname $$file) || exit 1; \
		done; \
	done

stress: ## make test-real on a machine that is busy: LOAD= is with how many processes
	.ci/load $(LOAD) $(MAKE) test-real TIMEOUT=60m

# Simulated servers need nothing to be installed.
NEEDS := $(if $(findstring simulated,$(ARGS)),,setup)

verify: $(NEEDS) build ## build and run a minute of faults, or what ARGS= says; ARGS="--ensemble simulated" installs nothing
	@echo "$(if $(findstring --duration,$(ARGS)),this takes as long as --duration says,this takes a minute of faults), and some seconds before and after it"
	bin/zkverify run $(if $(findstring --duration,$(ARGS)),,--duration 60s) $(ARGS)

selftest: $(NEEDS) build build-mutants ## run every mutant and see each caught; ARGS= are its options
	bin/zkverify selftest $(ARGS)

interop: go curator ## three minutes of Curator and the recipes on the same locks and in the same elections, under faults
	ZKVERIFY_INTEROP_DURATION=$${ZKVERIFY_INTEROP_DURATION:-60s} $(GO) test -count=1 -v -timeout $(TIMEOUT) -run '^TestMixed(Contention|Elections|ElectionsThroughOutages)$$' ./recipes/interop

spec: go ## search the models of the locks' rules with spin, every state; ARGS= are its options, -h lists them
	$(GO) run ./spec/search $(ARGS)

bench: go curator ## compare the locks with others' in one table; ARGS= are its options, -h lists them
	$(GO) run ./recipes/bench $(ARGS)

bench-checker: go ## what the checker costs, on drawn histories; ARGS= are its options, -h lists them
	$(GO) run ./checker/bench $(ARGS)

bench-loss: go setup ## how long before the servers expire it a holder is told; BENCHTIME= how often
	$(GO) test -run '^$$' -bench LossBeforeExpiry -benchtime $(BENCHTIME) -timeout 60m ./recipes

up: ## start three ZooKeeper servers and Toxiproxy in containers
	$(COMPOSE) up -d

down: ## stop them and remove their data
	$(COMPOSE) down -v

clean: ## remove what build and runs left
	rm -rf bin runs
