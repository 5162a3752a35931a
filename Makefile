# Meson does the work; this file sets the machine up and names the usual things to do.
#
#   make            build/coop, build/libcoop.so.0, build/libcoop.a; installs nothing
#   make setup      install the packages that the build needs
#   make demo       what a sandboxed command can and cannot see
#   make check      all tests with this build, as this user
#   make test-quick a minute's worth of them
#   make test       the whole suite, as .ci/run does
#   make test-long  the suite with more rounds, other kernels, and a machine with nothing installed
#   make bench      speed against plain spawn and the sandboxes found on this machine
#   make install    PREFIX=/usr/local DESTDIR=

PREFIX ?= /usr/local
BUILD  ?= build
NINJA  ?= ninja

.PHONY: all setup setup-test demo test test-quick test-long check test-kernels test-fresh bench install format clean

all: $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) $(if $(V),-v,)

$(BUILD)/build.ninja:
	@tools/setup --check build
	meson setup --prefix=$(PREFIX) $(BUILD)

setup:
	@tools/setup build

# Of the tests nothing is needed for it.
demo: setup
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(NINJA) -C $(BUILD) $(if $(V),-v,) programs
	@tools/demo $(BUILD)/coop

test: setup-test
	@test/run

check: all
	@test/run --quick

test-quick: all
	@test/run --quick --short

test-long: setup-test
	@tools/setup long
	@test/run --long
	@tools/test-kernels
	@tools/test-fresh

setup-test:
	@tools/setup test

test-kernels: all
	@tools/setup kernels
	@tools/test-kernels

test-fresh:
	@tools/setup long
	@tools/test-fresh

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
