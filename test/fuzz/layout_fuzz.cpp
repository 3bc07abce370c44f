// Any text is refused or is a layout whose canonical text is a fixed point; and compiled, it places
// every hash on one of its nodes.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/place/compiled_layout.hpp"
#include "core/place/layout_change.hpp"
#include "core/place/layout_parse.hpp"
#include "core/place/layout_share.hpp"
#include "core/place/layout_text.hpp"
#include "core/place/mix.hpp"
#include "core/place/murmur3.hpp"

using namespace shardkit;

namespace
{

struct Parsed {
	std::unique_ptr<std::max_align_t[]> memory;
	Layout layout;
};

void Demand(bool held)
{
	if (!held)
		std::abort();
}

bool Parse(std::string_view text, Parsed &parsed)
{
	LayoutNeeds needs{};
	if (const LayoutFault fault = MeasureLayout(text, needs); fault.message != nullptr) {
		Demand(fault.at <= text.size());
		return false;
	}
	// More would only make the fuzzer slow.
	if (needs.nodes > 5000 || needs.slots > 100000)
		return false;
	parsed.memory =
		std::make_unique<std::max_align_t[]>(LayoutBytes(needs) / sizeof(std::max_align_t) + 1);
	parsed.layout = LayoutOver(needs, parsed.memory.get());
	const LayoutFault fault = ParseLayout(text, parsed.layout);
	Demand(fault.message == nullptr || fault.at <= text.size());
	return fault.message == nullptr;
}

std::string Format(Layout &layout)
{
	std::string text(FormatLayout(layout, {}), '\0');
	Demand(FormatLayout(layout, text) == text.size());
	return text;
}

// Tokens and seeds as a digest would make them.
std::vector<RingToken> TokensFor(const Layout &layout)
{
	std::vector<RingToken> tokens(CompileTokens(layout));
	if (layout.strategy == Strategy::kRanges && !tokens.empty())
		RangeTokens(layout, tokens);
	if (layout.strategy != Strategy::kRing && layout.strategy != Strategy::kRendezvous)
		return tokens;
	std::size_t at = 0;
	for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
		const std::int64_t count = layout.strategy == Strategy::kRing
									   ? TokensOf(layout.vnodes, layout.nodes[node].weight)
									   : 1;
		for (std::int64_t i = 0; i < count; ++i)
			tokens[at++] = {
				Fmix64(Murmur3(layout.nodes[node].name) + static_cast<std::uint64_t>(i)),
				static_cast<std::uint16_t>(node)};
	}
	Demand(at == tokens.size());
	return tokens;
}

// Shares add up to everything, and every hash has one of the nodes.
void Compile(const Layout &layout)
{
	if (CompileTokens(layout) > 20000)
		return; // slow, and nothing new
	std::vector<RingToken> tokens = TokensFor(layout);
	std::vector<std::uint64_t> block(CompiledBytes(layout, tokens.size()) / 8 + 1);
	const CompiledLayout *compiled = CompileLayout(layout, tokens, block.data());
	for (std::uint64_t i = 0; i < 64; ++i) {
		const std::int32_t node = Place(*compiled, i == 0 ? 0 : ~std::uint64_t{0} / i);
		Demand(node >= 0 && static_cast<std::size_t>(node) < layout.nodes.size());
		Demand(NodeName(*compiled, node) == layout.nodes[static_cast<std::size_t>(node)].name);
	}
	std::vector<double> shares(layout.nodes.size());
	NodeShares({layout, *compiled}, shares);
	double sum = 0;
	for (const double share : shares)
		sum += share;
	Demand(sum > 0.999999 && sum < 1.000001);
}

// A node comes and goes; the churn of both lies between nothing and everything.
void Change(const Layout &layout)
{
	const LayoutNeeds needs{layout.nodes.size() + 1, 0, layout.owners.size()};
	std::vector<std::uint64_t> room(LayoutBytes(needs) / 8 + 1);
	Layout grown = LayoutOver(needs, room.data());
	if (AddNode(layout, "fuzzer", kWeightOne, grown) != nullptr)
		return;
	Compile(grown);
	const std::int32_t leaver = FindNode(grown, "fuzzer");
	Demand(leaver >= 0);
	std::vector<std::uint64_t> other(room.size());
	Layout back = LayoutOver({layout.nodes.size(), 0, layout.owners.size()}, other.data());
	Demand(RemoveNode(grown, static_cast<std::size_t>(leaver), back) == nullptr);
	Compile(back);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string text(reinterpret_cast<const char *>(data), size);
	Parsed first;
	if (!Parse(text, first))
		return 0;
	const std::string canonical = Format(first.layout);
	Parsed second;
	Demand(Parse(canonical, second));
	Demand(Format(second.layout) == canonical);
	Compile(second.layout);
	Change(second.layout);
	return 0;
}
