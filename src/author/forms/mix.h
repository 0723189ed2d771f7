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
  bool is_first_alone = true;                                // all that was evaluated, on all graphs
};
/// Passes that were evaluated together, and behind them those that stayed of `best`. Each graph is taken by those that are worth
/// more on it, by its own score, and declined by the others, so that what was evaluated stands for both together. A pass that is
/// wrong somewhere is left out. first: under names that none of `best` has. nullopt: that would not be worth more than the best,
/// but for noise.
std::optional<Mixed> mix(const Authored& first, const Records& records, const JudgedForm& best);

}  // namespace passnet::author
