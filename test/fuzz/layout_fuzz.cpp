// Any text is refused or is a layout whose canonical text is a fixed point; and compiled, it places
// every hash on one of its nodes.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/compiled_layout.hpp"
#include "core/layout_parse.hpp"
#include "core/layout_text.hpp"
#include "core/mix.hpp"

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

void Compile(const Layout &layout)
{
	if (layout.strategy == Strategy::kRing || layout.strategy == Strategy::kRendezvous)
		return; // their tokens need a digest, which core does not have
	std::vector<RingToken> tokens(CompileTokens(layout));
	if (!tokens.empty())
		RangeTokens(layout, tokens);
	std::vector<std::uint64_t> block(CompiledBytes(layout, tokens.size()) / 8 + 1);
	const CompiledLayout *compiled = CompileLayout(layout, tokens, block.data());
	for (std::uint64_t i = 0; i < 64; ++i) {
		const std::int32_t node = Place(*compiled, i == 0 ? 0 : ~std::uint64_t{0} / i);
		Demand(node >= 0 && static_cast<std::size_t>(node) < layout.nodes.size());
		Demand(NodeName(*compiled, node) == layout.nodes[static_cast<std::size_t>(node)].name);
	}
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
	return 0;
}
