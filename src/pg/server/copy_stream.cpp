#include "pg/server/copy_stream.hpp"

#include <xxhash.h>

#include "core/move/copy_binary.hpp"

#include "pg/server/remote_pg.hpp"

namespace shardkit
{

namespace
{

/* What is handed to libpq at once: enough for its calls not to count, little beside a server. */
constexpr int kChunkBytes = 64 * 1024;
/* A row whose form is longer is hashed piece by piece. */
constexpr std::size_t kRowBytes = 16 * 1024;

struct ColumnFrame {
	std::size_t bytes;
	unsigned char data[kFrameBytes + NAMEDATALEN]; /* the name's length, the name */
};

struct Stream {
	CopyReader reader;
	int columns;
	ColumnFrame *frames;
	CopyField *fields;
	RowSum sum;
	StringInfoData out; /* on its way to the target */
	XXH3_state_t *state;
};

/* One for the life of the backend: libxxhash wants to allocate it itself. */
XXH3_state_t *HashState()
{
	static XXH3_state_t *state = nullptr;
	if (state == nullptr)
		state = XXH3_createState();
	if (state == nullptr)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return state;
}

void InitStream(Stream *stream, const CopyColumns &columns)
{
	const auto count = static_cast<Size>(Max(columns.count, 1));
	stream->columns = columns.count;
	stream->frames = static_cast<ColumnFrame *>(palloc0(sizeof(ColumnFrame) * count));
	stream->fields = static_cast<CopyField *>(palloc0(sizeof(CopyField) * count));
	for (int i = 0; i < columns.count; ++i) {
		auto &frame = stream->frames[i];
		const auto length = strnlen(columns.names[i], NAMEDATALEN - 1);
		WriteFrame(std::span<unsigned char, kFrameBytes>(frame.data, kFrameBytes),
			static_cast<std::uint32_t>(length));
		memcpy(frame.data + kFrameBytes, columns.names[i], length);
		frame.bytes = kFrameBytes + length;
	}
	initStringInfo(&stream->out);
	stream->state = HashState();
}

/* The length lies right before the value, on the wire as in the row's form. */
std::span<const std::byte> WithLength(const CopyField &field)
{
	return {field.bytes.data() - kFrameBytes, field.bytes.size() + kFrameBytes};
}

Fingerprint Hashed(XXH128_hash_t hash)
{
	return {.low = hash.low64, .high = hash.high64};
}

Fingerprint HashLongRow(const Stream &stream)
{
	XXH3_128bits_reset(stream.state);
	for (int i = 0; i < stream.columns; ++i) {
		const auto value = WithLength(stream.fields[i]);
		XXH3_128bits_update(stream.state, stream.frames[i].data, stream.frames[i].bytes);
		XXH3_128bits_update(stream.state, value.data(), value.size());
	}
	return Hashed(XXH3_128bits_digest(stream.state));
}

void AddRow(Stream *stream)
{
	unsigned char row[kRowBytes];
	std::size_t form_bytes = 0;
	std::size_t value_bytes = 0;
	for (int i = 0; i < stream->columns; ++i) {
		value_bytes += stream->fields[i].bytes.size();
		form_bytes += stream->frames[i].bytes + WithLength(stream->fields[i]).size();
	}
	if (form_bytes > kRowBytes) {
		Add(stream->sum, HashLongRow(*stream), value_bytes);
		return;
	}
	std::size_t used = 0;
	for (int i = 0; i < stream->columns; ++i) {
		const auto value = WithLength(stream->fields[i]);
		memcpy(row + used, stream->frames[i].data, stream->frames[i].bytes);
		used += stream->frames[i].bytes;
		memcpy(row + used, value.data(), value.size());
		used += value.size();
	}
	Add(stream->sum, Hashed(XXH3_128bits(row, used)), value_bytes);
}

/* Counts the tuples of a chunk. The protocol cuts none: "always one per row". */
void Count(Stream *stream, Link *source, const char *chunk, int length)
{
	std::span<const std::byte> input(
		reinterpret_cast<const std::byte *>(chunk), static_cast<std::size_t>(length));
	auto step = CopyStep::kTuple;
	const std::span<CopyField> fields(stream->fields, static_cast<std::size_t>(stream->columns));
	while (step == CopyStep::kTuple && !input.empty()) {
		step = NextTuple(stream->reader, input, fields);
		if (step == CopyStep::kTuple)
			AddRow(stream);
	}
	if (!input.empty())
		ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
				errmsg("server \"%s\" sent rows in a form that is not understood", source->label)));
}

