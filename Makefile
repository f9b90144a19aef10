# Every target installs the packages that it needs (scripts/setup), so Debian 12 with git and make is enough.
# CMakePresets.json defines the build; this file names the common tasks.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo build test bench fuzz format tidy install uninstall clean

help:
	@echo 'usage: make <target>'
	@echo
	@echo '  demo       build, then show two agents in two terminals, and kill the daemon under load'
	@echo '  build      build the program at build/release/agent-relay'
	@echo '  test       run all tests: unit, simulation, crash, sanitizers, published clients   (about 20 minutes)'
	@echo '  install    install agent-relay, and relay (the same program), under PREFIX ($(PREFIX); also DESTDIR)'
	@echo '  uninstall  remove them'
	@echo '  bench      run the benchmarks, beside NATS, Redis and others   (BENCH=--quick)'
	@echo '  fuzz       run each fuzzer for FUZZ_SECONDS ($(FUZZ_SECONDS)) under the sanitizers'
	@echo '  format     run clang-format on the sources'
	@echo '  tidy       run clang-tidy on the sources'
	@echo '  clean      remove build/'
	@echo
	@echo 'one test:  cmake --preset dev && ninja -C build/dev broker_test && build/dev/src/broker/broker_test'

build:
	@scripts/setup build
	@scripts/stage 'build: release' scripts/build release agent-relay

demo:
	@scripts/setup demo
	@scripts/stage 'build: release' scripts/build release agent-relay scripted_agent
	@scripts/demo

test:
	@JOBS=$(JOBS) scripts/test

install: build
	install -D -m 0755 build/release/agent-relay $(DESTDIR)$(PREFIX)/bin/agent-relay
	ln -sf agent-relay $(DESTDIR)$(PREFIX)/bin/relay
	build/release/agent-relay completion man | \
	  install -D -m 0644 /dev/stdin $(DESTDIR)$(PREFIX)/share/man/man1/agent-relay.1
	install -D -m 0644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/agent-relay/LICENSE

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/agent-relay $(DESTDIR)$(PREFIX)/bin/relay
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/agent-relay.1
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/agent-relay

bench: build
	@scripts/setup bench
	@scripts/stage 'build: bench' scripts/build bench relay_bench relay_http_hello
	@scripts/npm-tools bench/relay-1x 'the 1.x daemon' || true
	@build/bench/bench/relay_bench build/release/agent-relay $(BENCH)
	@bench/http/run $(if $(findstring --quick,$(BENCH)),--rounds 2 --seconds 1)

fuzz:
	@scripts/setup fuzz
	@JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

format:
	@scripts/setup format
	@find src tests fuzz bench -name '*.h' -o -name '*.cc' | xargs clang-format-19 -i

tidy:
	@scripts/setup tidy
	@scripts/stage 'tidy' scripts/build tidy

clean:
	rm -rf build
