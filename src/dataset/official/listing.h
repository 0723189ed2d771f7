// The official benchmark's lists: which graphs each task has, and what the path of a graph says of it.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/range.h"
#include "base/result.h"
#include "ir/dtype.h"

namespace passnet::dataset::official {

/// Variants of shapes are 0 to 8; this one stands for the shapes as captured.
inline constexpr int kCapturedVariant = 9;

/// A line of a graph_list.txt:
/// "graphs/…/fusible_subgraphs/DTYPE/VARIANT/samples/SOURCE/MODEL/_decomposed/NAME_startS_endE_N".
struct ListedGraph {
  std::string path;   // the line
  std::string model;  // "samples/SOURCE/MODEL"; MODEL may hold a '/'
  ir::DType dtype = ir::DType::Float32;
  int variant = kCapturedVariant;
  analysis::Range range;  // may reach beyond the end of the model
};

/// Errors: BadInput that says which part of the path is not of that form.
Result<ListedGraph> parse_listed(std::string_view line);

/// A task: a directory with its graph_list.txt.
struct Task {
  std::string id;                   // its path below "fusible_subgraphs", else below the directory given; of a list
                                    // with another name than graph_list.txt, that name
  std::filesystem::path list;       // its file
  std::vector<ListedGraph> graphs;  // in the order of the list
};

/// lists:    directories with graph_list.txt files at or below them, or files of that form under any name.
/// Returns:  the tasks, sorted by id.
/// Errors:   BadInput with its place: a line of another form, no list, two tasks with one id; Io.
Result<std::vector<Task>> load_tasks(const std::vector<std::string>& lists);

}  // namespace passnet::dataset::official
