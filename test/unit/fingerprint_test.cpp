#include "core/move/fingerprint.hpp"

#include <string>

#include "check.hpp"

using shardkit::Fingerprint;
using shardkit::RowSum;
using shardkit::Sum;

namespace
{

constexpr std::uint64_t kAll = ~std::uint64_t{0};

std::string Text(Fingerprint fingerprint)
{
	const auto digits = shardkit::Digits(fingerprint);
	return {digits.begin(), digits.end()};
}

bool OrderDoesNotMatter()
{
	const Fingerprint a{kAll, 3}, b{5, kAll}, c{kAll, kAll};
	return Sum(Sum(a, b), c) == Sum(c, Sum(b, a)) && Sum(a, Sum(c, b)) == Sum(Sum(a, c), b);
}

/* What an exclusive or would not see. */
bool RowTwiceIsNotNone()
{
	RowSum none{}, twice{};
	Add(twice, {7, 9}, 10);
	Add(twice, {7, 9}, 10);
	return !(twice.fingerprint == none.fingerprint) && twice.rows == 2 && twice.bytes == 20;
}

bool CountIsCompared()
{
	RowSum none{}, cancelled{};
	Add(cancelled, {1, 0}, 1);
	Add(cancelled, {kAll, kAll}, 1);
	return cancelled.fingerprint == none.fingerprint && !SameRows(cancelled, none);
}

bool FramesAreBigEndian()
{
	unsigned char frame[4];
	shardkit::WriteFrame(frame, 0x01020304U);
	return frame[0] == 1 && frame[1] == 2 && frame[2] == 3 && frame[3] == 4;
}

} // namespace

int main()
{
	check::Ok(Sum({kAll, 0}, {1, 0}) == Fingerprint{0, 1}, "a carry reaches the high half");
	check::Ok(Sum({kAll, kAll}, {1, 0}) == Fingerprint{0, 0}, "the sum wraps at 2^128");
	check::Ok(OrderDoesNotMatter(), "order does not matter");
	check::Ok(RowTwiceIsNotNone(), "a row that is there twice does not cancel itself");
	check::Ok(CountIsCompared(), "equal sums of different counts are not the same rows");
	check::Ok(FramesAreBigEndian(), "frames are big-endian");
	check::Ok(
		Text({0xfedcba9876543210U, 0x0123456789abcdefU}) == "0123456789abcdeffedcba9876543210",
		"digits, most significant first");
	check::Ok(Text({1, 0}) == "00000000000000000000000000000001", "leading zeros stay");
	return check::Done();
}
