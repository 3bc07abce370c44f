#include "pg/quote.hpp"

#include "pg/pg.hpp"

extern "C" {
#include "common/keywords.h"
}

namespace shardkit
{

namespace
{

/*
 * As in quote_identifier, which cannot be asked: under quote_all_identifiers it quotes every name,
 * and what is kept in the catalog or compared must not depend on who is connected.
 */
bool IsPlain(const char *name)
{
	const auto is_letter = [](char c) {
		return (c >= 'a' && c <= 'z') || c == '_';
	};
	if (!is_letter(name[0]))
		return false;
	for (const char *c = name; *c != '\0'; ++c)
		if (!is_letter(*c) && !(*c >= '0' && *c <= '9'))
			return false;
	const int keyword = ScanKeywordLookup(name, &ScanKeywords);
	return keyword < 0 || ScanKeywordCategories[keyword] == UNRESERVED_KEYWORD;
}

} // namespace

const char *QuoteName(const char *name)
{
	return IsPlain(name) ? name : quote_identifier(name);
}

char *QuoteName(const char *schema, const char *name)
{
	return psprintf("%s.%s", QuoteName(schema), QuoteName(name));
}

} // namespace shardkit
