/* The slot of a key in a Valkey or Redis cluster. */
#ifndef SHARDKIT_CORE_VALKEY_SLOT_HPP
#define SHARDKIT_CORE_VALKEY_SLOT_HPP

#include <cstdint>
#include <string_view>

namespace shardkit
{

/* CRC16/XMODEM: polynomial 0x1021, initial value 0, not reflected. */
std::uint16_t Crc16(std::string_view bytes) noexcept;

/*
 * CRC16 of the key, or of its hash tag, mod 16384. The hash tag lies between the first "{" and the
 * first "}" after it, if at least one byte does.
 */
std::int32_t ValkeySlot(std::string_view key) noexcept;

} // namespace shardkit

#endif
