# Pinfold. Everything is built below build/$(SAN)/ (plain: build/).
#   make                     programs into build/bin
#   make check               unit, end-to-end and attack tests
#   make SAN=address,undefined check-unit
#   make CC=clang            the other compiler
# Required flags are in NEED, so that CFLAGS stays the caller's.

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

VERSION := 0.1.0
PREFIX  ?= /usr/local
SAN     ?=
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
CFLAGS  ?= -O2 -g
OUT     := build$(if $(SAN),/$(SAN))

# Control-flow protection has a name of its own on each architecture.
BRANCHES := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),-fcf-protection=full,-mbranch-protection=standard)

ROOMS   := base spec rootfs seccomp cgroup network transfer runtime
NEED    := -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -I$(OUT) \
           -DPINFOLD_VERSION='"$(VERSION)"' \
           -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wformat=2 -Wvla -Wundef -Wwrite-strings -Wimplicit-fallthrough -Wno-missing-field-initializers \
           -fno-common -fstack-protector-strong -fstack-clash-protection $(BRANCHES) \
           -fPIE -ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)=.
ifeq ($(SAN),)
NEED    += -D_FORTIFY_SOURCE=2
# The linker warns of getpwuid() and others that use nsswitch.conf: libcap-ng and c-ares have them, in functions that nobody calls.
LINK    := -static-pie -Wl,--gc-sections -Wl,--no-warnings
DYNAMIC := -pie -Wl,--gc-sections -Wl,--as-needed
else
NEED    += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
LINK    := -pie -fsanitize=$(SAN)
DYNAMIC := $(LINK)
endif
LINK    += -Wl,-z,relro,-z,now,-z,noexecstack
DYNAMIC += -Wl,-z,relro,-z,now,-z,noexecstack

# Statically linked where Debian has the archive; see docs/architecture.md for what each saves.
RUN_LIBS := -lseccomp -lcap-ng -ljansson -lmd

