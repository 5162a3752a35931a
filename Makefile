# Meson does the work; this file sets the machine up and names the usual things to do.
#
#   make            build/coop, build/libcoop.so.0, build/libcoop.a
#   make demo       what a sandboxed command can and cannot see
#   make test       the whole suite, as .ci/run does
#   make bench      speed against plain spawn and the sandboxes found on this machine
#   make install    PREFIX=/usr/local DESTDIR=

PREFIX ?= /usr/local
BUILD  ?= build
NINJA  ?= ninja

.PHONY: all setup demo test check test-kernels bench install format clean

all: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) $(if $(V),-v,)

$(BUILD)/build.ninja: | setup
	meson setup --prefix=$(PREFIX) $(BUILD)

setup:
	@tools/setup build

# Of the tests nothing is needed for it.
demo: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) $(if $(V),-v,) coop coop-mcp coop-gate coop-nat
	@tools/demo $(BUILD)/coop

test: setup-test
	@test/run

# The quick part of the suite: one build, this user.
check: all
	@test/run --quick

setup-test:
	@tools/setup test

test-kernels: all
	@tools/setup kernels
	@tools/test-kernels

bench: all
	@tools/setup bench
	@bench/run $(BUILD)

install: all
	meson configure $(BUILD) --prefix=$(PREFIX)
	DESTDIR=$(DESTDIR) meson install -C $(BUILD)

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build build-*
