#include "pg/key/key.hpp"
#include "pg/key/partitioned.hpp"
#include "pg/quote.hpp"

#include "pg/pg.hpp"

using namespace shardkit;

namespace
{

/* What a prediction's SQL needs to know of a key. */
struct KeyText {
	int columns;
	Datum column[kMaxKeyColumns]; /* as SQL text, quoted */
	Oid type[kMaxKeyColumns];
	bool is_plain; /* partition_hash of these columns is the hash that is asked for */
};

bool IsDeterministic(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

KeyText NamedKey(Relation relation, const char *names)
{
	const Key key = ParseKey(relation, names);
	KeyText text = {};
	text.columns = key.columns;
	text.is_plain = true;
	for (int i = 0; i < key.columns; ++i) {
		const char *name = get_attname(RelationGetRelid(relation), key.column[i].number, false);
		text.column[i] = CStringGetTextDatum(QuoteName(name));
		text.type[i] = key.column[i].type;
		/* An aggregate sees one collation for all its arguments. */
		text.is_plain = text.is_plain && IsDeterministic(key.column[i].collation);
	}
	return text;
}

char *ExpressionText(Relation relation, Node *expression)
{
	List *context =
		deparse_context_for(RelationGetRelationName(relation), RelationGetRelid(relation));
	return psprintf("(%s)", deparse_expression(expression, context, false, false));
}

/* The columns by which a hash-partitioned table is partitioned. */
KeyText PartitionKeyText(Relation relation)
{
	const PartitionKey key = HashPartitionKey(relation);
	KeyText text = {};
	text.columns = key->partnatts;
	text.is_plain = true;
	ListCell *next = list_head(key->partexprs);
	for (int i = 0; i < key->partnatts; ++i) {
		const AttrNumber number = key->partattrs[i];
		if (number != 0) {
			const char *name = get_attname(RelationGetRelid(relation), number, false);
			text.column[i] = CStringGetTextDatum(QuoteName(name));
		} else {
			text.column[i] =
				CStringGetTextDatum(ExpressionText(relation, static_cast<Node *>(lfirst(next))));
			next = lnext(key->partexprs, next);
		}
		text.type[i] = key->parttypid[i];
		text.is_plain = text.is_plain && IsDeterministic(key->partcollation[i]) &&
						IsDeterministic(key->parttypcoll[i]) &&
						key->partsupfunc[i].fn_oid == HashFunctionOf(key->parttypid[i]);
	}
	return text;
}

} // namespace

/* (relation, key) -> (columns text[], types regtype[], is_plain); a NULL key: the partition key. */
SHARDKIT_FUNCTION(shardkit_predict_key)
Datum shardkit_predict_key(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	TupleDesc description = nullptr;
	if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	Relation relation = OpenRelation(PG_GETARG_OID(0));
	KeyText key = PG_ARGISNULL(1) ? PartitionKeyText(relation)
								  : NamedKey(relation, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	relation_close(relation, AccessShareLock);

	Datum types[kMaxKeyColumns];
	for (int i = 0; i < key.columns; ++i)
		types[i] = ObjectIdGetDatum(key.type[i]);
	Datum values[3] = {
		PointerGetDatum(construct_array(key.column, key.columns, TEXTOID, -1, false, TYPALIGN_INT)),
		PointerGetDatum(
			construct_array(types, key.columns, REGTYPEOID, sizeof(Oid), true, TYPALIGN_INT)),
		BoolGetDatum(key.is_plain)};
	bool nulls[3] = {};
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(description), values, nulls)));
}
