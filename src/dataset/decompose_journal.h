// OUT/decompose.jsonl: what is known of whole graphs that are decomposed already. docs/dataset-format.md has the
// keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/range.h"
#include "base/json/json.h"
#include "dataset/decompose.h"
#include "graphdir/kind.h"

namespace passnet::dataset {

/// A range that is a graph of its own.
struct FoundRange {
  graphdir::Kind kind = graphdir::Kind::SoleOp;
  analysis::Range range;
  size_t number = 0;     // among the ranges of its kind
  std::string identity;  // identity_hash of its graph
  bool written = false;  // the first of its equals: it has a directory
};

struct JournalLine {
  WholeReport report;
  std::string rules;  // hash of the graph's text and of what decides on its ranges
  std::string shape;  // at which the graph was captured
  std::vector<FoundRange> found;
};

Json to_json(const JournalLine& line);

/// The last line of each graph, by its name. Lines of another form are skipped: their graphs are decomposed
/// again.
std::map<std::string, JournalLine> read_decompose_journal(std::string_view text);

}  // namespace passnet::dataset
