/*
 * A row's form on its way into the hash: gathered in a buffer and hashed in one call, or, where the
 * row is longer than that, piece by piece.
 */
#ifndef SHARDKIT_PG_ROW_FORM_HPP
#define SHARDKIT_PG_ROW_FORM_HPP

#include <xxhash.h>

#include "core/move/fingerprint.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "port/pg_bswap.h"
}

namespace shardkit
{

constexpr std::size_t kBufferBytes = 16 * 1024;

struct RowForm {
	bool streaming;
	std::size_t used;
	XXH3_state_t *stream;
	unsigned char buffer[kBufferBytes];
};

inline void Begin(RowForm &form)
{
	form.used = 0;
	form.streaming = false;
}

/* Hands what is in the buffer, and then these bytes, to the stream. */
inline void Spill(RowForm &form, const void *data, std::size_t bytes)
{
	if (!form.streaming) {
		/* One for the life of the backend: libxxhash wants to allocate it itself. */
		static XXH3_state_t *state = nullptr;
		if (state == nullptr)
			state = XXH3_createState();
		if (state == nullptr)
			ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
		form.stream = state;
		XXH3_128bits_reset(state);
		form.streaming = true;
	}
	XXH3_128bits_update(form.stream, form.buffer, form.used);
	XXH3_128bits_update(form.stream, data, bytes);
	form.used = 0;
}

inline void Put(RowForm &form, const void *data, std::size_t bytes)
{
	if (bytes > kBufferBytes - form.used) {
		Spill(form, data, bytes);
		return;
	}
	memcpy(form.buffer + form.used, data, bytes);
	form.used += bytes;
}

inline void PutFrame(RowForm &form, uint32 length)
{
	unsigned char frame[kFrameBytes];
	WriteFrame(frame, length);
	Put(form, frame, kFrameBytes);
}

inline void PutValue(RowForm &form, const void *data, std::size_t bytes)
{
	PutFrame(form, static_cast<uint32>(bytes));
	Put(form, data, bytes);
}

inline void PutInt64(RowForm &form, uint64 value)
{
	const uint64 big_endian = pg_hton64(value);
	PutValue(form, &big_endian, sizeof big_endian);
}

inline void PutInt32(RowForm &form, uint32 value)
{
	const uint32 big_endian = pg_hton32(value);
	PutValue(form, &big_endian, sizeof big_endian);
}

inline void PutInt16(RowForm &form, uint16 value)
{
	const uint16 big_endian = pg_hton16(value);
	PutValue(form, &big_endian, sizeof big_endian);
}

inline Fingerprint Finish(RowForm &form)
{
	XXH128_hash_t hash;
	if (form.streaming) {
		XXH3_128bits_update(form.stream, form.buffer, form.used);
		hash = XXH3_128bits_digest(form.stream);
	} else {
		hash = XXH3_128bits(form.buffer, form.used);
	}
	return {.low = hash.low64, .high = hash.high64};
}

} // namespace shardkit

#endif
