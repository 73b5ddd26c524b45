# Everything a contributor types. `make` alone lists it.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
DEMO := $(TARGET)/trawl-demo.db
FUZZ_SECONDS ?= 30
DENY_VERSION := 0.20.2

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Crawl a made-up web on this machine and search it
	$(CARGO) build --release --locked --package trawl-cli
	rm -rf $(DEMO) $(DEMO)-* $(DEMO).*
	$(TARGET)/release/trawl demo --pages 1000 --database $(DEMO)
	@echo && echo "Searching it, in a minute. The model is fetched once; without it, search goes by words alone."
	-timeout 120 $(TARGET)/release/trawl models pull
	$(TARGET)/release/trawl index --database $(DEMO)
	$(TARGET)/release/trawl search --database $(DEMO) --limit 3 tower garden
	@echo && $(TARGET)/release/trawl status --database $(DEMO)
	@echo && echo "Try next, with $(TARGET)/release/trawl:" && \
		echo "  trawl export --database $(DEMO) --fields url,depth,title | head" && \
		echo "  trawl crawl --max-pages 50 --contact-url https://you.example/ https://example.org/"

.PHONY: test
test: ## Format check, clippy and every test
	ci/test

.PHONY: lint
lint: ## Format check and clippy alone
	ci/lint

.PHONY: fmt
fmt: ## Format the code
	$(CARGO) fmt --all

.PHONY: deny
deny: ## Check licences, banned crates and where crates come from
	$(CARGO) deny --version >/dev/null 2>&1 || \
		$(CARGO) install cargo-deny --locked --version $(DENY_VERSION)
	$(CARGO) deny --locked check licenses bans sources

.PHONY: bench
bench: ## Measure against a baseline in the same run
	$(CARGO) build --release --locked --package trawl-cli --package trawl-testweb
	$(CARGO) run --release --locked --package trawl-bench

.PHONY: bench-extract
bench-extract: ## Measure main content against other extractors; needs apt-get and PyPI
	bench/extract/run

.PHONY: bench-serve
bench-serve: ## Measure the server: streams, slow and idle readers, large results
	$(CARGO) build --release --locked --package trawl-cli --package trawl-testweb
	bench/serve/run

.PHONY: bench-fleet
bench-fleet: ## Measure scale-out: the frontier in PostgreSQL, four workers against one crawl
	$(CARGO) build --release --locked --package trawl-cli --package trawl-testweb
	$(CARGO) build --release --locked --package trawl-store --example frontier_pg
	bench/fleet/run

.PHONY: bench-search
bench-search: ## Measure search: quality, speed of embedding, latency; needs apt-get, npm and PyPI
	bench/search/run

.PHONY: bench-engines
bench-engines: ## Measure the model code against ort, candle, rten and tract; a workspace of its own
	bench/search/engines/run

.PHONY: bench-peers
bench-peers: ## Measure against other crawlers; a workspace of its own
	bench/peers/run

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZ_SECONDS (30)
	FUZZ_SECONDS=$(FUZZ_SECONDS) fuzz/run
