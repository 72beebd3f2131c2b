# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Thin: each part has a Makefile or a script of its own. "make help" lists targets.

KDIR   ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
override BUILD := $(abspath $(or $(BUILD),build))
export BUILD PREFIX DESTDIR

part    = $(MAKE) --no-print-directory -C $(1) BUILD=$(BUILD) $(2)

all: modules provider tools

help:
	@echo 'make                 module, provider and tools (KDIR=$(KDIR))'
	@echo 'make modules         rxe_ordered.ko for KDIR'
	@echo 'make modules-vm      the same for both kernels of the tests, in build/'
	@echo 'make provider        the library that libibverbs and programs load'
	@echo 'make tools           rxo'
	@echo 'make install         DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)'
	@echo 'make demo            everything in a virtual machine, with commentary'
	@echo 'make check           all tests: about 45 minutes'
	@echo 'make check-quick     lint, one kernel, unit tests, a few guest cases'
	@echo 'make check-matrix    every guest case on both kernels: an hour or two'
	@echo 'make check-debug     every guest case on a kernel with KASAN and lockdep: hours'
	@echo 'make sim-long        10,000 worlds of the simulator, and every mutant'
	@echo 'make bench           this driver and rdma_rxe side by side: tests/bench'
	@echo 'make setup           Debian packages that building and testing need'
	@echo 'make clean'

setup:
	tools/setup

modules:
	@test -e $(KDIR)/Makefile || { echo "No kernel headers at $(KDIR): install" \
		"them, name others with KDIR=, or use 'make modules-vm'." >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

modules-vm:
	tests/vm/build-module 6.1
	tests/vm/build-module 6.12

provider:
	$(call part,providers/rxe_ordered,all)

tools: provider
	$(call part,tools/rxo,all)

tests: provider
	$(call part,tests/programs,all)
	$(call part,tests/unit,all)
	$(call part,tests/fuzz,all)

install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	@# Debian's headers have no System.map, without which the line above skips this.
	$(if $(DESTDIR),,depmod $$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h))
	$(call part,providers/rxe_ordered,install)
	$(call part,tools/rxo,install)

demo:
	@tools/demo

check:
	@tests/check all

check-quick:
	@tests/check quick

check-matrix: modules-vm provider tools tests
	@tests/matrix

check-debug: provider tools tests
	@tests/debug

sim-long:
	@tests/sim/long

bench: modules-vm provider tools tests
	@tests/bench/run

clean:
	if [ -e $(KDIR)/Makefile ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi
	rm -rf $(BUILD)

.PHONY: all help setup modules modules-vm provider tools tests install demo check \
	check-quick check-matrix check-debug sim-long bench clean
