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
	@echo "             (ALGORITHM='ed25519 ml-dsa-87' uses root keys of these algorithms,"
	@echo '             ENCRYPT=1 encrypts what is booted for a class of devices)'
	@echo 'make test    run the checks for every change, and longer checks whose inputs changed'
	@echo '             (TIER=full runs all but the longest checks, TIER=long the longest;'
	@echo '             cargo xtask test --list shows them)'
	@echo 'make hw      build the cycle-accurate machine and run a first program on it'
	@echo 'make lab     run the measurements and store them in lab/runs'
	@echo '             (PAPER=<key> runs one of them, QUICK=1 a small version;'
	@echo '             PAPER=vector-crypto MODELS=1 only asks models of cores)'
	@echo 'make install install command, manual pages, completions and firmware into PREFIX (/usr/local);'
	@echo '             make uninstall removes them again'
	@echo 'make archive pack the same files into one archive in target/dist'
	@echo 'make site    build the documentation site, target/docs/index.html'
	@echo 'make fetch   download everything that demo and test need, for use without a network'
	@echo 'make clean   remove build results, but not the downloads in the cache'
	@echo
	@echo 'YES=1            install missing tools without asking'
	@echo 'PREFIX, DESTDIR  folder to install into, and a staging folder in front of it'
	@echo 'HARTLOCK_CACHE   folder for downloads ($${XDG_CACHE_HOME:-~/.cache}/hartlock)'
	@echo 'HARTLOCK_MIRROR  Debian mirror to download from'
	@echo 'HARTLOCK_QEMU    qemu-system-riscv64 to use, version 10 or newer'

setup:
	@tools/setup

fetch hw: setup
	@cargo xtask $@

test: setup
	@cargo xtask test $(if $(TIER),--tier $(TIER)) $(if $(VECTORS),--vectors) $(if $(STORE),--store $(STORE))

demo: setup
	@cargo xtask demo $(addprefix --algorithm ,$(ALGORITHM)) $(if $(ENCRYPT),--encrypt)

site: setup
	@cargo xtask docs

lab: setup
	@cargo xtask lab $(PAPER) $(if $(QUICK),--quick) $(if $(MODELS),--models)

INSTALL := cargo xtask install $(if $(PREFIX),--prefix $(PREFIX)) $(if $(DESTDIR),--destdir $(DESTDIR))

install: setup
	@$(INSTALL)

uninstall: setup
	@$(INSTALL) --remove

archive: setup
	@cargo xtask archive

clean:
	cargo clean
