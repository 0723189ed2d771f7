#include "dataset/catalog/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/file/file.h"
#include "base/hash.h"
#include "base/text/strings.h"
#include "dataset/catalog/family.h"
#include "dataset/catalog/sample_list.h"
#include "graphdir/graph_facts.h"

namespace passnet::dataset {

namespace {

constexpr size_t kStride = 16;           // rule 1: each so manieth of a bucket
constexpr size_t kDtypes = 3;            // rule 4: element types per bucket
constexpr size_t kWindow = 5 * kDtypes;  // rule 3: of so many,
constexpr size_t kPerWindow = 3;         // so many
constexpr size_t kBitsPerBucket = 4;

int64_t size_bucket(int64_t size) {
  return size <= 0 ? -1 : (std::bit_width(static_cast<uint64_t>(size)) - 1) / static_cast<int64_t>(kBitsPerBucket);
}

// Both lists are in the order of placeholders; weight_meta.py has all of them as a rule.
template <class Visit>
void for_each_record(const graphdir::GraphDir& graph, Visit&& visit) {
  for (const graphdir::TensorMeta& meta : graph.weights) visit(meta);
  for (const graphdir::TensorMeta& meta : graph.inputs) visit(meta);
}

using Members = std::vector<const GroupMember*>;

/// What was drawn so far.
struct Drawing {
  std::vector<SamplingGroup> groups;
  std::set<const GroupMember*> members;
};

void add_group(Drawing& drawing, int rule, const Members& members) {
  if (members.empty()) return;
  SamplingGroup group;
  group.type = members.front()->type;
  group.ops = members.front()->ops;
  group.rule = rule;
  std::string text = fmt::format("{} {}\n", group.type, rule);
  for (const GroupMember* member : members) {
    group.members.push_back(member->path);
    text += member->path + "\n";
    drawing.members.insert(member);
  }
  group.id = sha256_hex(text).substr(0, 32);
  drawing.groups.push_back(std::move(group));
}

// sequence: the graphs of one type and operator sequence, in the order of shapes, then paths.
void draw_v1(Drawing& drawing, const Members& sequence) {
  Members heads;
  for (size_t begin = 0, end = 0; begin < sequence.size(); begin = end) {
    while (end < sequence.size() && sequence[end]->shapes == sequence[begin]->shapes) ++end;
    heads.push_back(sequence[begin]);
    for (size_t i = begin + kStride; i < end; i += kStride) add_group(drawing, 1, {sequence[i]});
  }
  add_group(drawing, 2, heads);
}

// sequence: as above.
void draw_v2(Drawing& drawing, Members sequence) {
  const auto is_drawn = [&](const GroupMember* member) { return drawing.members.contains(member); };
  std::erase_if(sequence, is_drawn);
  const auto key = [](const GroupMember* member) { return std::tie(member->shapes, member->dtypes, member->path); };
  std::ranges::sort(sequence, {}, key);
  Members picks;
  std::map<std::string, std::set<std::string>> seen;  // by shapes: dtypes
  for (const GroupMember* member : sequence) {
    std::set<std::string>& dtypes = seen[member->shapes];
    if (dtypes.size() < kDtypes && dtypes.insert(member->dtypes).second) picks.push_back(member);
  }
  add_group(drawing, 4, picks);
  std::erase_if(sequence, is_drawn);
  std::ranges::sort(sequence, {}, [](const GroupMember* member) { return std::string_view(member->path); });
  Members sampled;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (i % kWindow < kPerWindow) sampled.push_back(sequence[i]);
  }
  add_group(drawing, 3, sampled);
}

/// A graph as it was read.
struct GraphRead {
  GroupMember member;
  std::optional<Error> error;
};

GraphRead read_member(const fs::path& root, const graphdir::GraphWalk::Found& found) {
  GraphRead row{{graphdir::path_below(root, found.path), {}, {}, {}, {}}, found.error};
  if (row.error) return row;
  const Result<graphdir::GraphDir> graph = graphdir::load_graph_dir(found.path);
  if (!graph) {
    row.error = graph.error();
    return row;
  }
  row.member.type = graphdir::kind_of(graphdir::read_facts(found.path), root, found.path);
  row.member.ops = dump(Json(op_sequence(graph->graph)));
  row.member.shapes = shape_bucket(*graph);
  row.member.dtypes = dtype_bucket(*graph);
  return row;
}

std::string group_text(const SamplingGroup& group, bool csv) {
  if (csv)
    return fmt::format("{},{},{},{},{}\n", group.id, group.type, group.rule, name(group.policy()),
                       csv_cell(join(group.members, ";")));
  return dump(Json{{"id", group.id},
                   {"type", group.type},
                   {"rule", group.rule},
                   {"policy", name(group.policy())},
                   {"ops", try_parse_json(group.ops)},
                   {"members", group.members}}) +
         "\n";
}

void count_buckets(const std::vector<GroupMember>& members, GroupReport& report) {
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> buckets;
  std::set<std::pair<std::string_view, std::string_view>> sequences;
  for (const GroupMember& member : members) {
    buckets.emplace(member.type, member.ops, member.shapes);
    sequences.emplace(member.type, member.ops);
  }
  report.graphs = members.size();
  report.buckets = buckets.size();
  report.sequences = sequences.size();
}

}  // namespace

