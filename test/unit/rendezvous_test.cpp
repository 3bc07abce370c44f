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
	return check::Done();
}
