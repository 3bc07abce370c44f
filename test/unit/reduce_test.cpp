#include "core/place/reduce.hpp"

#include "core/place/mix.hpp"

#include "check.hpp"

using namespace shardkit;

namespace
{

constexpr std::uint64_t kEdges[] = {0, 1, 2, 9, 480, 0x7fffffffU, 0xffffffffU, 0x100000000U,
	0x7fffffffffffffffU, 0x8000000000000000U, 0xfffffffffffffffeU, 0xffffffffffffffffU};

bool RemaindersAreRight()
{
	for (std::uint64_t i = 0; i < 200'000; ++i) {
		const std::uint64_t value = i < 70'000 ? i + 1 : (Fmix64(i) >> (i % 64)) | 1;
		const Divisor divisor = MakeDivisor(value);
		if (Remainder(Fmix64(~i), divisor) != Fmix64(~i) % value)
			return false;
		for (const std::uint64_t hash : kEdges)
			if (Remainder(hash, divisor) != hash % value)
				return false;
	}
	return true;
}

bool StartsAreFirst()
{
	for (std::uint64_t parts = 1; parts < 2000; ++parts)
		for (std::uint64_t part = 0; part < parts; ++part) {
			const std::uint64_t start = EvenPartStart(part, parts);
			if (EvenPart(start, parts) != part ||
				(start > 0 && EvenPart(start - 1, parts) + 1 != part))
				return false;
		}
	return true;
}

} // namespace

int main()
{
	check::Ok(RemaindersAreRight(), "remainders equal the hardware's division");
	check::Ok(StartsAreFirst(), "a part starts at its first hash");
	check::Ok(EvenPart(~std::uint64_t{0}, 7) == 6, "the last hash lies in the last part");
	return check::Done();
}
