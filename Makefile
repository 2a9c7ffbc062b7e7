# A thin front on Meson. On a fresh Debian 12 with git and make, each target installs what it needs first.
BUILD     ?= build
SANITIZED ?= build-sanitize

.PHONY: all demo test bench format install clean

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/need.sh build
	@meson setup $(BUILD) >/dev/null

demo: all
	@tools/demo.sh $(BUILD)

# Twice: as users run it, then everything again under AddressSanitizer and UndefinedBehaviorSanitizer.
test:
	@tools/need.sh test
	@tools/test.sh $(BUILD) $(SANITIZED)

bench: all
	@tools/need.sh bench
	@bench/run.sh $(BUILD)

format:
	@tools/need.sh format
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

install: all
	@meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(SANITIZED)
