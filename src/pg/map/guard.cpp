#include "pg/map/guard.hpp"

#include <algorithm>
#include <cstring>

#include "pg/key/key.hpp"
#include "pg/map/map_cache.hpp"
#include "pg/map/map_hash.hpp"
#include "pg/map/map_read.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

Oid suspended_for = InvalidOid;
int suspended_level = 0;
std::span<const int32> suspended_slots;

void OnTransactionEnd(XactEvent, void *)
{
	suspended_for = InvalidOid;
}

/* An abort of a block that a trigger ran inside of the mover's statement is none of ours. */
void OnSubtransactionEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void *)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && GetCurrentTransactionNestLevel() <= suspended_level)
		suspended_for = InvalidOid;
}

bool IsSuspendedFor(Oid table, int32 slot)
{
	return OidIsValid(suspended_for) && table == suspended_for &&
		   std::ranges::binary_search(suspended_slots, slot);
}

/* All that is needed to judge the rows of one table; kept from statement to statement. */
struct GuardState {
	Oid trigger;
	Oid relation;
	bool is_valid;
	uint64 generation;
	MemoryContext memory;
	const MapEntry *map;
	int32 node;
	Key key;
	MapHasher *hasher;
};

HTAB *guards = nullptr;

void OnRelationChange(Datum, Oid relation)
{
	HASH_SEQ_STATUS all;
	hash_seq_init(&all, guards);
	while (auto *guard = static_cast<GuardState *>(hash_seq_search(&all)))
		if (relation == InvalidOid || relation == guard->relation)
			guard->is_valid = false;
}

void StartGuards()
{
	if (guards != nullptr)
		return;
	HASHCTL control = {};
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(GuardState);
	control.hcxt = CacheMemoryContext;
	guards = hash_create("shardkit guards", 16, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(OnRelationChange, Datum{0});
}

void CheckCall(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("guard must be called as a trigger")));
	const auto *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
	const bool fits =
		TRIGGER_FIRED_AFTER(trigger->tg_event) && TRIGGER_FIRED_FOR_ROW(trigger->tg_event) &&
		!TRIGGER_FIRED_BY_DELETE(trigger->tg_event) && trigger->tg_trigger->tgnargs == 3;
	if (!fits)
		ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
						   errmsg("guard must be an AFTER ROW trigger for INSERT or UPDATE"),
						   errhint("shardkit.add_table makes it.")));
}

MapHasher *HasherOf(const GuardState &guard)
{
	Oid types[kMaxKeyColumns];
	Oid collations[kMaxKeyColumns];
	for (int i = 0; i < guard.key.columns; ++i) {
		types[i] = guard.key.column[i].type;
		collations[i] = guard.key.column[i].collation;
	}
	return MakeMapHasher(
		guard.memory, guard.map->hash, {types, static_cast<size_t>(guard.key.columns)}, collations);
}

void Fill(GuardState &guard, const TriggerData &trigger)
{
	char **arguments = trigger.tg_trigger->tgargs;
	guard.is_valid = false;
	/* A hash function that writes to the table itself must not lose the ground it stands on. */
	if (guard.memory != nullptr)
		MemoryContextSetParent(guard.memory, TopTransactionContext);
	guard.memory =
		AllocSetContextCreate(CacheMemoryContext, "shardkit guard", ALLOCSET_SMALL_SIZES);
	guard.relation = RelationGetRelid(trigger.tg_relation);
	guard.generation = MapGeneration();
	guard.map = &GetMap(arguments[0]);
	guard.node = GetNode(*guard.map, arguments[1]);
	guard.key = ParseKey(trigger.tg_relation, arguments[2]);
	guard.hasher = HasherOf(guard);
	guard.is_valid = true;
}

/*
 * The statement holds ROW EXCLUSIVE on the table, which excludes every change of who owns its rows:
 * what the map says when the first row comes holds to the last.
 */
