# Thin front for `cargo xtask`. `tools/setup` comes first and finds, or installs with consent,
# what cargo itself needs.

# rustup installs here without editing any shell profile, so PATH may lack it.
CARGO_HOME ?= $(HOME)/.cargo
export CARGO_HOME
export PATH := $(CARGO_HOME)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup fetch demo test hw lab site install uninstall archive clean

help:
	@echo 'make demo    build, sign and boot under QEMU, with a timeline of the boot'
	@echo "             (ALGORITHM='ed25519 ml-dsa-87' with these root keys)"
	@echo 'make test    the checks of every change, and those of what has changed since they passed'
	@echo '             (TIER=full all but the longest, TIER=long the longest; cargo xtask test --list names them)'
	@echo 'make hw      build the cycle-accurate machine and run a first program on it'
	@echo 'make lab     measure and store the run in lab/runs (PAPER=<key> one of them, QUICK=1 small)'
	@echo 'make install the command, manual pages, completions and firmware into PREFIX (/usr/local);'
	@echo '             make uninstall removes them again'
	@echo 'make archive the same as one file in target/dist'
	@echo 'make site    the documentation as pages, in target/docs/index.html'
	@echo 'make fetch   download everything that demo and test need, for use without a network'
	@echo 'make clean   remove what was built; downloads stay in the cache'
	@echo
	@echo 'YES=1            install missing tools without asking'
	@echo 'PREFIX, DESTDIR  where to install'
	@echo 'HARTLOCK_CACHE   where downloads are kept ($${XDG_CACHE_HOME:-~/.cache}/hartlock)'
	@echo 'HARTLOCK_MIRROR  another mirror of the Debian archive'
	@echo 'HARTLOCK_QEMU    another qemu-system-riscv64, version 10 or newer'

setup:
	@tools/setup

fetch hw: setup
	@cargo xtask $@

test: setup
	@cargo xtask test $(if $(TIER),--tier $(TIER)) $(if $(VECTORS),--vectors) $(if $(STORE),--store $(STORE))

demo: setup
	@cargo xtask demo $(addprefix --algorithm ,$(ALGORITHM))

site: setup
	@cargo xtask docs

lab: setup
	@cargo xtask lab $(PAPER) $(if $(QUICK),--quick)

INSTALL := cargo xtask install $(if $(PREFIX),--prefix $(PREFIX)) $(if $(DESTDIR),--destdir $(DESTDIR))

install: setup
	@$(INSTALL)

uninstall: setup
	@$(INSTALL) --remove

archive: setup
	@cargo xtask archive

clean:
	cargo clean
