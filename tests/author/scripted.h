// Records as an evaluation gives them, of what is told to be right and so many times as fast.
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "pass/source.h"
#include "record/record.h"

namespace passnet::author {

using Names = std::vector<std::string>;

/// The passes that stand in the list there.
inline Names listed(const std::filesystem::path& pass_dir) {
  return nlohmann::json::parse(*read_file(pass_dir / pass::kListFile, FileKind::Lines)).get<Names>();
}

/// Tells whether the text stands in each listed pass.
inline bool stands_in_all(const std::string& text, const std::filesystem::path& pass_dir) {
  const Names names = listed(pass_dir);
  return std::ranges::all_of(names, [&](const std::string& name) {
    return read_file(pass_dir / (name + ".py"), FileKind::Lines)->find(text) != std::string::npos;
  });
}

/// A graph that a pass applied to, right and so many times as fast.
inline record::RunRecord timed(const std::string& graph, double speedup, int passes_from = -10) {
  record::RunRecord one;
  one.sample = "toy";
  one.graph = graph;
  one.stage = record::Stage::Done;
  one.passes = {{"any", 1, 0, ""}};
  one.outputs_counted = true;
  one.expected_outputs = one.found_outputs = 1;
  one.outputs = {record::OutputCheck{"float32", "float32", {2, 3}, {2, 3}, true, passes_from}};
  one.reference.trials_us.assign(40, 20);
  one.candidate.trials_us.assign(40, 20 / speedup);
  return one;
}

/// A graph that every plan declines.
inline record::RunRecord left_alone(const std::string& graph) {
  record::RunRecord one = timed(graph, 1);
  one.passes = {{"any", 0, 1, ""}};
  one.outputs.clear();
  return one;
}

/// What an evaluation of these graphs with these passes gives: of the records those of the graphs, with all of the passes for
/// the one that they have.
inline std::vector<record::RunRecord> evaluated(std::vector<record::RunRecord> records, const Names& graphs,
                                                const Names& passes) {
  std::erase_if(records,
                [&](const record::RunRecord& one) { return std::ranges::find(graphs, one.graph) == graphs.end(); });
  for (record::RunRecord& one : records) {
    const record::PassOutcome any = one.passes.front();
    one.passes.clear();
    for (const std::string& pass : passes) {
      one.passes.push_back(any);
      one.passes.back().pass = pass;
    }
  }
  return records;
}

inline record::RunRecord wrong(const std::string& graph) {
  record::RunRecord one = timed(graph, 2);
  one.outputs[0].equal = false;
  one.outputs[0].passes_from = 6;
  return one;
}

}  // namespace passnet::author
