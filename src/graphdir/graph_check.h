// What `passnet graph check` does: reads all files of a graph directory, prints back what it read, and
// compares.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/graph_hash.h"

namespace passnet::graphdir {

/// One graph directory, checked. Later stages are left out when an earlier one failed.
struct GraphCheck {
  std::string path;                   // as given
  bool parsed = false;                // model.py is a legal graph
  bool roundtrip = false;             // graph, records and constraints, printed, read back equal
  size_t nodes = 0;                   // placeholders and output included
  size_t size_bytes = 0;              // of model.py
  size_t total_bytes = 0;             // of all files that were read
  bool has_hash = false;              // graph_hash.txt is there
  std::optional<HashRule> hash_rule;  // that gives the stored hash
  std::vector<std::string> missing;   // files without which the graph cannot be run: "weight_meta.py"
  std::optional<Error> error;         // the first thing that is wrong
};

/// Checks, in this order: model.py can be read, is a legal graph, and reads back equal once printed; the same for
/// weight_meta.py and input_meta.py, then for input_tensor_constraints.py; every argument has its record, and each
/// shape of the constraints is the recorded one; graph_net.json is an object, and of framework "torch" if it names one;
/// graph_hash.txt is 64 hex digits. A file that is absent is not checked.
/// path:     a graph directory, its model.py, or any other file, which is then checked alone as a model.py.
/// Returns:  the findings; what is wrong with the graph stands in `error`, so the call itself never fails. A stored
///           hash that no rule gives is counted and is no error.
/// Source:   docs/graphs.md, "What `passnet graph check` verifies".
GraphCheck check_graph(const std::filesystem::path& path);

/// What check_graph demands of graph_net.json. Errors: BadInput.
Result<void> check_description_text(const std::string& file, std::string_view text);

/// Counts over many checks; of those that failed path and message are kept.
struct CheckSummary {
  size_t graphs = 0, parsed = 0, roundtrip = 0;
  size_t hash_equal = 0, hash_different = 0, hash_absent = 0;
  std::map<HashRule, size_t> hash_rules;
  size_t without_records = 0;
  size_t total_bytes = 0;
  struct Failure {
    std::string path, error;
  };
  std::vector<Failure> failed;

  void add(const GraphCheck& check);
};

/// {"graphs", "parsed", "roundtrip", "hash_equal", "hash_different", "hash_absent", "hash_rules": {rule: n},
/// "without_records", "failed": [{"path", "error"}, …]}
Json to_json(const CheckSummary& summary);

}  // namespace passnet::graphdir
