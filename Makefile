# shardkit: place keys, predict moves, keep a slot map, move rows.
#
#   make demo     the main job on a throw-away cluster, for a stranger
#   make test     every suite on a throw-away cluster
#   make, make install, make installcheck PG_CONFIG=...    as every PGXS extension
#
#   make matrix   every suite on PostgreSQL 15, 17 and 18, in chroots
#   make sanitize, make tidy, make coverage, make soak      see test/README.md

EXTENSION = shardkit
EXTVERSION = 1.0
MODULE_big = shardkit

# In every list a trailing backslash and an empty line end it: a new name is one added line.

# --- the algorithms: pure C++20, no server -----------------------------------------------

CORE_OBJS = \
	src/core/place/advise_slots.o \
	src/core/place/compiled_layout.o \
	src/core/move/fingerprint.o \
	src/core/move/copy_binary.o \
	src/core/place/deal.o \
	src/core/place/jump.o \
	src/core/map/plan_forced.o \
	src/core/map/plan_improve.o \
	src/core/map/plan_load.o \
	src/core/map/plan_order.o \
	src/core/map/plan_ranges.o \
	src/core/map/plan_slots.o \
	src/core/map/plan_state.o \
	src/core/map/plan_swap.o \
	src/core/place/layout.o \
	src/core/place/layout_change.o \
	src/core/place/layout_parse.o \
	src/core/place/layout_parts.o \
	src/core/place/layout_scan.o \
	src/core/place/layout_share.o \
	src/core/place/layout_slots.o \
	src/core/place/layout_text.o \
	src/core/place/logarithm.o \
	src/core/place/murmur3.o \
	src/core/place/rendezvous.o \
	src/core/place/ring.o \
	src/core/place/ring_spread.o \
	src/core/place/valkey_slot.o \
	src/core/predict/flows.o \
	src/core/predict/heavy.o \
	src/core/predict/sample.o \
	src/core/predict/tally.o \


# --- the layer below SQL ------------------------------------------------------------------

PG_OBJS = \
	src/pg/map/add_table.o \
	src/pg/arguments.o \
	src/pg/quote.o \
	src/pg/map/catalog.o \
	src/pg/map/guard.o \
	src/pg/map/guard_trigger.o \
	src/pg/key/key.o \
	src/pg/key/key_arguments.o \
	src/pg/key/key_convert.o \
	src/pg/key/key_hash.o \
	src/pg/server/ask_server.o \
	src/pg/move/binary_form.o \
	src/pg/move/fingerprint.o \
	src/pg/server/copy_stream.o \
	src/pg/server/remote_link.o \
	src/pg/server/server_copy.o \
	src/pg/server/server_drop.o \
	src/pg/server/server_fence.o \
	src/pg/server/server_intent.o \
	src/pg/server/server_lock.o \
	src/pg/server/server_mark.o \
	src/pg/server/server_pause.o \
	src/pg/server/server_resume.o \
	src/pg/server/server_resume_moves.o \
	src/pg/server/server_run.o \
	src/pg/server/server_shape.o \
	src/pg/server/server_site.o \
	src/pg/server/server_swap.o \
	src/pg/server/server_table.o \
	src/pg/server/server_undo.o \
	src/pg/server/remote_options.o \
	src/pg/server/remote_query.o \
	src/pg/place/advise_slots.o \
	src/pg/place/digest.o \
	src/pg/place/hash64.o \
	src/pg/place/layout.o \
	src/pg/place/layout_build.o \
	src/pg/place/layout_cache.o \
	src/pg/place/layout_change.o \
	src/pg/place/layout_value.o \
	src/pg/map/map_cache.o \
	src/pg/map/map_change.o \
	src/pg/map/map_command.o \
	src/pg/map/map_document.o \
	src/pg/map/map_hash.o \
	src/pg/map/map_insert.o \
	src/pg/map/map_key.o \
	src/pg/map/map_lock.o \
	src/pg/map/map_lookup.o \
	src/pg/map/map_node.o \
	src/pg/map/map_read.o \
	src/pg/map/map_rows.o \
	src/pg/map/map_slots.o \
	src/pg/map/map_table.o \
	src/pg/module.o \
	src/pg/predict/churn.o \
	src/pg/predict/heavy.o \
	src/pg/key/partition.o \
	src/pg/key/partitioned.o \
	src/pg/predict/partition_layout.o \
	src/pg/key/partition_route.o \
	src/pg/move/move.o \
	src/pg/move/move_batch.o \
	src/pg/move/move_check.o \
	src/pg/move/move_finish.o \
	src/pg/move/move_insert.o \
	src/pg/move/move_lock.o \
	src/pg/move/move_partition.o \
	src/pg/move/move_progress.o \
	src/pg/move/move_round.o \
	src/pg/move/move_statement.o \
	src/pg/move/move_stream.o \
	src/pg/move/move_table.o \
	src/pg/predict/predict_key.o \
	src/pg/predict/tally.o \
	src/pg/predict/tally_bytes.o \
	src/pg/predict/tally_call.o \
	src/pg/predict/tally_result.o \
	src/pg/predict/tally_state.o \
	src/pg/place/placement.o \
	src/pg/place/ring_spread.o \
	src/pg/map/plan.o \
	src/pg/map/require.o \
	src/pg/move/row_hash.o \
	src/pg/subtransaction.o \


