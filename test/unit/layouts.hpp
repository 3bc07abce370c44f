/* Layouts for unit tests: from text, with room of their own, tokens by MurmurHash3. */
#ifndef SHARDKIT_TEST_UNIT_LAYOUTS_HPP
#define SHARDKIT_TEST_UNIT_LAYOUTS_HPP

#include <cassert>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/place/compiled_layout.hpp"
#include "core/place/layout_change.hpp"
#include "core/place/layout_parse.hpp"
#include "core/place/layout_share.hpp"
#include "core/place/layout_text.hpp"
#include "core/place/murmur3.hpp"

namespace layouts
{

/* A layout and all that it needs to live. */
struct Owned {
	std::string text;
	std::vector<std::uint64_t> room; /* of 8-byte words, so that it is aligned */
	shardkit::Layout layout;
	std::vector<std::uint64_t> block;

	const shardkit::CompiledLayout &Compiled() const
	{
		return *reinterpret_cast<const shardkit::CompiledLayout *>(block.data());
	}
	std::int32_t Place(std::uint64_t hash) const
	{
		return shardkit::Place(Compiled(), hash);
	}
	std::string_view Owner(std::uint64_t hash) const
	{
		return shardkit::NodeName(Compiled(), Place(hash));
	}
};

inline shardkit::Layout Room(std::vector<std::uint64_t> &room, const shardkit::LayoutNeeds &needs)
{
	room.assign(shardkit::LayoutBytes(needs) / 8 + 1, 0);
	return shardkit::LayoutOver(needs, room.data());
}

inline void Compile(Owned &owned)
{
	const auto &layout = owned.layout;
	std::vector<shardkit::RingToken> tokens;
	for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
		const std::string name{layout.nodes[node].name};
		if (layout.strategy == shardkit::Strategy::kRing)
			for (std::int64_t i = 0;
				 i < shardkit::TokensOf(layout.vnodes, layout.nodes[node].weight); ++i)
				tokens.push_back({shardkit::Murmur3(name + "#" + std::to_string(i)),
					static_cast<std::uint16_t>(node)});
		if (layout.strategy == shardkit::Strategy::kRendezvous)
			tokens.push_back({shardkit::Murmur3(name), static_cast<std::uint16_t>(node)});
	}
	if (layout.strategy == shardkit::Strategy::kRanges) {
		tokens.resize(shardkit::CompileTokens(layout));
		if (!tokens.empty())
			shardkit::RangeTokens(layout, tokens);
	}
	owned.block.assign(shardkit::CompiledBytes(layout, tokens.size()) / 8 + 1, 0);
	shardkit::CompileLayout(layout, tokens, owned.block.data());
}

/* The text must be right: a wrong one ends the test. */
inline std::unique_ptr<Owned> Read(const std::string &text)
{
	auto owned = std::make_unique<Owned>();
	owned->text = text;
	shardkit::LayoutNeeds needs;
	if (shardkit::MeasureLayout(owned->text, needs).message != nullptr)
		std::abort();
	owned->layout = Room(owned->room, needs);
	if (shardkit::ParseLayout(owned->text, owned->layout).message != nullptr)
		std::abort();
	Compile(*owned);
	return owned;
}

inline std::string Text(shardkit::Layout &layout)
{
	std::string text(shardkit::FormatLayout(layout, {}), ' ');
	shardkit::FormatLayout(layout, text);
	return text;
}

/* A layout with one node more, by its own rule. */
inline std::unique_ptr<Owned> Add(const Owned &from, const std::string &name, double weight = 1)
{
	std::vector<std::uint64_t> room;
	auto to = Room(room, {from.layout.nodes.size() + 1, 0, from.layout.owners.size()});
	const auto billionths = static_cast<std::int64_t>(weight * shardkit::kWeightOne + 0.5);
	if (shardkit::AddNode(from.layout, name, billionths, to) != nullptr)
		std::abort();
	return Read(Text(to));
}

inline std::unique_ptr<Owned> Remove(const Owned &from, std::size_t node)
{
	std::vector<std::uint64_t> room;
	auto to = Room(room, {from.layout.nodes.size() - 1, 0, from.layout.owners.size()});
	if (shardkit::RemoveNode(from.layout, node, to) != nullptr)
		std::abort();
	return Read(Text(to));
}

/* A stream of hashes that depends on the seed alone. */
inline std::uint64_t Hash(std::uint64_t seed, std::uint64_t i)
{
	return shardkit::Fmix64(shardkit::Fmix64(seed + 1) + i * 0x9e3779b97f4a7c15U);
}

inline double Churn(const Owned &before, const Owned &after)
{
	const auto nodes = before.layout.nodes.size() + after.layout.nodes.size();
	std::vector<double> shares(nodes);
	std::vector<std::int32_t> numbers(nodes);
	std::vector<std::int64_t> counts(nodes);
	std::vector<shardkit::WeightPair> weights(nodes);
	return 1 - shardkit::KeptShare({before.layout, before.Compiled()},
				   {after.layout, after.Compiled()}, {shares, numbers, counts, weights});
}

inline std::vector<double> Shares(const Owned &owned)
{
	std::vector<double> shares(owned.layout.nodes.size());
	shardkit::NodeShares({owned.layout, owned.Compiled()}, shares);
	return shares;
}

} // namespace layouts

#endif
