#include "core/move/copy_binary.hpp"

#include <random>
#include <string>
#include <vector>

#include "check.hpp"

using shardkit::CopyField;
using shardkit::CopyReader;
using shardkit::CopyStep;
using shardkit::NextTuple;

namespace
{

using Bytes = std::vector<std::byte>;

Bytes Of(const std::string &text)
{
	Bytes bytes;
	for (const char letter : text)
		bytes.push_back(static_cast<std::byte>(letter));
	return bytes;
}

const std::string kHeader("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
const std::string kTrailer("\377\377", 2);
/* COPY (SELECT 1, NULL::text) and (SELECT 258, 'ab'), as the server sends them. */
const std::string kFirst("\0\2\0\0\0\4\0\0\0\1\377\377\377\377", 14);
const std::string kSecond("\0\2\0\0\0\4\0\0\1\2\0\0\0\2ab", 16);

std::string Text(const CopyField &field)
{
	if (field.is_null)
		return "NULL";
	std::string text;
	for (const auto one : field.bytes)
		text.push_back(static_cast<char>(one));
	return text;
}

/* Reads a stream that arrives in pieces; answers the values, or what went wrong. */
std::string Read(const std::string &stream, std::size_t piece, std::size_t columns = 2)
{
	CopyReader reader;
	std::vector<CopyField> fields(columns);
	Bytes kept;
	std::string answer;
	for (std::size_t at = 0; at < stream.size(); at += piece) {
		const auto next = Of(stream.substr(at, piece));
		kept.insert(kept.end(), next.begin(), next.end());
		std::span<const std::byte> input = kept;
		auto step = CopyStep::kTuple;
		while (!input.empty() && step == CopyStep::kTuple) {
			step = NextTuple(reader, input, fields);
			if (step == CopyStep::kTuple)
				for (const auto &field : fields)
					answer += Text(field) + "|";
			if (step == CopyStep::kBroken)
				return answer + "broken";
			if (step == CopyStep::kEnd)
				answer += "end";
		}
		kept = Bytes(input.begin(), input.end());
	}
	return answer;
}

const std::string kValues("\0\0\0\1|NULL|\0\0\1\2|ab|end", 21);

bool EverySplitReadsTheSame()
{
	const auto stream = kHeader + kFirst + kSecond + kTrailer;
	for (std::size_t piece = 1; piece <= stream.size(); ++piece)
		if (Read(stream, piece) != kValues)
			return false;
	return true;
}

/* Random bytes behind a good header: an answer, and never a step outside of the input. */
bool NoiseIsSurvived()
{
	std::mt19937 random(7);
	for (int round = 0; round < 20'000; ++round) {
		auto stream = kHeader + kFirst + kSecond + kTrailer;
		for (int change = 0; change < 3; ++change)
			stream[random() % stream.size()] = static_cast<char>(random());
		stream.resize(random() % (stream.size() + 1));
		for (std::size_t columns : {0U, 1U, 2U, 3U})
			(void)Read(stream, 1 + random() % 20, columns);
	}
	return true;
}

} // namespace

int main()
{
	check::Ok(EverySplitReadsTheSame(), "values and NULL, however the stream is cut");
	check::Ok(Read(kHeader + kTrailer, 64) == "end", "an empty stream");
	check::Ok(Read(kHeader + std::string("\0\0", 2) + kTrailer, 64, 0) == "end", "no columns");
	check::Ok(Read(kHeader + kFirst, 64, 3) == "broken", "another number of columns");
	check::Ok(Read("PGCOPX" + kFirst, 64) == "broken", "another signature");
	check::Ok(Read(std::string("PGCOPY\n\377\r\n\0\0\1\0\0\0\0\0\0", 19) + kFirst, 64) == "broken",
		"a critical flag");
	check::Ok(
		Read(std::string("PGCOPY\n\377\r\n\0\0\0\0\1\0\0\0\3xyz", 22) + kFirst + kSecond + kTrailer,
			5) == kValues,
		"an extension of the header is skipped");
	check::Ok(
		Read(kHeader + std::string("\0\2\0\0\0\4\0\0\0\1\377\377\377\376", 14), 64) == "broken",
		"a negative length");
	check::Ok(Read(kHeader + kTrailer + "x", 64) == "broken", "bytes behind the end");
	check::Ok(Read(kHeader + kSecond.substr(0, 15), 64).empty(), "a tuple that is cut off");
	check::Ok(NoiseIsSurvived(), "noise is survived");
	return check::Done();
}
