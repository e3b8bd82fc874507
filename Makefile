# The verbs of this repository; each is one line here and, where it needs more, a script in scripts/.
.DEFAULT_GOAL := help
# As what is shipped: with Swift's libraries in it, which is faster than beside it.
release := --configuration release --static-swift-stdlib

.PHONY: help build test interop browser chaos soak check docs bench fuzz sanitize simulate lives run deb

help: ## this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## debug build
	@scripts/bootstrap.sh
	swift build

test: ## installs what is missing, runs all tests
	@scripts/bootstrap.sh
	@scripts/test.sh

interop: ## software that others wrote, from PyPI, against the simulated App Store
	@scripts/bootstrap.sh
	@scripts/interop.sh

browser: ## every page of the dashboard in a real browser: both themes, small and large, no script, accessible
	@scripts/bootstrap.sh
	@scripts/browser.sh

chaos: ## real processes under real faults, checked against four records of them; CYCLES=n (50), SEED=n, CONFIGURATION=release
	@scripts/bootstrap.sh
	@scripts/chaos.sh --cycles $(or $(CYCLES),50) --seed $(or $(SEED),1)

soak: ## one server under a steady load: memory, descriptors and threads stay what they are; MINUTES=n (10), RATE=n, SEED=n
	@scripts/bootstrap.sh
	@scripts/soak.sh --minutes $(or $(MINUTES),10) --rate $(or $(RATE),20) --seed $(or $(SEED),1)

check: ## what CI runs: format, imports, build with warnings as errors, tests, documentation, fuzzers for a moment
	@scripts/check.sh

docs: ## DocC archive of all targets into .build/docs
	@scripts/bootstrap.sh
	@scripts/docs.sh

bench: ## benchmarks, as ratios to a baseline of the same run; SECTIONS="http peer" for some of them (docs/benchmarks.md)
	@scripts/bootstrap.sh
	swift build $(release) --product assay
	swift run $(release) Benchmarks $(SECTIONS)

fuzz: ## fuzzers of our parsers, a minute each, without and with the address sanitizer
	@scripts/bootstrap.sh
	Fuzz/run.sh 60
	Fuzz/HTTP/run.sh 60

sanitize: ## the tests of HTTP under the thread and the address sanitizer, in builds of their own; FILTER=regex for others
	@scripts/bootstrap.sh
	@scripts/sanitize.sh both '$(FILTER)'

simulate: ## the whole house on one thread, by 1,000 seeds; SEEDS=n for more of them, SEED=n for one, PLANT=bug with one in it
	@scripts/bootstrap.sh
	swift build $(release) --product Simulate
	.build/release/Simulate $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1000)) \
		$(if $(PLANT),--plant $(PLANT))

lives: ## LIVES=n (1,000) customers' lives of two years and all stories, with lost notifications and Apple away; SEED=n for one town
	@scripts/bootstrap.sh
	swift build $(release) --product Simulate
	.build/release/Simulate lives --lives $(or $(LIVES),1000) --in-town $(or $(IN_TOWN),50) \
		--told $(or $(TOLD),1) $(if $(SEED),--seed $(SEED))
	$(if $(SEED),,.build/release/Simulate lives --lives $$(($(or $(LIVES),1000) / 5)) --in-town 50 --told 0)
	.build/release/Simulate lives --stories Examples/stories $(if $(SEED),--seed $(SEED))

run: ## installs what is missing, builds, serves Assay with the App Store simulator on localhost; no Apple account needed
	@scripts/bootstrap.sh
	@scripts/run.sh

deb: ## the Debian package, into .build/deb, tried out on a copy of this machine that is thrown away
	@scripts/bootstrap.sh
	@scripts/deb.sh
	@scripts/deb-trial.sh "$$(swift build --configuration release --show-bin-path)/assay"
