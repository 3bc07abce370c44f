#include "pg/pg.hpp"

extern "C" {
#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "shardkit", .version = "1.0");
#else
PG_MODULE_MAGIC;
#endif
}
