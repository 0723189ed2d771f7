// Lists of samples: a dataset's lists/ (all, train, eval), and lists that others made.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::dataset {

/// A sample as the lists name it.
struct ListedSample {
  std::string path;   // relative to the dataset
  std::string split;  // "train" or "eval"
  size_t graphs = 0;
  std::vector<std::string> ops;  // op_sequence of its first graph
};

/// Writes DIRECTORY/{all,train,eval}.txt, whose lines are paths relative to DIRECTORY, and .csv with the
/// columns sample (relative to `dataset`), split, graphs, ops. Errors: Io.
Result<void> write_lists(const std::filesystem::path& directory, const std::filesystem::path& dataset,
                         const std::vector<ListedSample>& samples);

/// Returns: whether write_lists may write here: any lists of these names in `directory` were written by it.
bool may_write_lists(const std::filesystem::path& directory);

/// A list, read against a dataset.
struct PathList {
  std::vector<std::string> paths;    // that exist, relative to the dataset
  std::vector<std::string> missing;  // lines that name nothing there, as they stand
};

/// Reads a text list. All its lines are paths relative to one directory, which is searched for: the list's own
/// directory, the dataset, or a directory above the dataset, which need not exist here, as in upstream's lists
/// ("graphs/hf_subgraphs/fusible_subgraphs/7/samples/timm/…").
/// Errors: Io; BadInput: a NUL byte.
Result<PathList> read_list(const std::filesystem::path& list, const std::filesystem::path& dataset);

/// Returns: `text` as a cell of a CSV file, in quotes where RFC 4180 demands them.
std::string csv_cell(const std::string& text);

}  // namespace passnet::dataset
