// The split of any tree of samples into training and evaluation, by family. Source: docs/dataset.md, "Split".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/graph_tree.h"

namespace passnet::dataset {

struct SplitOptions {
  double eval_share = 0.1;  // of the families, 0 to 1
  uint64_t seed = 1024;
  std::filesystem::path keep;  // a list of samples that are for evaluation whatever the seed says; empty: none
  graphdir::TreeOptions tree;
};

struct SplitReport {
  size_t samples = 0, evaluation = 0, graphs = 0;
  size_t families = 0, families_for_evaluation = 0;
  size_t families_kept = 0;            // for evaluation because of `keep` alone
  std::vector<std::string> not_found;  // lines of `keep` that name nothing in the dataset
  std::vector<std::string> failed;     // "PATH: why": samples that cannot be read; they are in no list
};

/// Splits the samples of `dataset` and writes the lists (write_lists) into the directory `lists`. A sample is a
/// directory with a graph_list.txt, or else a graph directory; its family is that of its first graph. A line of `keep`
/// names a sample, a graph in one, or a directory of samples; their whole families are for evaluation.
/// counted:  called after each sample, with its path.
/// Errors:   BadInput: no sample, a `keep` that names none, lists there that this did not write; Io; Resource:
///           interrupted.
Result<SplitReport> write_split(const std::filesystem::path& dataset, const std::filesystem::path& lists,
                                const SplitOptions& options,
                                const std::function<void(const std::string& path)>& counted);

}  // namespace passnet::dataset
