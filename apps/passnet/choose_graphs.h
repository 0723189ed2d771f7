// Chooses the graphs that `passnet eval` evaluates.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shard.h"

namespace passnet::cli {

struct ChosenGraphs {
  std::vector<std::filesystem::path> samples;            // sample directories
  std::map<std::string, std::vector<std::string>> only;  // as run::BatchOptions::only
  size_t elsewhere = 0;                                  // paths of samples of other shards
};

/// paths:  sample directories and graph directories. A graph of a sample with passes stands for the sample with that
///         graph alone.
/// filter: keeps the graphs whose SAMPLE/GRAPH holds it; empty: all.
/// shard:  keeps its samples, by their names.
/// Errors: as graphdir::load_sample; BadInput: no graph is left, in any shard.
Result<ChosenGraphs> choose_graphs(const std::vector<std::filesystem::path>& paths, const std::string& filter,
                                   const Shard& shard);

}  // namespace passnet::cli
