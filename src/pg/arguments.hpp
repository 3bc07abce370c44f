/* Arguments of commands, which raise an error on NULL instead of doing nothing. */
#ifndef SHARDKIT_PG_ARGUMENTS_HPP
#define SHARDKIT_PG_ARGUMENTS_HPP

#include <span>

#include "pg/pg.hpp"

namespace shardkit
{

/* name is the argument's name in the message. */
void CheckNotNull(FunctionCallInfo fcinfo, int argument, const char *name);

char *TextArgument(FunctionCallInfo fcinfo, int argument, const char *name);
int32 IntArgument(FunctionCallInfo fcinfo, int argument, const char *name);
int64 BigintArgument(FunctionCallInfo fcinfo, int argument, const char *name);
double FloatArgument(FunctionCallInfo fcinfo, int argument, const char *name);

/* Of one dimension, without NULLs; may be empty. */
std::span<char *> TextArrayArgument(FunctionCallInfo fcinfo, int argument, const char *name);
std::span<int32> IntArrayArgument(FunctionCallInfo fcinfo, int argument, const char *name);

} // namespace shardkit

#endif