std::string_view name(GroupPolicy policy) {
  return policy == GroupPolicy::V1 ? "bucket_policy_v1" : "bucket_policy_v2";
}

std::string shape_bucket(const graphdir::GraphDir& graph) {
  Json list = Json::array();
  for_each_record(graph, [&](const graphdir::TensorMeta& meta) {
    Json& sizes = list.emplace_back(Json::array());
    for (const int64_t size : meta.shape) sizes.push_back(size_bucket(size));
  });
  return dump(list);
}

std::string dtype_bucket(const graphdir::GraphDir& graph) {
  Json list = Json::array();
  for_each_record(graph, [&](const graphdir::TensorMeta& meta) { list.push_back(ir::name(meta.dtype)); });
  return dump(list);
}

std::vector<SamplingGroup> sampling_groups(std::vector<GroupMember> members) {
  std::ranges::sort(members, {}, [](const GroupMember& member) {
    return std::tie(member.type, member.ops, member.shapes, member.path);
  });
  Drawing drawing;
  for (size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    Members sequence;
    while (end < members.size() && members[end].type == members[begin].type && members[end].ops == members[begin].ops)
      sequence.push_back(&members[end++]);
    draw_v1(drawing, sequence);
    draw_v2(drawing, std::move(sequence));
  }
  return std::move(drawing.groups);
}

Result<GroupReport> write_groups(const fs::path& root, const fs::path& file, const graphdir::TreeOptions& tree,
                                 const std::function<void(const std::string&)>& counted) {
  GroupReport report;
  std::vector<GroupMember> members;
  PASSNET_TRY_VOID(graphdir::for_each_graph(
      root, tree, [&](const graphdir::GraphWalk::Found& found) { return read_member(root, found); },
      [&](GraphRead row) -> Result<void> {
        counted(row.member.path);
        if (row.error)
          report.failed.push_back(fmt::format("{}: {}", row.member.path, to_string(*row.error)));
        else if (row.member.type == "full")
          ++report.whole_graphs;
        else
          members.push_back(std::move(row.member));
        return {};
      }));
  if (members.empty())
    return bad_input(fmt::format("no subgraph at or below '{}' can be read", root.string()))
        .with_hint("whole graphs are in no group: passnet dataset decompose cuts them");
  count_buckets(members, report);
  const bool csv = file.extension() == ".csv";
  std::string text = csv ? "id,type,rule,policy,members\n" : "";
  for (const SamplingGroup& group : sampling_groups(std::move(members))) {
    ++report.groups[group.rule];
    report.members += group.members.size();
    text += group_text(group, csv);
  }
  PASSNET_TRY_VOID(write_file(file, text));
  return report;
}

}  // namespace passnet::dataset
