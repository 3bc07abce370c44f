#include "core/place/layout_parse.hpp"

#include "check.hpp"
#include "layouts.hpp"

namespace
{

const char *const kTexts[] = {"modulo(8)", "jump(\"a,b\", \"say \"\"hi\"\"\")",
	"ring(a, b*2.5, c; vnodes=16, token_hash=md5)", "rendezvous(node-10, node-9, x*0.000000001)",
	"slots(a[0-8,70], b[9-17], c[18-69,71]; slots=72)", "slots(a*3, b; slots=100)",
	"slots(a[1,3,5-7], b[], c[0,2,4,8]; slots=9)", "ranges(a@0000000000000000, b@4000000000000000)",
	"ranges(17)"};

bool CanonicalTextsStay()
{
	for (const char *text : kTexts) {
		const auto once = layouts::Read(text);
		const auto canonical = layouts::Text(once->layout);
		const auto again = layouts::Read(canonical);
		if (layouts::Text(again->layout) != canonical)
			return false;
	}
	return true;
}

/* A cut or spoilt text is taken or its fault lies within it; memory checkers watch this. */
bool FaultsLieInTheText(const std::string &text)
{
	shardkit::LayoutNeeds needs;
	const auto fault = shardkit::MeasureLayout(text, needs);
	if (fault.message != nullptr)
		return fault.at <= text.size();
	std::vector<std::uint64_t> room;
	auto layout = layouts::Room(room, needs);
	const auto meaning = shardkit::ParseLayout(text, layout);
	return meaning.message == nullptr || meaning.at <= text.size();
}

bool SpoiltTextsFail()
{
	for (const std::string text : kTexts)
		for (std::size_t at = 0; at < text.size(); ++at) {
			if (!FaultsLieInTheText(text.substr(0, at)))
				return false;
			for (const char c : std::string_view{"()[],;*=@-\"0 a\0\xff", 16}) {
				std::string spoilt = text;
				spoilt[at] = c;
				if (!FaultsLieInTheText(spoilt) ||
					!FaultsLieInTheText(text.substr(0, at) + c + text.substr(at)))
					return false;
			}
		}
	return true;
}

/* Formatting into less room than needed writes no more than there is, and answers the whole length. */
bool FormatKeepsToItsRoom()
{
	const auto owned = layouts::Read("slots(a[0-8,70], b[9-17], c[18-69,71]; slots=72)");
	const std::string whole = layouts::Text(owned->layout);
	for (std::size_t room = 0; room < whole.size(); ++room) {
		std::string part(room + 1, '#');
		if (shardkit::FormatLayout(owned->layout, {part.data(), room}) != whole.size() ||
			part != whole.substr(0, room) + "#")
			return false;
	}
	return true;
}

bool OrderDoesNotMatter()
{
	const auto one = layouts::Read("ring(c, a, b; vnodes=64)");
	const auto other = layouts::Read("ring(b, c, a; vnodes=64)");
	const auto third = layouts::Read("rendezvous(c*2, a, b)");
	const auto fourth = layouts::Read("rendezvous(b, a, c*2)");
	for (std::uint64_t i = 0; i < 100'000; ++i) {
		const std::uint64_t hash = layouts::Hash(5, i);
		if (one->Owner(hash) != other->Owner(hash) || third->Owner(hash) != fourth->Owner(hash))
			return false;
	}
	return layouts::Text(one->layout) == layouts::Text(other->layout);
}

} // namespace

int main()
{
	check::Ok(CanonicalTextsStay(), "the canonical text reads back as itself");
	check::Ok(SpoiltTextsFail(), "cut and spoilt texts fail within themselves");
	check::Ok(FormatKeepsToItsRoom(), "formatting keeps to its room");
	check::Ok(OrderDoesNotMatter(), "the order of names matters to neither ring nor rendezvous");
	return check::Done();
}
