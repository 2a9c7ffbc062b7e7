# A thin front on Meson. On a fresh Debian 12 with git and make, each target installs what it needs first.
BUILD     ?= build
SANITIZED ?= build-sanitize
TSAN      ?= build-tsan
FUZZED    ?= build-fuzz
AARCH64   ?= build-aarch64

.PHONY: all duckdb demo test torture faults limits fuzz mutate tsan valgrind aarch64 bench bench-spark bench-spark-100m format install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/need.sh build
	@meson setup $(BUILD) >/dev/null

# libduckdb, with which Parquet, JSON and SQL can be read, into the user's own folder.
duckdb:
	@tools/need.sh duckdb
	@tools/duckdb.sh

demo: all
	@tools/demo.sh $(BUILD)

# Twice: as users run it, then everything again under AddressSanitizer and UndefinedBehaviorSanitizer.
test:
	@tools/need.sh test
	@tools/test.sh $(BUILD) $(SANITIZED)

# Random tables, policies, searches, sources and sinks against the definitions, for as long as you like; see docs/security.md.
TORTURE_SECONDS ?= 600
TORTURE_SEED    ?= $(shell date +%s)
torture: all
	@tools/need.sh test
	@tests/torture/torture.py $(BUILD) --seconds $(TORTURE_SECONDS) --seed $(TORTURE_SEED)

# Every command with every allocation and every call of the system failing in turn, and killed a thousand times. Half an hour;
# FAULTS='--part 1/8' takes every eighth job.
faults: all
	@tools/need.sh test
	@meson setup --reconfigure $(BUILD) -Dtests=enabled >/dev/null && ninja -C $(BUILD) --quiet
	@python3 tests/check_memory.py $(BUILD)/kanon $(BUILD)/tests/fail_calls.so $(FAULTS)
	@python3 tests/check_faults.py $(BUILD)/kanon $(BUILD)/tests/fail_calls.so $(FAULTS)

# Ten million rows, a thousand columns, a million leaves and other limits, with time and memory. Some minutes, 3 GB of disk.
limits: all
	@python3 tests/check_limits.py $(BUILD)/kanon $(BUILD)/kanon-generate

# libFuzzer on every target of fuzz/, FUZZ_SECONDS each (30) or FUZZ_RUNS runs; FUZZ_TARGET="csv policy" takes those two.
fuzz:
	@tools/need.sh fuzz
	@tools/fuzz.sh $(FUZZED) $(FUZZ_TARGET)

# Data races under ThreadSanitizer: every algorithm with threads beside another one, proofs, verify, tables in memory, the pool,
# progress and cancelling. Some minutes, mostly building.
tsan:
	@tools/need.sh test
	@[ -f $(TSAN)/build.ninja ] || meson setup $(TSAN) -Dtests=enabled -Dbuildtype=debugoptimized -Db_ndebug=false \
	    -Db_sanitize=thread -Db_lundef=false >/dev/null
	@ninja -C $(TSAN) --quiet tests/test_library tests/test_base tests/test_races
	@TSAN_OPTIONS=halt_on_error=1 meson test -C $(TSAN) --no-rebuild --print-errorlogs --timeout-multiplier 5 library base races

# A sample of the sessions under Valgrind. A quarter of an hour.
valgrind: all
	@tools/need.sh valgrind
	@tools/valgrind.sh $(BUILD)

# The test programs and the sessions on 64-bit ARM, under qemu-user, and releases that must have the same bytes as here. An hour.
aarch64: all
	@tools/need.sh aarch64
	@tools/aarch64.sh $(BUILD) $(AARCH64)

# Small changes to the source that some test must refuse; takes an hour or two, see docs/testing.md.
mutate:
	@tools/need.sh test
	@tools/duckdb.sh
	@tools/mutate.py $(MUTATE)

bench: all
	@tools/need.sh bench
	@bench/run.sh $(BUILD)

# Generated rows on Spark with two threads, and on a master with two worker processes: 1 and 10 million, one machine beside
# it, and how it grows, the driver's memory included; then a global recoding. Some 3 GB of disk in /tmp, or wherever
# SPARK_FOLDER says, where the generated tables then stay.
SPARK_ROWS ?= 1000000 10000000
SPARK_SCALE = $(BUILD)/test-venv/bin/python bench/spark/scale.py $(BUILD)
SPARK_PLACE = $(if $(SPARK_FOLDER),--folder $(SPARK_FOLDER))
bench-spark: all
	@tools/need.sh test
	@tools/test_venv.sh $(BUILD)/test-venv
	@rm -f $(BUILD)/spark_scale.txt
	@for rows in $(SPARK_ROWS); do \
	    for how in "--algorithm mondrian --one-machine" "--algorithm mondrian --workers 2" "--recoding global --one-machine"; do \
	        $(SPARK_SCALE) $$rows $$how $(SPARK_PLACE) --lines $(BUILD)/spark_scale.txt || exit 1; \
	    done; \
	done

# 100 million: 9.5 GB of input and 10.5 GB beside it, in /tmp or SPARK_FOLDER, which is looked at first; an hour and more.
bench-spark-100m: all
	@tools/need.sh test
	@tools/test_venv.sh $(BUILD)/test-venv
	@$(SPARK_SCALE) 100000000 --algorithm mondrian $(SPARK_PLACE)

format:
	@tools/need.sh format
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format-14 -i

install: all
	@meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(SANITIZED) $(TSAN) $(FUZZED) $(AARCH64)
