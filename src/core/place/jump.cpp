#include "core/place/jump.hpp"

#include <cassert>

namespace shardkit
{

std::int32_t Jump(std::uint64_t hash, std::int32_t shards) noexcept
{
	assert(shards > 0);
	constexpr double kTwoTo31 = 2147483648.0;
	std::int64_t bucket = -1;
	std::int64_t next = 0;
	while (next < shards) {
		bucket = next;
		hash = hash * 2862933555777941757U + 1;
		/* Two IEEE roundings belong to the definition: an integer division differs. */
		next = static_cast<std::int64_t>(
			static_cast<double>(bucket + 1) * (kTwoTo31 / static_cast<double>((hash >> 33) + 1)));
	}
	return static_cast<std::int32_t>(bucket);
}

} // namespace shardkit
