/* The hash algorithms that have a name: of keys, and of a ring's tokens. */
#ifndef SHARDKIT_CORE_ALGORITHM_HPP
#define SHARDKIT_CORE_ALGORITHM_HPP

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shardkit
{

enum class Algorithm : std::uint8_t {
	kMd5,
	kSha1,
	kSha256,
	kBlake2b,
	kXxh64,
	kXxh3,
	kMurmur3,
	kFnv1a
};

inline constexpr std::array<std::string_view, 8> kAlgorithmNames = {
	"md5", "sha1", "sha256", "blake2b", "xxh64", "xxh3", "murmur3", "fnv1a"};

constexpr std::string_view AlgorithmName(Algorithm algorithm) noexcept
{
	return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

constexpr std::optional<Algorithm> FindAlgorithm(std::string_view name) noexcept
{
	for (std::size_t i = 0; i < kAlgorithmNames.size(); ++i)
		if (kAlgorithmNames[i] == name)
			return static_cast<Algorithm>(i);
	return std::nullopt;
}

} // namespace shardkit

#endif
