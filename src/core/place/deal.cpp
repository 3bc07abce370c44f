#include "core/place/deal.hpp"

#include <cassert>
#include <cstddef>

namespace shardkit
{

namespace
{

double Sum(std::span<const double> numbers) noexcept
{
	double sum = 0;
	for (const double number : numbers)
		sum += number;
	return sum;
}

/* given becomes the whole part of each quota, then one more for the largest remainders. */
void SetTargets(
	std::span<const double> weights, std::int32_t slots, std::span<std::int32_t> given) noexcept
{
	const double total = Sum(weights);
	const auto quota = [&](std::size_t node) {
		return slots * (weights[node] / total);
	};
	std::int32_t left = slots;
	for (std::size_t node = 0; node < weights.size(); ++node) {
		given[node] = static_cast<std::int32_t>(quota(node));
		left -= given[node];
	}
	for (; left > 0; --left) {
		std::size_t best = 0;
		double most = -2;
		for (std::size_t node = 0; node < weights.size(); ++node) {
			const double remainder = quota(node) - given[node];
			if (weights[node] > 0 && remainder > most) {
				best = node;
				most = remainder;
			}
		}
		++given[best];
	}
}

} // namespace

void Deal(std::span<const double> weights, std::span<const std::int32_t> owned, std::int32_t slots,
	std::span<std::int32_t> given) noexcept
{
	assert(weights.size() == owned.size() && weights.size() == given.size());
	SetTargets(weights, slots, given);

	std::int32_t free = slots;
	std::int32_t wanted = 0;
	for (std::size_t node = 0; node < owned.size(); ++node) {
		free -= owned[node];
		given[node] = given[node] > owned[node] ? given[node] - owned[node] : 0;
		wanted += given[node];
	}
	/* Nodes above their part leave less for the others: those that would get most give way. */
	const double total = Sum(weights);
	for (; wanted > free; --wanted) {
		std::size_t richest = 0;
		double most = -1e300;
		for (std::size_t node = 0; node < owned.size(); ++node) {
			const double above = owned[node] + given[node] - slots * (weights[node] / total);
			if (given[node] > 0 && above >= most) {
				richest = node;
				most = above;
			}
		}
		--given[richest];
	}
}

} // namespace shardkit
