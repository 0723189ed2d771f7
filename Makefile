# The few commands a newcomer types. All logic is in scripts/.
.PHONY: help demo build setup-capture test bench parity docs install wheel clean
PREFIX ?= $(HOME)/.local

help:     ## this list
	@sed -n 's/^\([a-z-]*\): *## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 26
demo:     ## set up, build, evaluate a shipped sample with its pass and print the score
	@scripts/demo
build:    ## set up and build all programs into build/bin
	@scripts/build programs
setup-capture: ## install what `passnet dataset capture` needs: PyTorch from Python, libraries of models
	@scripts/bootstrap capture
test:     ## set up, build and run all tests
	@scripts/test
bench:    ## set up, build and measure the figures of docs/performance.md
	@scripts/bench
parity:   ## compare with PyTorch from Python on every graph below CORPUS (default: the public corpus)
	@scripts/parity $(PARITY) $(CORPUS)
docs:     ## build a site from the documents, with search, into build/site
	@scripts/docs
install:  ## build and install below PREFIX (default ~/.local)
	@scripts/install "$(PREFIX)"
wheel:    ## build a wheel of the Python package, with all programs, in dist/
	@scripts/wheel
clean:    ## remove the build directory (environments and caches in ~/.cache/passnet stay)
	@scripts/clean
