#include "core/place/valkey_slot.hpp"

#include <array>

namespace shardkit
{

namespace
{

constexpr std::array<std::uint16_t, 256> MakeTable() noexcept
{
	std::array<std::uint16_t, 256> table = {};
	for (std::uint32_t byte = 0; byte < 256; ++byte) {
		std::uint32_t crc = byte << 8;
		for (int bit = 0; bit < 8; ++bit)
			crc = crc << 1 ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
		table[byte] = static_cast<std::uint16_t>(crc);
	}
	return table;
}

constexpr std::array<std::uint16_t, 256> kTable = MakeTable();

} // namespace

std::uint16_t Crc16(std::string_view bytes) noexcept
{
	std::uint32_t crc = 0;
	for (const char byte : bytes)
		crc = (crc << 8 & 0xffffU) ^ kTable[(crc >> 8 ^ static_cast<unsigned char>(byte)) & 0xffU];
	return static_cast<std::uint16_t>(crc);
}

std::int32_t ValkeySlot(std::string_view key) noexcept
{
	constexpr std::int32_t kSlots = 16384;
	const std::size_t open = key.find('{');
	if (open != std::string_view::npos) {
		const std::size_t close = key.find('}', open + 1);
		if (close != std::string_view::npos && close > open + 1)
			key = {key.data() + open + 1, close - open - 1};
	}
	return Crc16(key) % kSlots;
}

} // namespace shardkit
