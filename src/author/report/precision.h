// How near the results of passes come to the graph at float64, beside how near PyTorch comes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "author/judge/judge.h"
#include "base/json/json.h"

namespace passnet::author {

/// Errors are norms of the differences, of that of the values (record::Errors::norm), each in the profile of values that
/// strains the output most.
struct Precision {
  size_t graphs = 0;               // that have an output of a floating type, held against float64
  double error = 0, of_eager = 0;  // the largest of an output: with passes, and of PyTorch
  size_t larger = 0;               // graphs in which an output's error is larger than PyTorch's own
  /// By how much at most: 1.02 is 2 % more; 1: it is larger in none. Infinite where PyTorch makes none.
  double factor = 1;
};

/// Returns the errors in the graphs that this pass applies to; empty: any. An error is the graph's: where several
/// passes apply, of all of them.
/// Returns: nullopt where no graph was held against float64.
std::optional<Precision> precision_of(const Records& records, const std::string& pass = {});

/// docs/schemas/author.json describes it.
Json to_json(const Precision& precision);

}  // namespace passnet::author
