#include "core/place/compiled_layout.hpp"

#include <cstring>

#include "check.hpp"
#include "layouts.hpp"

namespace
{

const char *const kTexts[] = {"modulo(1)", "modulo(65535)", "jump(9)", "ring(a; vnodes=1)",
	"ring(9)", "rendezvous(9)", "rendezvous(a*2, b, c)", "slots(a[1], b[0]; slots=2)",
	"slots(100; slots=1048576)", "ranges(65535)",
	"ranges(a@0000000000000000, b@0000000000000001, c@ffffffffffffffff)"};

bool StaysInRange(const layouts::Owned &layout)
{
	for (std::uint64_t i = 0; i < 20'000; ++i) {
		const auto node = layout.Place(i < 4 ? i - 2 : layouts::Hash(8, i));
		if (node < 0 || static_cast<std::size_t>(node) >= layout.layout.nodes.size())
			return false;
	}
	return true;
}

/* The block knows its length and holds no addresses. */
bool MayBeCopied(const layouts::Owned &layout)
{
	std::vector<std::uint64_t> copy(layout.Compiled().bytes / 8 + 1);
	std::memcpy(copy.data(), &layout.Compiled(), layout.Compiled().bytes);
	const auto &moved = *reinterpret_cast<const shardkit::CompiledLayout *>(copy.data());
	for (std::uint64_t i = 0; i < 1000; ++i) {
		const auto node = shardkit::Place(moved, layouts::Hash(9, i));
		if (shardkit::NodeName(moved, node) != layout.Owner(layouts::Hash(9, i)))
			return false;
	}
	return true;
}

} // namespace

int main()
{
	bool in_range = true;
	bool copied = true;
	for (const char *text : kTexts) {
		const auto layout = layouts::Read(text);
		in_range = in_range && StaysInRange(*layout);
		copied = copied && MayBeCopied(*layout);
	}
	check::Ok(in_range, "every hash has a node, 220,000 hashes");
	check::Ok(copied, "a compiled layout may be copied");
	const auto ranges = layouts::Read(kTexts[10]);
	check::Ok(ranges->Owner(0) == "a" && ranges->Owner(1) == "b" && ranges->Owner(~1ULL) == "b" &&
				  ranges->Owner(~0ULL) == "c",
		"uneven ranges end where the next one starts");
	const auto huge = layouts::Read("modulo(65535)");
	check::Ok(
		huge->Owner(65534) == "node-65534" && huge->Owner(65535) == "node-0", "the most nodes");
	return check::Done();
}
