// Finds the operators of a graph that passes can take.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "author/define/ways.h"
#include "author/subject/subject.h"

namespace passnet::author {

struct TakeOptions {
  bool products = true;           // products and convolutions as loops, where these are short
  InTiles tiles = InTiles::None;  // and where they are long
  Library library = Library::None;
  /// The operators that may be taken, first and one past the last, counted from 0 in the order of the graph; none: all.
  std::optional<std::pair<size_t, size_t>> range = {};
};

/// The operators of a graph that passes can take.
struct Taken {
  std::vector<std::string> refused;  // by node id: why it is not written; empty where it is
  std::map<ir::NodeId, std::string>
      calls;                      // of what is written: what PyTorch is called for, and why no kernel computes it
  InTiles tiles = InTiles::None;  // kernels compute long products
  bool all_are_calls = false;     // no kernel computes a product
  Library library = Library::None;
  std::set<ir::NodeId> by_layout = {};  // of what is refused: what may be written for some of the graphs on their own

  void refuse(ir::NodeId id, const std::string& why) {
    refused[id] = why;
    calls.erase(id);
  }
  /// For how it lies in memory.
  void refuse_layout(ir::NodeId id, const std::string& why) {
    refuse(id, why);
    by_layout.insert(id);
  }
  /// REQUIRES: PyTorch is called for it.
  void refuse_call(ir::NodeId call) { refuse(call, std::string(calls.at(call))); }
};
/// Tries to define every operator. The graph's pool of arguments may grow.
Taken take(Subject& subject, const TakeOptions& options);

}  // namespace passnet::author
