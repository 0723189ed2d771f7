// A random graph of every kind of node and argument, from a seed; small, and different for every seed.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace passnet::fx {

ir::Graph random_graph(uint64_t seed, size_t nodes);

}  // namespace passnet::fx