OBJS = $(CORE_OBJS) $(PG_OBJS)

# --- the SQL script, one section a topic --------------------------------------------------

SQL_SECTIONS = $(sort $(wildcard $(srcdir)/sql/install/*.sql))
DATA_built = sql/$(EXTENSION)--$(EXTVERSION).sql

# --- tests --------------------------------------------------------------------------------

# pg_regress: sql/NAME.sql against expected/NAME.out
REGRESS = \
	move \
	move_hazards \
	move_kinds \
	hash64 \
	key \
	evenness \
	layout \
	layout_change \
	fingerprint \
	guard \
	map \
	map_errors \
	map_hash \
	placement \
	predict \


# pg_isolation_regress: test/isolation/specs/NAME.spec
ISOLATION = \
	adopt \
	create \
	move \
	move_prepared \
	guard \
	map_cache \
	require \
	require_move \

ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation

# test/unit/NAME_test.cpp, an ordinary program that prints TAP
UNIT_TESTS = $(patsubst $(srcdir)/test/unit/%_test.cpp,build/unit/%_test,$(sort $(wildcard $(srcdir)/test/unit/*_test.cpp)))

# test/t/NAME.pl: several servers, crashes, concurrency. They start servers of their own, which
# refuse to run as root.
ifneq ($(shell id -u),0)
TAP_TESTS = 1
endif
PROVE_TESTS = test/t/*.pl
PROVE_FLAGS = -I test/t

EXTRA_CLEAN = build $(DATA_built) $(OBJS:.o=.d)

# --- how it is compiled -------------------------------------------------------------------

PG_CONFIG ?= pg_config
srcdir ?= .

include $(dir $(firstword $(MAKEFILE_LIST)))src/flags.mk

PG_CPPFLAGS = -I$(srcdir)/src -isystem $(shell $(PG_CONFIG) --includedir-server 2>/dev/null) \
	-isystem $(shell $(PG_CONFIG) --includedir 2>/dev/null)
PG_CXXFLAGS = $(CORE_FLAGS) $(BOUNDARY_FLAGS) -fvisibility=hidden -fvisibility-inlines-hidden $(WERROR)
SHLIB_LINK = -lxxhash -lb2 -lpq $(SANITIZE)

# SANITIZE adds flags that have the last word (-fsanitize=..., --coverage).
# Link as C++; no bitcode, since PGXS would build it with clang and without our -std.
override COMPILER = $(CXX) $(CXXFLAGS)
override with_llvm = no

PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
# PGXS sets srcdir, tracks no headers (the compiler does), and in a VPATH build makes no folders (a
# rule for them would find those of the source).
$(OBJS): $(srcdir)/src/flags.mk
override CXXFLAGS += -MMD -MP
-include $(OBJS:.o=.d)
ifneq ($(VPATH),)
$(shell mkdir -p $(dir $(OBJS)))
endif
override CXXFLAGS += $(SANITIZE)
else
all install installcheck:
	@echo "shardkit: $(PG_CONFIG) --pgxs names no PGXS makefile: install the server's headers" \
		"(postgresql-server-dev-NN) or set PG_CONFIG" >&2; exit 1
endif

$(DATA_built): $(SQL_SECTIONS)
	mkdir -p $(@D)
	cat $^ > $@

# --- checks that need no server -----------------------------------------------------------

.PHONY: unitcheck clangcheck symcheck demo test bench labs hunt matrix sanitize coverage soak tidy

# Core is compiled here without the server's include path: it cannot reach for the server.
UNIT_FLAGS = $(CORE_FLAGS) $(WERROR) -O2 -g -MMD -MP $(SANITIZE) -I$(srcdir)/src -I$(srcdir)/test/unit

build/unit/%_test: build/test/unit/%_test.o build/libcore.a
	@mkdir -p $(@D)
	$(CXX) $(SANITIZE) -o $@ $^

build/libcore.a: $(CORE_OBJS:%.o=build/%.o)
	rm -f $@
	ar rcs $@ $^

build/test/unit/%.o: $(srcdir)/test/unit/%.cpp $(srcdir)/src/flags.mk
	@mkdir -p $(@D)
	$(CXX) $(UNIT_FLAGS) -c -o $@ $<

build/src/core/%.o: $(srcdir)/src/core/%.cpp $(srcdir)/src/flags.mk
	@mkdir -p $(@D)
	$(CXX) $(UNIT_FLAGS) $(BOUNDARY_FLAGS) -c -o $@ $<

.PRECIOUS: build/src/core/%.o build/test/unit/%.o
-include $(wildcard build/src/core/*/*.d build/test/unit/*.d build/clang/src/*/*.d build/clang/src/*/*/*.d)

build/unit: $(UNIT_TESTS)

unitcheck: $(UNIT_TESTS)
	prove --exec '' $(UNIT_TESTS)

# The second compiler reads every source; a stamp remembers what it has read. (Statement expressions
# are the server's macros.)
CLANG = $(firstword $(shell command -v clang++-14 clang++ 2>/dev/null))
CLANG_STAMPS = $(OBJS:%.o=build/clang/%.ok)

build/clang/%.ok: $(srcdir)/%.cpp $(srcdir)/src/flags.mk
	@mkdir -p $(@D)
	$(CLANG) $(CORE_FLAGS) -Werror -Wno-gnu-statement-expression $(BOUNDARY_FLAGS) $(PG_CPPFLAGS) \
		-MMD -MP -MF build/clang/$*.d -MT $@ -fsyntax-only $<
	@touch $@

clangcheck: $(CLANG_STAMPS)

# The library must not need the C++ runtime: nothing may throw, allocate or unwind.
symcheck: $(MODULE_big).so
	$(srcdir)/test/harness/symcheck.sh $<

# What a script of the harness asks for: make print-REGRESS.
print-%:
	@echo '$($*)'

# --- the two commands, each with all its own set-up ---------------------------------------

demo:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/harness/stand.sh --index demo/demo.sh

test:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/harness/stand.sh test/harness/suites.sh

# --- measured: what is fast, and what others have published ---------------------------------

bench:
	@PG_CONFIG='$(PG_CONFIG)' STAND_SHARED_BUFFERS=$${STAND_SHARED_BUFFERS:-1GB} \
		$(srcdir)/test/harness/stand.sh test/bench/run.sh

labs:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/harness/stand.sh test/labs/run.sh

# --- longer campaigns ---------------------------------------------------------------------

# Every function of the extension with what it does not expect, for HUNT_SECONDS.
hunt:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/harness/stand.sh perl test/hunt/hunt.pl

matrix sanitize coverage soak tidy:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/harness/$@.sh
