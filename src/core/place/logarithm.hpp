/* A natural logarithm of our own: the mathematics library's differs from platform to platform. */
#ifndef SHARDKIT_CORE_LOGARITHM_HPP
#define SHARDKIT_CORE_LOGARITHM_HPP

namespace shardkit
{

/*
 * ln(value) for a normal value > 0, within 2 units in the last place. Only IEEE additions,
 * multiplications and one division in a fixed order, so the same bits everywhere.
 */
double Logarithm(double value) noexcept;

} // namespace shardkit

#endif
