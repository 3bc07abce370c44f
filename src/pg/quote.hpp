/* Names as SQL text, the same whatever the session's quote_all_identifiers. */
#ifndef SHARDKIT_PG_QUOTE_HPP
#define SHARDKIT_PG_QUOTE_HPP

#include "pg/pg.hpp"

namespace shardkit
{

/* Quoted where SQL needs it, and only there; may be the argument itself. */
const char *QuoteName(const char *name);

char *QuoteName(const char *schema, const char *name);

} // namespace shardkit

#endif
