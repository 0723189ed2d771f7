// Sampling groups: one operator sequence at several shapes and element types.
// Source: docs/dataset-format.md, "Groups" and "Differences from PassBench".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graphdir/graph_tree.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

/// What decides which groups a graph is in.
struct GroupMember {
  std::string path;    // stands for upstream's uid and its time of creation
  std::string type;    // kind of subgraph
  std::string ops;     // op_sequence, a JSON list
  std::string shapes;  // shape_bucket
  std::string dtypes;  // dtype_bucket
};

/// Returns: for each argument in order, weights too, the bucket of each of its sizes, as a JSON list: "[[0, 1], []]". A
///          size d > 0 is in bucket floor(log2(d)) / 4 rounded down: 1 to 15 in 0, 16 to 255 in 1, …; 0 is in -1.
std::string shape_bucket(const graphdir::GraphDir& graph);
/// Returns: the element types of all arguments in order, as a JSON list: ["float32", "int64"].
std::string dtype_bucket(const graphdir::GraphDir& graph);

enum class GroupPolicy : uint8_t {
  V1,  // rule 1: each 16th graph of a bucket alone; rule 2: the first graphs of all buckets of a sequence
  V2,  // of the rest, rule 4: each element type in each bucket; rule 3: 3 of each 15
};

/// "bucket_policy_v1", "bucket_policy_v2": as upstream's tables name them.
std::string_view name(GroupPolicy policy);

struct SamplingGroup {
  std::string id;  // 32 hex digits: of type, rule and members
  std::string type;
  int rule = 0;  // 1 to 4
  std::string ops;
  std::vector<std::string> members;  // paths
  GroupPolicy policy() const { return rule <= 2 ? GroupPolicy::V1 : GroupPolicy::V2; }
};

/// Returns: the groups of both policies, ordered by type, operator sequence and rule (1, 2, 4, 3: the order in which
///          the rules draw). No graph is in two groups. Members with equal type, ops and shapes form one bucket, in the
///          order of their paths.
std::vector<SamplingGroup> sampling_groups(std::vector<GroupMember> members);

struct GroupReport {
  size_t graphs = 0;  // that can be members: no whole graphs
  size_t whole_graphs = 0;
  size_t buckets = 0, sequences = 0;
  size_t groups[5] = {};            // by rule
  size_t members = 0;               // in all groups
  std::vector<std::string> failed;  // "PATH: why": graphs that cannot be read
};

/// Groups the subgraphs at or below `root` and writes a line per group to `file`: as CSV (id, type, rule, policy,
/// members separated by semicolons) when its name ends in .csv, else as JSON.
/// counted:  called after each graph, with its path.
/// Errors:   BadInput: no subgraph; Io; Resource: interrupted.
Result<GroupReport> write_groups(const std::filesystem::path& root, const std::filesystem::path& file,
                                 const graphdir::TreeOptions& tree,
                                 const std::function<void(const std::string& path)>& counted);

}  // namespace passnet::dataset
