/* PostgreSQL's binary COPY stream, taken apart tuple by tuple where it lies. */
#ifndef SHARDKIT_CORE_COPY_BINARY_HPP
#define SHARDKIT_CORE_COPY_BINARY_HPP

#include <cstddef>
#include <cstdint>
#include <span>

namespace shardkit
{

/* One value of a tuple: its binary send output inside the input, or NULL. */
struct CopyField {
	std::span<const std::byte> bytes;
	bool is_null;
};

enum class CopyStep : std::uint8_t {
	kTuple, /* fields hold a tuple */
	kMore,  /* the input ends inside the header or a tuple: join it with what follows */
	kEnd,   /* the trailer was read */
	kBroken /* not a binary COPY stream of this many columns */
};

/* How far a stream has been read; nothing of the input is kept. */
struct CopyReader {
	bool header_read = false;
	bool ended = false;
};

/*
 * Reads the next tuple from the front of input and drops what it read from input. fields must be as
 * many as the stream has columns; they point into the input. On kMore a header that was complete
 * has been dropped, an incomplete tuple has not. Bytes behind the trailer make the stream broken.
 */
CopyStep NextTuple(
	CopyReader &reader, std::span<const std::byte> &input, std::span<CopyField> fields) noexcept;

} // namespace shardkit

#endif
