#include "pg/place/digest.hpp"

#include <blake2.h>
#include <xxhash.h>

#include "core/place/fnv1a.hpp"
#include "core/place/murmur3.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "common/cryptohash.h"
#include "common/md5.h"
#include "common/sha1.h"
#include "common/sha2.h"
#include "utils/resowner.h"
}

namespace shardkit
{

namespace
{

/* A digest's context is made once a backend and used again: OpenSSL looks a digest up slowly. */
pg_cryptohash_ctx *contexts[3];
ResourceOwner digest_owner;

constexpr pg_cryptohash_type kTypes[] = {PG_MD5, PG_SHA1, PG_SHA256};
constexpr int kLengths[] = {MD5_DIGEST_LENGTH, SHA1_DIGEST_LENGTH, PG_SHA256_DIGEST_LENGTH};

/*
 * The server remembers a context in the current resource owner and frees it at the end of the
 * transaction. An owner of our own, which nobody releases, lets it live as long as the backend.
 */
pg_cryptohash_ctx *ContextOf(int which)
{
	if (contexts[which] != nullptr)
		return contexts[which];
	if (digest_owner == nullptr)
		digest_owner = ResourceOwnerCreate(nullptr, "shardkit digests");
	ResourceOwner before = CurrentResourceOwner;
	CurrentResourceOwner = digest_owner; /* after an error the abort sets it anew */
	/* A server without OpenSSL allocates a context where we happen to stand. */
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
	contexts[which] = pg_cryptohash_create(kTypes[which]);
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = before;
	if (contexts[which] == nullptr)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	return contexts[which];
}

std::uint64_t BigEndian(const uint8 *bytes)
{
	std::uint64_t value = 0;
	for (int i = 0; i < 8; ++i)
		value = value << 8 | bytes[i];
	return value;
}

std::uint64_t ServerDigest(int which, std::string_view bytes)
{
	uint8 digest[PG_SHA256_DIGEST_LENGTH];
	pg_cryptohash_ctx *context = ContextOf(which);
	const auto *data = reinterpret_cast<const uint8 *>(bytes.data());
	if (pg_cryptohash_init(context) < 0 || pg_cryptohash_update(context, data, bytes.size()) < 0 ||
		pg_cryptohash_final(context, digest, static_cast<size_t>(kLengths[which])) < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						   errmsg("could not compute a digest: %s", pg_cryptohash_error(context))));
	return BigEndian(digest);
}

std::uint64_t Blake2b64(std::string_view bytes)
{
	uint8 digest[8];
	if (blake2b(digest, bytes.data(), nullptr, sizeof(digest), bytes.size(), 0) < 0)
		ereport(
			ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute a BLAKE2b digest")));
	return BigEndian(digest);
}

} // namespace

std::uint64_t Hash64(Algorithm algorithm, std::string_view bytes)
{
	switch (algorithm) {
	case Algorithm::kMd5:
	case Algorithm::kSha1:
	case Algorithm::kSha256:
		return ServerDigest(static_cast<int>(algorithm), bytes);
	case Algorithm::kBlake2b:
		return Blake2b64(bytes);
	case Algorithm::kXxh64:
		return XXH64(bytes.data(), bytes.size(), 0);
	case Algorithm::kXxh3:
		return XXH3_64bits(bytes.data(), bytes.size());
	case Algorithm::kMurmur3:
		return Murmur3(bytes);
	case Algorithm::kFnv1a:
		break;
	}
	return Fnv1a(bytes);
}

Algorithm AlgorithmNamed(std::string_view name)
{
	const auto algorithm = FindAlgorithm(name);
	if (!algorithm)
		ereport(
			ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					   errmsg("unknown hash algorithm \"%.*s\"", static_cast<int>(name.size()),
						   name.data()),
					   errhint("Use md5, sha1, sha256, blake2b, xxh64, xxh3, murmur3 or fnv1a.")));
	return *algorithm;
}

void WarnOfTokenHash(Algorithm algorithm)
{
	if (algorithm == Algorithm::kFnv1a)
		ereport(WARNING,
			(errcode(ERRCODE_WARNING), errmsg("fnv1a makes a lopsided ring"),
				errdetail("Its last bytes hardly change the upper bits, so the tokens of names that"
						  " differ only at the end lie close together."),
				errhint("Use sha256, or another algorithm that mixes all bits.")));
}

} // namespace shardkit
