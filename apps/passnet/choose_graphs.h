// Chooses the graphs that `passnet eval` evaluates.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cli {

struct ChosenGraphs {
  std::vector<std::filesystem::path> samples;            // sample directories
  std::map<std::string, std::vector<std::string>> only;  // as run::BatchOptions::only
};

/// paths:  sample directories and graph directories. A graph of a sample with passes stands for the sample with that
///         graph alone.
/// filter: keeps the graphs whose SAMPLE/GRAPH holds it; empty: all.
/// Errors: as graphdir::load_sample; BadInput: no graph is left.
Result<ChosenGraphs> choose_graphs(const std::vector<std::filesystem::path>& paths, const std::string& filter);

}  // namespace passnet::cli
