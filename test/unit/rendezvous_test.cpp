#include "core/place/rendezvous.hpp"

#include <cmath>

#include "check.hpp"
#include "layouts.hpp"

using layouts::Hash;
using layouts::Read;

namespace
{

constexpr std::uint64_t kHashes = 100'000;

/* The definition, with the mathematics library's logarithm. */
std::size_t Slowly(const layouts::Owned &owned, std::uint64_t hash)
{
	const auto &nodes = owned.layout.nodes;
	std::size_t winner = 0;
	double nearest = INFINITY;
	for (std::size_t i = 0; i < nodes.size(); ++i) {
		const std::uint64_t score = shardkit::Fmix64(hash ^ shardkit::Murmur3(nodes[i].name));
		const double u = (static_cast<double>(score >> 11) + 0.5) * 0x1p-53;
		const double distance = -std::log(u) / shardkit::WeightNumber(nodes[i].weight);
		if (distance < nearest) {
			winner = i;
			nearest = distance;
		}
	}
	return winner;
}

bool AgreesWithDefinition(const std::string &text)
{
	const auto owned = Read(text);
	for (std::uint64_t i = 0; i < kHashes; ++i)
		if (static_cast<std::size_t>(owned->Place(Hash(1, i))) != Slowly(*owned, Hash(1, i)))
			return false;
	return true;
}

/* From one weight to another, a key that moves leaves or enters that node. */
bool OnlyThatNodeMoves(const std::string &text, const std::string &changed, std::string_view node)
{
	const auto before = Read(text);
	const auto after = Read(changed);
	std::uint64_t moved = 0;
	for (std::uint64_t i = 0; i < kHashes; ++i) {
		const auto from = before->Owner(Hash(2, i));
		const auto to = after->Owner(Hash(2, i));
		if (from != to && from != node && to != node)
			return false;
		moved += from != to ? 1 : 0;
	}
	return moved > 0;
}

bool WithoutLosersTheWinnerStays()
{
	const auto all = Read("rendezvous(a, b*2, c*0.5, d*3, e)");
	const auto some = Read("rendezvous(b*2, d*3, e)");
	for (std::uint64_t i = 0; i < kHashes; ++i) {
		const auto winner = all->Owner(Hash(3, i));
		if (winner != "a" && winner != "c" && some->Owner(Hash(3, i)) != winner)
			return false;
	}
	return true;
}

bool EqualWeightsChangeNothing()
{
	const auto plain = Read("rendezvous(9)");
	const auto weighted =
		Read("rendezvous(node-0*3, node-1*3, node-2*3, node-3*3, node-4*3, node-5*3,"
			 " node-6*3, node-7*3, node-8*3)");
	for (std::uint64_t i = 0; i < kHashes; ++i)
		if (plain->Owner(Hash(4, i)) != weighted->Owner(Hash(4, i)))
			return false;
	return true;
}

/* Both scores are the highest there is, so that both distances are zero whatever the weights. */
bool TiesGoToTheSmallerName()
{
	const std::uint64_t hash = 12'345;
	std::uint64_t seed = 1;
	/* Fmix64 backwards: x ^= x >> 33 undoes itself, the factors have inverses modulo 2^64. */
	const auto inverse = [](std::uint64_t factor) {
		std::uint64_t answer = factor;
		for (int i = 0; i < 6; ++i)
			answer *= 2 - factor * answer;
		return answer;
	};
	seed = ~std::uint64_t{0};
	seed ^= seed >> 33;
	seed *= inverse(0xc4ceb9fe1a85ec53U);
	seed ^= seed >> 33;
	seed *= inverse(0xff51afd7ed558ccdU);
	seed ^= seed >> 33;
	seed ^= hash;
	if (shardkit::Fmix64(hash ^ seed) != ~std::uint64_t{0})
		return false;
	const std::uint64_t seeds[] = {shardkit::Fmix64Begin(seed), shardkit::Fmix64Begin(seed)};
	const std::uint16_t nodes[] = {0, 1};
	const shardkit::RendezvousGroup groups[] = {{1, 1}, {2, 2}};
	for (const std::uint16_t second : {std::uint16_t{0}, std::uint16_t{2}}) {
		const std::uint16_t ranks[] = {1, second};
		const shardkit::Rendezvous rendezvous{seeds, nodes, ranks, groups, 2, 2};
		if (Elect(rendezvous, hash) != (second == 0 ? 1 : 0))
			return false;
	}
	return true;
}

} // namespace

int main()
{
	check::Ok(AgreesWithDefinition("rendezvous(9)"), "nine nodes agree with the definition");
	check::Ok(AgreesWithDefinition("rendezvous(a*0.1, b, c*2.5, d*2.5, e*100)"),
		"weights agree with the definition and the library's logarithm");
	check::Ok(OnlyThatNodeMoves("rendezvous(a, b, c*2, d)", "rendezvous(a, b, c*3, d)", "c"),
		"a changed weight moves keys into or out of that node only");
	check::Ok(
		OnlyThatNodeMoves("rendezvous(a, b*2, c*2, d)", "rendezvous(a, b*2, c*2, d*0.3)", "d"),
		"the same for a lighter one");
	check::Ok(WithoutLosersTheWinnerStays(), "the winner of all wins among any of them");
	check::Ok(EqualWeightsChangeNothing(), "equal weights place as none do");
	check::Ok(TiesGoToTheSmallerName(), "equal distances of two weights: the smaller name");
	return check::Done();
}
