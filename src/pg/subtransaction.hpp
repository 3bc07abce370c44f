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

/* For PG_CATCH: a lock that was not free ends the subtransaction alone; any other error goes on. */
void AbortAfterBusyLock(const Subtransaction &sub);

/*
 * For what runs users' code (an event trigger, a function): its error leaves SPI at the level where
 * it was raised, from which a procedure can no longer roll back. Behind this it can.
 */
template <typename Step>
void InSubtransaction(const Step &step)
{
	const auto sub = BeginSubtransaction();
	PG_TRY();
	{
		step();
		CommitSubtransaction(sub);
	}
	PG_CATCH();
	{
		ReThrowError(AbortAfterError(sub));
	}
	PG_END_TRY();
}

} // namespace shardkit

#endif
