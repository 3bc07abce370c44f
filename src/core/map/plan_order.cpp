#include "core/map/plan_block.hpp"
#include "core/map/plan_state.hpp"

namespace shardkit
{

namespace
{

/* A move gains less the later it comes, mostly: a few looks at it are enough. */
constexpr std::int32_t kMostLooks = 8;

struct Waiting {
	std::int64_t gain;
	std::int32_t move;
	std::int32_t looks;
};

bool IsLessUseful(const Waiting &one, const Waiting &other)
{
	return one.gain != other.gain ? one.gain < other.gain : one.move > other.move;
}

} // namespace

std::size_t OrderMoves(std::span<const PlanSlot> slots, std::span<const PlanRange> ranges,
	std::span<const std::int32_t> owner, std::span<std::byte> scratch,
	std::span<PlanMove> moves) noexcept
{
	PlanBlock block{scratch};
	LoadPlan replay{};
	replay.ranges = ranges;
	replay.loads = block.Take<std::int64_t>(ranges.size());
	const auto unordered = block.Take<PlanMove>(slots.size());
	const auto heap = block.Take<Waiting>(slots.size());
	std::size_t count = 0;
	for (std::size_t slot = 0; slot < slots.size(); ++slot) {
		const std::int32_t home = slots[slot].node;
		if (home < 0)
			continue;
		replay.loads[Index(home)] += slots[slot].load;
		if (owner[slot] != home)
			unordered[count++] = {static_cast<std::int32_t>(slot), home, owner[slot]};
	}
	const auto gain = [&](const PlanMove &move) {
		return Gain(replay, move.from, move.to, slots[Index(move.slot)].load);
	};
	for (std::size_t move = 0; move < count; ++move)
		heap[move] = {gain(unordered[move]), static_cast<std::int32_t>(move), 0};
	const auto begin = heap.begin();
	auto end = begin + static_cast<std::ptrdiff_t>(count);
	std::make_heap(begin, end, IsLessUseful);

	std::size_t done = 0;
	while (end != begin) {
		std::pop_heap(begin, end, IsLessUseful);
		Waiting &next = end[-1];
		const PlanMove &move = unordered[Index(next.move)];
		const std::int64_t now = gain(move);
		if (now < next.gain && next.looks < kMostLooks) {
			next.gain = now;
			++next.looks;
			std::push_heap(begin, end, IsLessUseful);
			continue;
		}
		replay.loads[Index(move.from)] -= slots[Index(move.slot)].load;
		replay.loads[Index(move.to)] += slots[Index(move.slot)].load;
		moves[done++] = move;
		--end;
	}
	return done;
}

} // namespace shardkit
