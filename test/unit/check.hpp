/* What a unit test needs: it counts, prints TAP, and answers main's exit code. */
#ifndef SHARDKIT_TEST_UNIT_CHECK_HPP
#define SHARDKIT_TEST_UNIT_CHECK_HPP

#include <cstdio>

namespace check
{

inline int tests = 0;
inline int failures = 0;

inline void Ok(bool passed, const char *name)
{
	std::printf("%sok %d - %s\n", passed ? "" : "not ", ++tests, name);
	failures += passed ? 0 : 1;
}

/* The plan comes last: a program that dies on the way has none, and its run fails. */
inline int Done()
{
	std::printf("1..%d\n", tests);
	return failures == 0 ? 0 : 1;
}

} // namespace check

#endif
