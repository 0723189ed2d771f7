// How literally a pattern is compared with a graph.
#pragma once

namespace passnet::rewrite {

struct MatchOptions {
  bool strict = false;  // upstream's literal behaviour: spellings, operand order and argument forms must be the same
  bool generalize =
      false;  // a number of the pattern that is a size stands for any size (generalize.h); not with strict
};

}  // namespace passnet::rewrite
