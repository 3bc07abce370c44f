# How core and the layer below SQL are compiled. Every object depends on this file.
BOUNDARY_FLAGS = -fno-exceptions -fno-rtti -fno-threadsafe-statics
CORE_FLAGS = -std=c++20 -Wall -Wextra -Wpedantic -ffp-contract=off