GuardState *Prepare(FunctionCallInfo fcinfo, const TriggerData &trigger)
{
	StartGuards();
	AcceptInvalidationMessages();
	bool found = false;
	auto *guard = static_cast<GuardState *>(
		hash_search(guards, &trigger.tg_trigger->tgoid, HASH_ENTER, &found));
	if (!found) {
		guard->memory = nullptr;
		guard->is_valid = false;
	}
	if (!guard->is_valid || guard->generation != MapGeneration())
		Fill(*guard, trigger);
	fcinfo->flinfo->fn_extra = guard;
	return guard;
}

int32 SlotOfRow(const GuardState &state, TupleTableSlot *row)
{
	Datum values[kMaxKeyColumns];
	bool nulls[kMaxKeyColumns];
	for (int i = 0; i < state.key.columns; ++i)
		values[i] = slot_getattr(row, state.key.column[i].number, &nulls[i]);
	return SlotOfHash(*state.map, HashMapKey(*state.hasher, values, nulls));
}

/* Did the slot belong to this node when the transaction took its only snapshot? */
bool MovedSinceSnapshot(const GuardState &state, int32 slot)
{
	if (!IsolationUsesXactSnapshot())
		return false;
	const char *owner = ReadOwner(state.map->name, slot, GetTransactionSnapshot());
	return owner != nullptr && std::strcmp(owner, state.map->nodes[state.node].name) == 0;
}

[[noreturn]] void Refuse(const GuardState &state, int32 slot)
{
	const MapEntry &map = *state.map;
	const char *node = map.nodes[state.node].name;
	const char *owner = OwnerName(map, slot);
	if (MovedSinceSnapshot(state, slot))
		ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						   errmsg("could not serialize access: slot %d of map \"%s\" has moved",
							   slot, map.name),
						   errdetail("It is owned by node \"%s\" as of epoch " INT64_FORMAT ".",
							   owner == nullptr ? "" : owner, map.changed_at[slot]),
						   errhint("Run the transaction again.")));
	if (owner == nullptr)
		ereport(
			ERROR, (errcode(kWrongOwner), errmsg("row belongs to no node yet"),
					   errdetail("Slot %d of map \"%s\" has no owner at epoch " INT64_FORMAT ".",
						   slot, map.name, map.epoch),
					   errhint("Call shardkit.assign_slots or shardkit.deal_slots.")));
	ereport(ERROR,
		(errcode(kWrongOwner), errmsg("row belongs to node \"%s\", not to \"%s\"", owner, node),
			errdetail("Slot %d of map \"%s\" is owned by node \"%s\" as of epoch " INT64_FORMAT ".",
				slot, map.name, owner, map.changed_at[slot]),
			errhint("Read the map again and send the row to its owner.")));
	pg_unreachable();
}

} // namespace

namespace shardkit
{

void SuspendGuard(Oid relation, std::span<const int32> slots)
{
	static bool watching = false;
	if (!watching) {
		RegisterXactCallback(OnTransactionEnd, nullptr);
		RegisterSubXactCallback(OnSubtransactionEnd, nullptr);
	}
	watching = true;
	suspended_for = relation;
	suspended_slots = slots;
	suspended_level = GetCurrentTransactionNestLevel();
}

void ResumeGuard()
{
	suspended_for = InvalidOid;
}

} // namespace shardkit

SHARDKIT_FUNCTION(shardkit_guard)
Datum shardkit_guard(PG_FUNCTION_ARGS)
{
	auto *state = static_cast<GuardState *>(fcinfo->flinfo->fn_extra);
	if (state == nullptr)
		CheckCall(fcinfo);
	const auto &trigger = *reinterpret_cast<TriggerData *>(fcinfo->context);
	if (state == nullptr)
		state = Prepare(fcinfo, trigger);

	TupleTableSlot *row =
		TRIGGER_FIRED_BY_UPDATE(trigger.tg_event) ? trigger.tg_newslot : trigger.tg_trigslot;
	const int32 slot = SlotOfRow(*state, row);
	if (state->map->owners[slot] != state->node && !IsSuspendedFor(state->relation, slot))
		Refuse(*state, slot);
	return PointerGetDatum(nullptr);
}
