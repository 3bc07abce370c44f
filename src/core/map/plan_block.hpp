/* Arrays out of one block of memory that the caller owns. */
#ifndef SHARDKIT_CORE_PLAN_BLOCK_HPP
#define SHARDKIT_CORE_PLAN_BLOCK_HPP

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace shardkit
{

struct PlanBlock {
	std::span<std::byte> left;

	/* The next count elements, zeroed. */
	template <typename T>
	requires std::is_trivially_copyable_v<T> std::span<T> Take(std::size_t count)
	noexcept
	{
		const std::size_t bytes = (count * sizeof(T) + 7) / 8 * 8;
		assert(bytes <= left.size());
		T *const start = reinterpret_cast<T *>(left.data());
		std::uninitialized_value_construct_n(start, count);
		left = left.subspan(bytes);
		return {start, count};
	}
};

} // namespace shardkit

#endif
