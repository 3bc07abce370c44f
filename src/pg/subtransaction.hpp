/* What may fail alone, or be taken back, inside a transaction. */
#ifndef SHARDKIT_PG_SUBTRANSACTION_HPP
#define SHARDKIT_PG_SUBTRANSACTION_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* A subtransaction of our own; memory and owner are set back at its end. */
struct Subtransaction {
	MemoryContext memory;
	ResourceOwner owner;
};

Subtransaction BeginSubtransaction();
void CommitSubtransaction(const Subtransaction &sub);
void AbortSubtransaction(const Subtransaction &sub);

/* For PG_CATCH: takes the error out of the server's hands, into the memory of before. */
ErrorData *AbortAfterError(const Subtransaction &sub);

} // namespace shardkit

#endif
