#include "core/place/ring.hpp"

#include <vector>

#include "core/place/mix.hpp"

#include "check.hpp"

using namespace shardkit;

namespace
{

struct BuiltRing {
	std::vector<RingToken> tokens;
	std::vector<std::uint64_t> hashes;
	std::vector<std::uint16_t> nodes;
	std::vector<std::uint32_t> index;
	Ring ring;
};

BuiltRing Build(std::vector<RingToken> tokens, std::size_t nodes)
{
	BuiltRing built;
	std::vector<std::uint16_t> rank(nodes);
	for (std::size_t i = 0; i < nodes; ++i)
		rank[i] =
			static_cast<std::uint16_t>(nodes - 1 - i); /* the last node has the smallest name */
	SortTokens(tokens, rank);
	built.tokens = tokens;
	built.hashes.resize(RingTokenEntries(tokens.size()));
	built.nodes.resize(RingTokenEntries(tokens.size()));
	built.index.resize(RingIndexEntries(tokens.size()));
	FillRing(tokens, built.hashes, built.nodes, built.index);
	built.ring = {built.hashes.data(), built.nodes.data(), built.index.data(),
		64 - RingIndexBits(tokens.size())};
	return built;
}

/* The definition, without an index. */
std::int32_t Slowly(const BuiltRing &built, std::uint64_t hash)
{
	for (const auto &token : built.tokens)
		if (token.hash >= hash)
			return token.node;
	return built.tokens.front().node;
}

bool Agrees(const BuiltRing &built, std::uint64_t hashes)
{
	for (const auto &token : built.tokens)
		for (const std::uint64_t hash : {token.hash - 1, token.hash, token.hash + 1})
			if (Locate(built.ring, hash) != Slowly(built, hash))
				return false;
	for (std::uint64_t i = 0; i < hashes; ++i)
		if (Locate(built.ring, Fmix64(i)) != Slowly(built, Fmix64(i)))
			return false;
	return Locate(built.ring, 0) == Slowly(built, 0) &&
		   Locate(built.ring, ~0ULL) == Slowly(built, ~0ULL);
}

bool RandomRingsAgree()
{
	for (std::uint64_t size = 1; size < 130; ++size) {
		std::vector<RingToken> tokens;
		for (std::uint64_t i = 0; i < size; ++i)
			tokens.push_back({Fmix64(size * 1000 + i), static_cast<std::uint16_t>(i % 7)});
		if (!Agrees(Build(tokens, 7), 1000))
			return false;
	}
	return true;
}

/* A bad token hash: all in a few narrow places, some equal. */
bool ClusteredRingAgrees()
{
	std::vector<RingToken> tokens;
	for (std::uint64_t i = 0; i < 900; ++i)
		tokens.push_back(
			{(i % 3) << 62 | (Fmix64(i) & 0xff) << 8, static_cast<std::uint16_t>(i % 9)});
	return Agrees(Build(tokens, 9), 20'000);
}

} // namespace

int main()
{
	check::Ok(
		RandomRingsAgree(), "rings of 1 to 129 tokens agree with the definition, 129,000 hashes");
	check::Ok(ClusteredRingAgrees(), "a ring of clustered and equal tokens agrees");
	check::Ok(Agrees(Build({{0, 0}, {~0ULL, 1}}, 2), 100), "tokens at both ends");
	check::Ok(Locate(Build({{5, 0}, {5, 1}}, 2).ring, 5) == 1, "equal tokens: the smaller name");
	check::Ok(Locate(Build({{5, 0}, {5, 1}}, 2).ring, 6) == 1, "the same across the wrap");
	return check::Done();
}
