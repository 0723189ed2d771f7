// Passes of two forms in one list, where neither is the faster one on all graphs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "author/forms/forms.h"

namespace passnet::author {

struct Mixed {
  Authored authored;
  std::vector<std::map<std::string, std::string>> declined;  // by pass: graphs that it leaves to others, and why
  bool is_first_alone = true;                                // all that was evaluated, and nothing is left to others
};
/// Passes that were evaluated as they are, which decline the graphs that `best` is faster on, and those that stayed of it behind them. A pass that
/// is wrong somewhere is left out. behind: the passes of `best`, under names that none of `first` has. nullopt: the faster of both
/// on each graph that was evaluated would not be worth more than the best, but for noise.
std::optional<Mixed> mix(const Authored& first, const Records& records, const JudgedForm& best, const Authored& behind);

}  // namespace passnet::author
