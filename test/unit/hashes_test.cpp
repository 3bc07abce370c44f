#include "core/place/fnv1a.hpp"
#include "core/place/murmur3.hpp"
#include "core/place/valkey_slot.hpp"

#include "check.hpp"

using namespace shardkit;

int main()
{
	check::Ok(Crc16("123456789") == 0x31c3, "CRC16/XMODEM: its check value");
	check::Ok(ValkeySlot("{user1000}.following") == ValkeySlot("user1000"), "a hash tag decides");
	check::Ok(ValkeySlot("foo{}{bar}") == Crc16("foo{}{bar}") % 16384, "an empty tag is none");
	check::Ok(
		ValkeySlot("foo{{bar}}zap") == Crc16("{bar") % 16384, "the first brace after the first");
	check::Ok(ValkeySlot("") == 0 && ValkeySlot("{") == Crc16("{") % 16384, "no tag, no key");
	check::Ok(Fnv1a("") == 0xcbf29ce484222325U && Fnv1a("a") == 0xaf63dc4c8601ec8cU &&
				  Fnv1a("foobar") == 0x85944171f73967e8U,
		"FNV-1a: published values");
	check::Ok(
		Murmur3("") == 0 && Murmur3("foo") == 0xe271865701f54561U, "MurmurHash3: known values");
	return check::Done();
}
