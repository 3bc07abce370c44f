/* A from x to matrix: how many rows and keys, and how much weight, go from each old node to each new one. */
#ifndef SHARDKIT_CORE_FLOWS_HPP
#define SHARDKIT_CORE_FLOWS_HPP

#include <cstdint>
#include <span>

namespace shardkit
{

struct FlowCell {
	std::uint64_t id; /* old node * new nodes + new node; kEmptyFlow where a sparse cell is free */
	std::uint64_t rows;
	std::uint64_t keys; /* where keys are counted */
	double weight;
};

inline constexpr std::uint64_t kEmptyFlow = ~std::uint64_t{0};

/* Matrices up to this many cells have all of them; larger ones only those that occur. */
inline constexpr std::uint64_t kMaxDenseFlows = 65'536;

/* A sparse table starts at this many cells, which is a power of two. */
inline constexpr std::uint64_t kFirstSparseFlows = 4'096;

struct Flows {
	std::uint32_t before;
	std::uint32_t after;
	std::uint64_t used; /* sparse cells in use */
	std::uint64_t capacity;
	FlowCell *cells;
};

inline bool IsDense(std::uint32_t before, std::uint32_t after) noexcept
{
	return std::uint64_t{before} * after <= kMaxDenseFlows;
}

/* How many cells to give MakeFlows at first. */
std::uint64_t FlowCells(std::uint32_t before, std::uint32_t after) noexcept;

/* cells: FlowCells() of them, or for a larger sparse table a greater power of two. */
Flows MakeFlows(std::uint32_t before, std::uint32_t after, std::span<FlowCell> cells) noexcept;

/* Is there surely room for so many more distinct cells? A dense matrix always has it. */
bool HasRoom(const Flows &flows, std::uint64_t more) noexcept;

/* The cell of a sparse table, taken into use if it is new; HasRoom(flows, 1) must hold. */
FlowCell &SparseFlow(Flows &flows, std::uint64_t id) noexcept;

inline FlowCell &FlowAt(Flows &flows, std::uint32_t from, std::uint32_t to) noexcept
{
	const std::uint64_t id = std::uint64_t{from} * flows.after + to;
	return IsDense(flows.before, flows.after) ? flows.cells[id] : SparseFlow(flows, id);
}

/* Adds a cell of another table of the same shape; there must be room. */
void AddFlow(Flows &flows, const FlowCell &cell) noexcept;

} // namespace shardkit

#endif
