#include "core/place/layout_parse.hpp"

#include <algorithm>
#include <optional>

#include "core/place/layout_descent.hpp"

namespace shardkit
{

namespace
{

bool ReadStrategy(Descent &descent) noexcept
{
	const std::size_t at = descent.scan.at;
	const std::string_view word = ScanWord(descent.scan);
	for (std::size_t i = 0; i < kStrategyWords.size(); ++i)
		if (kStrategyWords[i] == word) {
			descent.strategy = static_cast<Strategy>(i);
			return Expect(descent.scan, '(', "\"(\" expected");
		}
	return Fail(descent.scan,
		"unknown strategy: modulo, jump, ring, rendezvous, slots or ranges expected", at);
}

bool ReadWeight(Descent &descent, LayoutNode &node) noexcept
{
	const std::size_t at = descent.scan.at;
	if (!Accept(descent.scan, '*'))
		return true;
	if (!TakesWeights(descent.strategy))
		return Fail(descent.scan, "this strategy knows no weights", at);
	const auto weight = ScanWeight(descent.scan);
	if (!weight)
		return Fail(descent.scan, "weight expected: above 0, at most 100000, at most nine decimals",
			at + 1);
	node.weight = *weight;
	return true;
}

bool ReadNode(Descent &descent) noexcept
{
	SkipSpace(descent.scan);
	LayoutNode node = {{}, kWeightOne, 0, static_cast<std::uint32_t>(descent.scan.at)};
	const ScannedName name = ScanName(descent.scan);
	if (name.text.empty())
		return Fail(descent.scan, name.message, node.at);
	if (descent.nodes >= static_cast<std::size_t>(kMaxNodes))
		return Fail(descent.scan, "more than 65535 nodes", node.at);
	descent.names += name.text.size();
	if (descent.layout != nullptr)
		node.name = name.quoted ? KeepUnquoted(*descent.layout, name.text) : name.text;
	SkipSpace(descent.scan);
	if (!ReadWeight(descent, node) || (SkipSpace(descent.scan), !ReadPart(descent, node)))
		return false;
	if (descent.layout != nullptr)
		descent.layout->nodes[descent.nodes] = node;
	++descent.nodes;
	SkipSpace(descent.scan);
	return true;
}

/* A count n: the nodes node-0 .. node-(n-1). */
bool ReadCount(Descent &descent) noexcept
{
	constexpr std::size_t kNumberedNameBytes = 10;
	const std::size_t at = descent.scan.at;
	const auto count = ScanNumber(descent.scan, kMaxNodes);
	if (!count || *count < 1)
		return Fail(descent.scan, "number of nodes must be from 1 to 65535", at);
	descent.nodes = static_cast<std::size_t>(*count);
	descent.names = descent.nodes * kNumberedNameBytes;
	for (std::uint32_t i = 0; descent.layout != nullptr && i < descent.nodes; ++i)
		descent.layout->nodes[i] = {
			KeepNumberedName(*descent.layout, i), kWeightOne, 0, static_cast<std::uint32_t>(at)};
	SkipSpace(descent.scan);
	return true;
}

bool ReadNodes(Descent &descent) noexcept
{
	SkipSpace(descent.scan);
	if (StartsCount(descent.scan))
		return ReadCount(descent);
	do {
		if (!ReadNode(descent))
			return false;
	} while (Accept(descent.scan, ','));
	return true;
}

bool ReadNumberOption(Descent &descent, bool &seen, std::int64_t &value, std::int64_t most,
	const char *message) noexcept
{
	const std::size_t at = descent.scan.at;
	if (seen)
		return Fail(descent.scan, "option given twice", at);
	seen = true;
	const auto number = ScanNumber(descent.scan, most);
	if (!number || *number < 1)
		return Fail(descent.scan, message, at);
	value = *number;
	return true;
}

bool ReadHashOption(Descent &descent) noexcept
{
	const std::size_t at = descent.scan.at;
	const auto algorithm = FindAlgorithm(ScanWord(descent.scan));
	if (descent.has_hash)
		return Fail(descent.scan, "option given twice", at);
	if (!algorithm)
		return Fail(descent.scan,
			"unknown hash: md5, sha1, sha256, blake2b, xxh64, xxh3, murmur3 or fnv1a expected", at);
	descent.has_hash = true;
	descent.token_hash = *algorithm;
	return true;
}

bool ReadOption(Descent &descent) noexcept
{
	SkipSpace(descent.scan);
	const std::size_t at = descent.scan.at;
	const std::string_view word = ScanWord(descent.scan);
	const bool ring = descent.strategy == Strategy::kRing;
	const bool vnodes = ring && word == "vnodes";
	const bool token_hash = ring && word == "token_hash";
	if (!vnodes && !token_hash && !(descent.strategy == Strategy::kSlots && word == "slots"))
		return Fail(descent.scan, "unknown option for this strategy", at);
	SkipSpace(descent.scan);
	if (!Expect(descent.scan, '=', "\"=\" expected"))
		return false;
	SkipSpace(descent.scan);
	const bool read = token_hash ? ReadHashOption(descent)
					  : vnodes   ? ReadNumberOption(descent, descent.has_vnodes, descent.vnodes,
									   kMaxTokens, "vnodes must be from 1 to 4194304")
								 : ReadNumberOption(descent, descent.has_slots, descent.slots,
									   kMaxSlots, "slots must be from 1 to 1048576");
	SkipSpace(descent.scan);
	return read;
}

bool ReadLayout(Descent &descent) noexcept
{
	SkipSpace(descent.scan);
	if (!ReadStrategy(descent) || !ReadNodes(descent))
		return false;
	if (Accept(descent.scan, ';'))
		do {
			if (!ReadOption(descent))
				return false;
		} while (Accept(descent.scan, ','));
	if (!Expect(descent.scan, ')', "\",\", \";\" or \")\" expected"))
		return false;
	SkipSpace(descent.scan);
	return descent.scan.at == descent.scan.text.size() ||
		   Fail(descent.scan, "nothing may follow the layout", descent.scan.at);
}

Descent StartDescent(std::string_view text, Layout *layout) noexcept
{
	return {{text, 0, {nullptr, 0}}, layout, Strategy::kModulo, Algorithm::kSha256, kDefaultVnodes,
		kDefaultSlots, 0, 0, false, false, false, false};
}

} // namespace

LayoutFault MeasureLayout(std::string_view text, LayoutNeeds &needs) noexcept
{
	Descent descent = StartDescent(text, nullptr);
	if (!ReadLayout(descent))
		return descent.scan.fault;
	const bool slots = descent.strategy == Strategy::kSlots;
	needs = {descent.nodes, descent.names, slots ? static_cast<std::size_t>(descent.slots) : 0};
	return {nullptr, 0};
}

LayoutFault ParseLayout(std::string_view text, Layout &layout) noexcept
{
	std::fill(layout.owners.begin(), layout.owners.end(), kNoOwner);
	Descent descent = StartDescent(text, &layout);
	if (!ReadLayout(descent))
		return descent.scan.fault;
	layout.strategy = descent.strategy;
	layout.token_hash = descent.token_hash;
	layout.vnodes = static_cast<std::int32_t>(descent.vnodes);
	const auto open = std::find(layout.owners.begin(), layout.owners.end(), kNoOwner);
	if (descent.assigned && open != layout.owners.end())
		return {"a slot has no owner", text.size() - 1};
	return FinishLayout(layout, !descent.assigned);
}

LayoutFault FinishLayout(Layout &layout, bool deal) noexcept
{
	const std::int32_t repeated = OrderNodes(layout);
	if (repeated >= 0)
		return {"node is named twice", layout.nodes[static_cast<std::size_t>(repeated)].at};
	const std::size_t at = layout.nodes[0].at;
	if (layout.strategy == Strategy::kRing && CountTokens(layout) > kMaxTokens)
		return {"ring has more than 4194304 tokens", at};
	if (deal && layout.strategy == Strategy::kSlots) {
		if (layout.nodes.size() > layout.owners.size())
			return {"more nodes than slots", at};
		DealSlots(layout);
	}
	if (deal && layout.strategy == Strategy::kRanges)
		DrawEvenRanges(layout);
	return {nullptr, 0};
}

} // namespace shardkit
