// A stream is read alike whether it comes whole or in pieces, and no stream makes the reader step
// outside it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/move/copy_binary.hpp"

using namespace shardkit;

namespace
{

constexpr std::size_t kColumns = 3;

struct Outcome {
	CopyStep last;
	std::uint64_t tuples;
	std::uint64_t sum;
	bool operator==(const Outcome &) const = default;
};

// Every byte of every field is looked at, so that the sanitizer sees one that lies outside.
void Digest(std::span<const CopyField> fields, Outcome &outcome)
{
	++outcome.tuples;
	for (const CopyField &field : fields) {
		outcome.sum = outcome.sum * 31 + (field.is_null ? 7 : field.bytes.size());
		for (const std::byte byte : field.bytes)
			outcome.sum = outcome.sum * 31 + static_cast<std::uint64_t>(byte);
	}
}

Outcome Read(std::span<const std::byte> stream, std::size_t piece)
{
	CopyReader reader;
	Outcome outcome{CopyStep::kMore, 0, 0};
	std::vector<std::byte> pending;
	CopyField fields[kColumns];
	while (!stream.empty()) {
		const auto next = stream.first(std::min(piece, stream.size()));
		stream = stream.subspan(next.size());
		pending.insert(pending.end(), next.begin(), next.end());
		// A block of its own, exactly as long, for each step.
		const std::vector<std::byte> block(pending);
		std::span<const std::byte> input(block);
		while ((outcome.last = NextTuple(reader, input, fields)) == CopyStep::kTuple)
			Digest(fields, outcome);
		if (outcome.last == CopyStep::kBroken)
			return outcome;
		pending.assign(input.begin(), input.end());
		if (outcome.last == CopyStep::kEnd) {
			if (!stream.empty())
				outcome.last = CopyStep::kBroken; // bytes behind the trailer
			return outcome;
		}
	}
	return outcome;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	if (size > 4096)
		return 0;
	// Few inputs begin like a stream by chance.
	static constexpr unsigned char kHeader[19] = "PGCOPY\n\xff\r\n";
	std::vector<std::byte> stream;
	if (size > 0 && (data[0] & 1) != 0)
		for (const unsigned char byte : kHeader)
			stream.push_back(static_cast<std::byte>(byte));
	for (std::size_t i = 1; i < size; ++i)
		stream.push_back(static_cast<std::byte>(data[i]));
	const Outcome whole = Read(stream, stream.size() + 1);
	const std::size_t piece = size > 1 ? 1 + data[1] % 7 : 1;
	const Outcome pieces = Read(stream, piece);
	if (whole.last != CopyStep::kBroken && !(whole == pieces))
		std::abort();
	return 0;
}