/* The target broke the COPY off: its reason is the answer. */
[[noreturn]] void RaiseCopyFailure(Link *target)
{
	while (NextResult(target) != nullptr)
		if (PQresultStatus(target->result) == PGRES_FATAL_ERROR)
			RaiseLinkError(target, target->result, nullptr);
	RaiseLinkError(target, nullptr, nullptr);
}

/* Waits until all that libpq has been given has left, so that it never piles up. */
void FlushAll(Link *target)
{
	for (int unsent = PQflush(target->conn); unsent != 0; unsent = PQflush(target->conn)) {
		if (unsent < 0)
			RaiseCopyFailure(target);
		WaitForSocket(target, WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE);
		if (PQconsumeInput(target->conn) == 0)
			RaiseCopyFailure(target);
	}
}

void Hand(Link *target, const char *data, int length)
{
	for (int done = 0; done < length;) {
		const int part = Min(length - done, kChunkBytes);
		const int taken = PQputCopyData(target->conn, data + done, part);
		if (taken < 0)
			RaiseCopyFailure(target);
		if (taken > 0)
			done += part;
		FlushAll(target);
	}
}

void Forward(Stream *stream, Link *target, const char *chunk, int length)
{
	if (stream->out.len + length > kChunkBytes) {
		Hand(target, stream->out.data, stream->out.len);
		resetStringInfo(&stream->out);
	}
	if (length > kChunkBytes)
		Hand(target, chunk, length);
	else
		appendBinaryStringInfo(&stream->out, chunk, length);
}

/* The next chunk of the source into its link; its length, or -1 at the end. */
int NextChunk(Link *source)
{
	PQfreemem(source->chunk);
	source->chunk = nullptr;
	for (;;) {
		const int length = PQgetCopyData(source->conn, &source->chunk, 1);
		if (length > 0 || length == -1)
			return length;
		if (length == -2)
			RaiseLinkError(source, nullptr, nullptr);
		WaitForSocket(source, WL_SOCKET_READABLE);
		if (PQconsumeInput(source->conn) == 0)
			RaiseLinkError(source, nullptr, nullptr);
	}
}

/* The closing answer of a COPY, and that nothing follows. */
void ExpectDone(Link *link)
{
	while (NextResult(link) != nullptr)
		if (PQresultStatus(link->result) != PGRES_COMMAND_OK)
			RaiseLinkError(link, link->result, nullptr);
	if (PQstatus(link->conn) != CONNECTION_OK)
		RaiseLinkError(link, nullptr, nullptr);
}

void EndCopyIn(Stream *stream, Link *target)
{
	Hand(target, stream->out.data, stream->out.len);
	if (PQputCopyEnd(target->conn, nullptr) < 0)
		RaiseCopyFailure(target);
	FlushAll(target);
	ExpectDone(target);
}

} // namespace

RowSum StreamRows(Link *source, const char *copy_out, Link *target, const char *copy_in,
	const CopyColumns &columns, StreamWatch watch)
{
	Stream stream = {};
	InitStream(&stream, columns);
	BeginCopy(source, copy_out, PGRES_COPY_OUT);
	if (target != nullptr)
		BeginCopy(target, copy_in, PGRES_COPY_IN);
	int unwatched = 0;
	for (int length = NextChunk(source); length >= 0; length = NextChunk(source)) {
		Count(&stream, source, source->chunk, length);
		if (target != nullptr)
			Forward(&stream, target, source->chunk, length);
		unwatched += length;
		if (unwatched >= kChunkBytes) {
			unwatched = 0;
			CHECK_FOR_INTERRUPTS();
			watch.look(watch.context, stream.sum);
		}
	}
	ExpectDone(source);
	if (!stream.reader.ended)
		ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
						   errmsg("the rows from server \"%s\" end too early", source->label)));
	if (target != nullptr)
		EndCopyIn(&stream, target);
	pfree(stream.out.data);
	pfree(stream.frames);
	pfree(stream.fields);
	return stream.sum;
}

RowSum ReadRows(Link *source, const char *copy_out, const CopyColumns &columns, StreamWatch watch)
{
	return StreamRows(source, copy_out, nullptr, nullptr, columns, watch);
}

} // namespace shardkit
