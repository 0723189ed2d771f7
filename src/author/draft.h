// From a graph to a pass: pattern, arguments, plan and kernels, right but slow, to make faster from there.
//
// What the text promises: it matches the graphs that it was written for, computes what PyTorch computes (every operator
// rounded to its dtype), and declines sites of other dtypes, ranks or layouts than it has seen.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "author/subject/subject.h"
#include "base/result.h"

namespace passnet::author {

/// A node and why no kernel was written for it.
struct LeftOut {
  std::string statement;  // "tmp_3 = torch.conv3d(…)"
  std::string why;        // "no kernel can be written for 'conv3d'"; "not connected to the part that was taken"
};

struct Draft {
  std::string python, cpp, cuda;  // Name.py, Name.cpp, Name.cu
  size_t taken = 0;               // operators in the pattern
  size_t of = 0;                  // operators in the graph
  std::vector<LeftOut> left_out;
  bool is_written = true;  // false: the kernel's body is left to the author, and does not compile until it is written
};

/// name: of the pass. range: the operators to take, first and one past the last, counted from 0 in graph order; none:
/// the largest part for which kernels can be written. Where no part can, or the range holds an operator that cannot,
/// the plan and the kernel's signature are written and the kernel's body is left open. The graph's pool of arguments
/// may grow.
/// Errors: BadInput: a range that holds nothing or goes past the end, a graph without operators, a value that is no
/// tensor would go into or out of the part.
Result<Draft> draft_pass(Subject& subject, const std::string& name,
                         std::optional<std::pair<size_t, size_t>> range = {});

}  // namespace passnet::author