room_src := $(foreach r,$(ROOMS),$(wildcard $(r)/*.c))
# commands/pinfold-NAME.c is the main of a sibling program, commands/image-VERB.c a part of pinfold-image,
# commands/job-VERB.c of pinfold-job, commands/scan-PART.c one of pinfold-scan; the rest of commands/ is pinfold itself.
siblings := $(patsubst commands/%.c,%,$(wildcard commands/pinfold-*.c))
# What reads source code needs tree-sitter's grammars, which scripts/grammars fetches.
grammars := $(wildcard build/grammars/ready)
siblings := $(filter-out $(if $(grammars),,pinfold-scan),$(siblings))
main_src := $(filter-out commands/pinfold-%.c commands/image-%.c commands/job-%.c commands/scan-%.c,$(wildcard commands/*.c))

room_obj := $(room_src:%.c=$(OUT)/obj/%.o)
main_obj := $(main_src:%.c=$(OUT)/obj/%.o)
LIB      := $(OUT)/libpinfold.a

.PHONY: all
all: $(OUT)/bin/pinfold $(siblings:%=$(OUT)/libexec/pinfold/%)

$(OUT)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(NEED) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(room_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

# ---- seccomp: the default filter is generated from seccomp/policy.c by a program of this machine ----
HOSTCC  ?= $(CC)
gen_src := $(wildcard seccomp/gen/*.c) seccomp/policy.c seccomp/policy_broker.c seccomp/names.c
$(OUT)/gen/gen-filter: $(gen_src) seccomp/policy.h seccomp/policy_rows.h seccomp/names.h seccomp/gen/emit.h
	@mkdir -p $(@D)
	$(HOSTCC) $(filter-out -fsanitize=%,$(NEED)) $(CFLAGS) -o $@ $(gen_src) -lseccomp
$(OUT)/gen/seccomp_filter_data.c: $(OUT)/gen/gen-filter
	$(OUT)/gen/gen-filter > $@
$(OUT)/obj/gen/seccomp_filter_data.o: $(OUT)/gen/seccomp_filter_data.c seccomp/filter_data.h seccomp/seccomp.h
	@mkdir -p $(@D)
	$(CC) $(NEED) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<
$(LIB): $(OUT)/obj/gen/seccomp_filter_data.o
# ---- end of seccomp ----

$(OUT)/bin/pinfold: $(main_obj) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(main_obj) $(LIB) $(RUN_LIBS)

# The same with a collector that was taken over, for tests/attack/artifacts-collector.t.
$(OUT)/tests/collector-hostile: $(OUT)/obj/tests/collector/hostile.o $(main_obj) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -Wl,--wrap=collect_run -o $@ $^ $(RUN_LIBS)
tests-ready: $(OUT)/tests/collector-hostile

$(OUT)/libexec/pinfold/pinfold-scope: $(OUT)/obj/commands/pinfold-scope.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ -lsystemd

# ---- images: rootfs/image/ is pinfold-image's alone and never part of the run path ----
IMAGE_LIB  := $(OUT)/libpinfold-image.a
IMAGE_LIBS := -larchive -lcurl -lcrypto $(RUN_LIBS) -pthread
image_obj  := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard rootfs/image/*.c))
$(IMAGE_LIB): $(image_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
image_main := $(patsubst %.c,$(OUT)/obj/%.o,commands/pinfold-image.c commands/common.c commands/options.c commands/images.c \
	$(wildcard commands/image-*.c))
$(OUT)/libexec/pinfold/pinfold-image: $(image_main) $(IMAGE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(IMAGE_LIBS)
# The registry's client without a store around it, for tests/e2e/image-registry.t.
$(OUT)/tests/image-pull: $(OUT)/obj/tests/image/pull.o $(OUT)/obj/commands/image-fetch.o $(IMAGE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(IMAGE_LIBS)
# The same with a client that was taken over, for tests/attack/image-client.t: what it defines itself is not taken from the library.
$(OUT)/tests/image-hostile: $(OUT)/obj/tests/image/hostile.o $(OUT)/obj/tests/image/pull.o $(OUT)/obj/commands/image-fetch.o $(IMAGE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(IMAGE_LIBS)
tests-ready: $(OUT)/tests/image-pull $(OUT)/tests/image-hostile
# ---- end of images ----

# ---- egress: network/egress/ and network/broker/ are the broker's alone and never part of the run path ----
EGRESS_LIB := $(OUT)/libpinfold-egress.a
egress_obj := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard network/egress/*.c network/broker/*.c))
$(EGRESS_LIB): $(egress_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
# Static, because it starts with the run. It is small: what it is made of stands in runtime/broker.c.
$(OUT)/libexec/pinfold/pinfold-egress: $(OUT)/obj/commands/pinfold-egress.o $(LIB) $(EGRESS_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $< -Wl,--start-group $(LIB) $(EGRESS_LIB) -Wl,--end-group -lcares -lcap-ng
# ---- end of egress ----

# ---- report: report/ is pinfold-report's alone and never part of the run path ----
REPORT_LIB := $(OUT)/libpinfold-report.a
report_obj := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard report/*.c))
$(REPORT_LIB): $(report_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
report_main := $(patsubst %.c,$(OUT)/obj/%.o,commands/pinfold-report.c commands/common.c commands/sink.c)
$(OUT)/libexec/pinfold/pinfold-report: $(report_main) $(REPORT_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)
# ---- end of report ----

# ---- inputs: transfer/unpack/ reads archives, is pinfold-unpack's alone and never part of the run path ----
UNPACK_LIB := $(OUT)/libpinfold-unpack.a
unpack_obj := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard transfer/unpack/*.c))
$(UNPACK_LIB): $(unpack_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
$(OUT)/libexec/pinfold/pinfold-unpack: $(OUT)/obj/commands/pinfold-unpack.o $(UNPACK_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ -larchive -lcap-ng
# ---- end of inputs ----

# ---- jobs: pipeline/ is pinfold-job's alone and never part of the run path ----
JOB_LIB := $(OUT)/libpinfold-job.a
job_obj := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard pipeline/*.c pipeline/diagnostics/*.c))
$(JOB_LIB): $(job_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
job_main := $(patsubst %.c,$(OUT)/obj/%.o,commands/pinfold-job.c commands/common.c commands/options.c commands/config.c commands/images.c \
	commands/sink.c $(wildcard commands/job-*.c))
# Static, because what a cached stage costs is mostly the start of this.
$(OUT)/libexec/pinfold/pinfold-job: $(job_main) $(JOB_LIB) $(OUT)/libpinfold-scan.a $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(job_main) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(RUN_LIBS) -lm
# For tests/diagnostics/make-fixtures.
$(OUT)/tests/rows: $(OUT)/obj/tests/diagnostics/rows.o $(JOB_LIB) $(OUT)/libpinfold-scan.a $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(RUN_LIBS) -lm
# ---- end of jobs ----
# ---- scan: pipeline/scan/ is pinfold-scan's; pinfold-job links what needs no tree-sitter (pipeline/scan/scan.h) ----
SCAN_LIB  := $(OUT)/libpinfold-scan.a
SCAN_LIBS := -larchive -l:libtree-sitter.a $(RUN_LIBS)
scan_obj  := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard pipeline/scan/*.c))
$(SCAN_LIB): $(scan_obj)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^
# The grammars are generated code, and large: compiled once for every build below build/, without our warnings.
GRAMMARS     := build/grammars/libgrammars.a
grammar_src  := $(if $(grammars),$(shell find build/grammars -name '*.c'))
grammar_obj  := $(grammar_src:%.c=%.o)
$(grammar_obj): %.o: %.c
	$(CC) -std=gnu11 -O1 -g0 -w -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection $(BRANCHES) \
		-I$(@D) -c -o $@ $<
$(GRAMMARS): $(grammar_obj)
	rm -f $@
	ar rcs $@ $^
scan_main := $(patsubst %.c,$(OUT)/obj/%.o,commands/pinfold-scan.c commands/common.c commands/options.c $(wildcard commands/scan-*.c))
$(OUT)/libexec/pinfold/pinfold-scan: $(scan_main) $(SCAN_LIB) $(LIB) $(GRAMMARS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(SCAN_LIBS)
# The rules, where an installed pinfold-scan has them as well: share/pinfold/rules.
rules_src := $(wildcard rules/*/*.scm)
RULES     := $(rules_src:%=$(OUT)/share/pinfold/%)
$(RULES): $(OUT)/share/pinfold/%: %
	@mkdir -p $(@D)
	cp $< $@
all: $(if $(grammars),$(RULES))
# With a reader that was taken over, for tests/attack/scan-reader.t: what it defines itself is not taken from the library.
# It finds the rules from where it lies, as pinfold-scan does.
$(OUT)/tests/scan/hostile: $(OUT)/obj/tests/scan/hostile.o $(scan_main) $(SCAN_LIB) $(LIB) $(GRAMMARS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(SCAN_LIBS)
tests-ready: $(if $(grammars),$(OUT)/tests/scan/hostile)
.PHONY: check-scan
check-scan: all
	tests/scan/check
# ---- end of scan ----

# ---- unit tests: tests/unit/NAME.c, one program each, cmocka ----
unit := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(filter-out $(if $(grammars),,tests/unit/scan_%),$(wildcard tests/unit/*.c)))
# Those of the rooms with libraries of their own have them besides: the rule with the shorter stem goes first.
$(OUT)/tests/unit/image_%: $(OUT)/obj/tests/unit/image_%.o $(IMAGE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< $(IMAGE_LIB) $(LIB) $(IMAGE_LIBS) -lcmocka
$(OUT)/tests/unit/egress_%: $(OUT)/obj/tests/unit/egress_%.o $(EGRESS_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< $(EGRESS_LIB) $(LIB) $(RUN_LIBS) -lresolv -lcmocka
$(OUT)/tests/unit/report_%: $(OUT)/obj/tests/unit/report_%.o $(REPORT_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< $(REPORT_LIB) $(LIB) $(RUN_LIBS) -lcmocka
$(OUT)/tests/unit/pipeline_%: $(OUT)/obj/tests/unit/pipeline_%.o $(JOB_LIB) $(OUT)/libpinfold-scan.a $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(RUN_LIBS) -lm -lcmocka
$(OUT)/tests/unit/scan_%: $(OUT)/obj/tests/unit/scan_%.o $(SCAN_LIB) $(LIB) $(GRAMMARS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< $(SCAN_LIB) $(LIB) $(GRAMMARS) $(SCAN_LIBS) -lcmocka
$(OUT)/tests/unit/%: $(OUT)/obj/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $< $(LIB) $(RUN_LIBS) -lcmocka

.PHONY: check-unit
check-unit: $(unit)
	CMOCKA_MESSAGE_OUTPUT=TAP prove $(PROVE) --exec '' $(unit)

# ---- virtual machines and measurements: see tests/vm/run-vm, tests/bench/compare ----
.PHONY: check-vm bench
build/tests/eat: tests/vm/eat.c
	@mkdir -p $(@D)
	$(CC) $(NEED) $(CFLAGS) -static -o $@ $<
# The longest first: there are two at a time.
check-vm: all build/tests/eat build/tests/payload build/tests/attack/probe
	prove -j2 $(PROVE) --exec '' tests/vm/*-root.t tests/vm/*-delegated.t tests/vm/*-user.t
bench: all
	tests/bench/compare
	tests/bench/images --scale 0.3
	tests/bench/slots
	tests/bench/job
# ---- end of virtual machines and measurements ----

# ---- texts from the key table, documents for the validator: see spec/gen/text.c, tests/documents ----
$(OUT)/gen/spec-text: $(OUT)/obj/spec/gen/text.o $(LIB)
$(OUT)/tests/documents: $(OUT)/obj/tests/documents/print.o $(LIB)
$(OUT)/gen/spec-text $(OUT)/tests/documents:
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)
$(OUT)/share/bash-completion/completions/pinfold: $(OUT)/bin/pinfold
	@mkdir -p $(@D)
	$< completion > $@
all: $(OUT)/share/bash-completion/completions/pinfold
# The options of the manual page are the key table's.
$(OUT)/share/man/man1/pinfold-run.1: docs/man/pinfold-run.1.in $(OUT)/gen/spec-text
	@mkdir -p $(@D)
	$(OUT)/gen/spec-text man > $@.options
	sed -e '/^@OPTIONS@$$/{' -e 'r $@.options' -e 'd' -e '}' $< > $@
	rm $@.options
all: $(OUT)/share/man/man1/pinfold-run.1
tests-ready: $(OUT)/tests/documents $(OUT)/gen/spec-text
# ---- end of texts and documents ----

# ---- the payload, end-to-end and attack tests, lint: see tests/lib/pf.py, scripts/check, scripts/lint ----
PAYLOAD := build/tests/payload
$(PAYLOAD): $(sort $(wildcard tests/payload/*.c)) $(wildcard tests/payload/*.h)
	@mkdir -p $(@D)
	$(CC) $(filter-out -fsanitize=% -fPIE,$(NEED)) -O2 -static -o $@ $(filter %.c,$^)

# What a kind of test needs besides `all`; other sections add to it.
.PHONY: tests-ready check check-e2e check-attack lint
tests-ready: all $(PAYLOAD) $(OUT)/tests/documents
# An empty list would make prove look for tests of its own.
run_tests = $(if $(2),PINFOLD_BUILD=$(OUT) prove $(PROVE) --exec '' $(2),@echo "no tests in $(1)")
check-e2e: tests-ready
	$(call run_tests,tests/e2e,$(sort $(wildcard tests/e2e/*.t)))
check-attack: tests-ready
	$(call run_tests,tests/attack,$(sort $(wildcard tests/attack/*.t)))
check: check-unit check-e2e check-attack
	scripts/check-layers
lint: all
	LINT_FLAGS='$(subst ',,$(filter-out -W% -f%,$(NEED)))' scripts/lint $(PARTS)
# ---- end of tests and lint ----

# ---- attack: the hostile program, static, and what the policy's tables say: see tests/attack/attack.py ----
PROBE := build/tests/attack/probe
$(PROBE): $(sort $(wildcard tests/attack/probe*.c)) $(wildcard tests/attack/*.h)
	@mkdir -p $(@D)
	$(CC) $(filter-out -fsanitize=% -fPIE,$(NEED)) -O2 -static -pthread -o $@ $(filter %.c,$^)
$(OUT)/tests/attack/verdicts: $(OUT)/obj/tests/attack/verdicts.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)
tests-ready: $(PROBE) $(OUT)/tests/attack/verdicts
# pinfold-egress with a parser that was taken over: its parser_run() goes before the library's.
$(OUT)/tests/attack/hostile-egress: $(OUT)/obj/tests/attack/hostile_parser.o $(OUT)/obj/tests/attack/hostile_dials.o $(OUT)/obj/commands/pinfold-egress.o $(LIB) $(EGRESS_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,-z,muldefs -Wl,--start-group $(LIB) $(EGRESS_LIB) -Wl,--end-group \
		-lcares -lcap-ng
$(OUT)/tests/attack/hostile-control: $(OUT)/obj/tests/attack/hostile_control.o $(OUT)/obj/tests/attack/hostile_parser.o \
		$(OUT)/obj/tests/attack/hostile_dials.o $(LIB) $(EGRESS_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIB) $(EGRESS_LIB) -Wl,--end-group -lcap-ng
# And with a resolver that was: its resolver_run().
$(OUT)/tests/attack/hostile-names: $(OUT)/obj/tests/attack/hostile_resolver.o $(OUT)/obj/commands/pinfold-egress.o $(LIB) $(EGRESS_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,-z,muldefs -Wl,--start-group $(LIB) $(EGRESS_LIB) -Wl,--end-group \
		-lcares -lcap-ng
tests-ready: $(OUT)/tests/attack/hostile-egress $(OUT)/tests/attack/hostile-control $(OUT)/tests/attack/hostile-names
# pinfold-report with a reader that was taken over: its page_body() goes before the library's.
$(OUT)/tests/attack/hostile-report: $(OUT)/obj/tests/attack/hostile_report.o $(report_main) $(REPORT_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)
$(OUT)/tests/attack/hostile-report-control: $(OUT)/obj/tests/attack/hostile_report_control.o $(OUT)/obj/tests/attack/hostile_report.o $(REPORT_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DYNAMIC) $(LDFLAGS) -o $@ $^ $(RUN_LIBS)
tests-ready: $(OUT)/tests/attack/hostile-report $(OUT)/tests/attack/hostile-report-control
# ---- end of attack ----

# ---- install: make install [PREFIX=/usr/local] [SYSCONFDIR=/etc] [DESTDIR=...]; make uninstall takes the same ----
# pinfold looks for its siblings in ../libexec/pinfold from where it is, so that folder is no variable.
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
INSTALL    ?= install
pages      := $(sort $(wildcard docs/man/*.[157]) $(OUT)/share/man/man1/pinfold-run.1)
.PHONY: install uninstall
install: all
	$(INSTALL) -D -m 0755 $(OUT)/bin/pinfold $(DESTDIR)$(PREFIX)/bin/pinfold
	for name in $(siblings); do \
		$(INSTALL) -D -m 0755 $(OUT)/libexec/pinfold/$$name $(DESTDIR)$(PREFIX)/libexec/pinfold/$$name || exit; done
	for page in $(pages); do \
		$(INSTALL) -D -m 0644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit; done
	for rule in $(if $(grammars),$(sort $(rules_src))); do \
		$(INSTALL) -D -m 0644 $$rule $(DESTDIR)$(PREFIX)/share/pinfold/$$rule || exit; done
	for schema in $(sort $(wildcard docs/*.schema.json)); do \
		$(INSTALL) -D -m 0644 $$schema $(DESTDIR)$(PREFIX)/share/pinfold/$${schema##*/} || exit; done
	$(INSTALL) -D -m 0644 $(OUT)/share/bash-completion/completions/pinfold \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/pinfold
	$(INSTALL) -D -m 0644 docs/apparmor/pinfold.in $(DESTDIR)$(SYSCONFDIR)/apparmor.d/pinfold
	sed -i 's|@BINARY@|$(PREFIX)/bin/pinfold|; s|@LIBEXEC@|$(PREFIX)/libexec/pinfold|' $(DESTDIR)$(SYSCONFDIR)/apparmor.d/pinfold
# Every file that install made, whatever was built meanwhile, and the folders that are pinfold's alone; the others are everybody's.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/pinfold $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pinfold \
		$(foreach page,$(pages),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
		$(DESTDIR)$(SYSCONFDIR)/apparmor.d/pinfold
	rm -rf $(DESTDIR)$(PREFIX)/libexec/pinfold $(DESTDIR)$(PREFIX)/share/pinfold
# ---- end of install ----

# ---- fuzzing with libFuzzer: tests/fuzz/NAME.c, seeds in tests/fuzz/seeds/NAME ----
FUZZ_SECONDS ?= 30
FUZZ_SAN     := fuzzer-no-link,address,undefined
fuzzers := $(patsubst tests/fuzz/%.c,$(OUT)/tests/fuzz/%,$(filter-out $(if $(grammars),,tests/fuzz/scan_%),$(wildcard tests/fuzz/*.c)))
$(OUT)/tests/fuzz/image_%: $(OUT)/obj/tests/fuzz/image_%.o $(IMAGE_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ $(IMAGE_LIBS)
$(OUT)/tests/fuzz/unpack_%: $(OUT)/obj/tests/fuzz/unpack_%.o $(UNPACK_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ -larchive $(RUN_LIBS)
$(OUT)/tests/fuzz/egress_%: $(OUT)/obj/tests/fuzz/egress_%.o $(EGRESS_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ $(RUN_LIBS) -lresolv
$(OUT)/tests/fuzz/report_%: $(OUT)/obj/tests/fuzz/report_%.o $(REPORT_LIB) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ $(RUN_LIBS)
$(OUT)/tests/fuzz/pipeline_%: $(OUT)/obj/tests/fuzz/pipeline_%.o $(JOB_LIB) $(OUT)/libpinfold-scan.a $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ $(RUN_LIBS) -lm
$(OUT)/tests/fuzz/scan_%: $(OUT)/obj/tests/fuzz/scan_%.o $(SCAN_LIB) $(LIB) $(GRAMMARS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $< $(SCAN_LIB) $(LIB) $(GRAMMARS) $(SCAN_LIBS)
$(OUT)/tests/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pie -fsanitize=fuzzer,address,undefined -o $@ $^ $(RUN_LIBS)
.PHONY: check-fuzz run-fuzzers
check-fuzz:
	$(MAKE) CC=clang SAN=$(FUZZ_SAN) run-fuzzers
run-fuzzers: $(fuzzers)
	for f in $(notdir $(fuzzers)); do mkdir -p $(OUT)/corpus/$$f && $(OUT)/tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) \
		-max_len=65536 -verbosity=0 -artifact_prefix=$(OUT)/corpus/$$f- $(OUT)/corpus/$$f tests/fuzz/seeds/$$f || exit; done
# ---- end of fuzzing ----

.PHONY: clean
clean:
	rm -rf build

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
