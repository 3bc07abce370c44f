#include "core/place/logarithm.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "core/place/mix.hpp"

#include "check.hpp"

using shardkit::Logarithm;

namespace
{

/* Error in units of the last place of the result, judged by the 80-bit logarithm. */
double Error(double value)
{
	const long double right = std::log(static_cast<long double>(value));
	const double near = std::fabs(static_cast<double>(right));
	const double unit = std::nextafter(near, INFINITY) - near;
	return static_cast<double>(std::fabs(static_cast<long double>(Logarithm(value)) - right)) /
		   unit;
}

/* The worst error over the values that rendezvous asks for, and over those near 1. */
double WorstError()
{
	double worst = 0;
	for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
		const double uniform = (static_cast<double>(shardkit::Fmix64(i) >> 11) + 0.5) * 0x1p-53;
		const double near_one = 1 - uniform * 0x1p-20;
		const double small = uniform * uniform * uniform;
		worst =
			std::fmax(worst, std::fmax(Error(uniform), std::fmax(Error(near_one), Error(small))));
	}
	return worst;
}

bool Ascends()
{
	double before = Logarithm(0x1p-54);
	for (int i = 1; i <= 100'000; ++i) {
		const double now = Logarithm(i / 100'000.0);
		if (now < before)
			return false;
		before = now;
	}
	return true;
}

struct Pinned {
	double value;
	std::uint64_t bits;
};

/* These bits are part of what weighted rendezvous answers: they never change. */
constexpr Pinned kPinned[] = {{0x1p-54, 0xc042b708872320e2U}, {0.1, 0xc0026bb1bbb55515U},
	{0.5, 0xbfe62e42fefa39efU}, {0.7, 0xbfd6d3c324e13f50U}, {0.75, 0xbfd269621134db92U},
	{0.9999, 0xbf1a3738d2cf1cc2U}};

bool BitsArePinned()
{
	for (const auto &pinned : kPinned)
		if (std::bit_cast<std::uint64_t>(Logarithm(pinned.value)) != pinned.bits)
			return false;
	return true;
}

} // namespace

int main()
{
	const double worst = WorstError();
	std::printf("# worst error %.3f units in the last place\n", worst);
	check::Ok(worst < 2, "within 2 units in the last place over 3,000,000 values");
	check::Ok(Logarithm(1) == 0 && !std::signbit(0.0 - Logarithm(1)), "ln(1) is 0");
	check::Ok(Ascends(), "ascends");
	check::Ok(BitsArePinned(), "the same bits everywhere and always");
	return check::Done();
}
