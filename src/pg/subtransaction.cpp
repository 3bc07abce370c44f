#include "pg/subtransaction.hpp"

#include "pg/pg.hpp"

namespace shardkit
{

Subtransaction BeginSubtransaction()
{
	const Subtransaction sub = {CurrentMemoryContext, CurrentResourceOwner};
	BeginInternalSubTransaction(nullptr);
	MemoryContextSwitchTo(sub.memory);
	return sub;
}

void CommitSubtransaction(const Subtransaction &sub)
{
	ReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(sub.memory);
	CurrentResourceOwner = sub.owner;
}

void AbortSubtransaction(const Subtransaction &sub)
{
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(sub.memory);
	CurrentResourceOwner = sub.owner;
}

ErrorData *AbortAfterError(const Subtransaction &sub)
{
	MemoryContextSwitchTo(sub.memory);
	ErrorData *error = CopyErrorData();
	FlushErrorState();
	AbortSubtransaction(sub);
	return error;
}

void AbortAfterBusyLock(const Subtransaction &sub)
{
	auto *error = AbortAfterError(sub);
	if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
	FreeErrorData(error);
}

} // namespace shardkit
