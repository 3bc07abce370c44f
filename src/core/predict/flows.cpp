#include "core/predict/flows.hpp"

#include <bit>
#include <cassert>

namespace shardkit
{

std::uint64_t FlowCells(std::uint32_t before, std::uint32_t after) noexcept
{
	return IsDense(before, after) ? std::uint64_t{before} * after : kFirstSparseFlows;
}

Flows MakeFlows(std::uint32_t before, std::uint32_t after, std::span<FlowCell> cells) noexcept
{
	const bool dense = IsDense(before, after);
	assert(dense ? cells.size() == FlowCells(before, after) : std::has_single_bit(cells.size()));
	for (std::uint64_t i = 0; i < cells.size(); ++i)
		cells[i] = {.id = dense ? i : kEmptyFlow, .rows = 0, .keys = 0, .weight = 0};
	return {.before = before,
		.after = after,
		.used = 0,
		.capacity = cells.size(),
		.cells = cells.data()};
}

bool HasRoom(const Flows &flows, std::uint64_t more) noexcept
{
	/* Beyond three quarters the probes of a sparse table grow long. */
	return IsDense(flows.before, flows.after) || flows.used + more <= flows.capacity / 4 * 3;
}

FlowCell &SparseFlow(Flows &flows, std::uint64_t id) noexcept
{
	const std::uint64_t mask = flows.capacity - 1;
	std::uint64_t place = (id * 0x9e3779b97f4a7c15U >> 20) & mask;
	while (flows.cells[place].id != id && flows.cells[place].id != kEmptyFlow)
		place = (place + 1) & mask;
	FlowCell &cell = flows.cells[place];
	if (cell.id == kEmptyFlow) {
		assert(flows.used < mask);
		cell.id = id;
		++flows.used;
	}
	return cell;
}

void AddFlow(Flows &flows, const FlowCell &cell) noexcept
{
	if (cell.id == kEmptyFlow)
		return;
	FlowCell &own =
		IsDense(flows.before, flows.after) ? flows.cells[cell.id] : SparseFlow(flows, cell.id);
	own.rows += cell.rows;
	own.keys += cell.keys;
	own.weight += cell.weight;
}

} // namespace shardkit
