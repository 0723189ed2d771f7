// Graphs that are too large for one pass, as samples of their parts: equal parts are one sample.
#pragma once

#include <filesystem>
#include <vector>

#include "author/write.h"
#include "base/result.h"
#include "graphdir/sample.h"
#include "shared_inference.h"

namespace passnet::cli {

/// Graphs with more operators are cut into parts.
inline constexpr size_t kMostOperators = 64;
bool is_large(const author::Example& example);

/// A part of one or more graphs.
struct Part {
  graphdir::Sample sample;  // named after what it computes; a graph per set of input shapes, at most four
  size_t places = 0;        // in all graphs
  int64_t bytes = 0;        // read and written by PyTorch's operators in all places
  size_t conversions =
      0;  // first operators of its graphs, which bring inputs into their layout; passes leave them alone
};

struct Parts {
  std::vector<Part> parts;               // those that take the most bytes first
  std::vector<author::NotWritten> left;  // operators of no part
};

/// Cuts the graphs of a sample where operators are left to PyTorch, products and convolutions among them, and writes the parts
/// as samples to `directory`. examples: of the sample's graphs, in their order.
/// Errors: Io; of the worker that measures the inputs of parts.
Result<Parts> write_parts(const graphdir::Sample& sample, const std::vector<author::Example>& examples,
                          SharedInference& inference, const std::filesystem::path& directory);

}  // namespace passnet::cli
