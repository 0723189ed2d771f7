// What a page shows beside the records: pass sources, graphs before and after, launches. Read if they are there.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/graph_texts.h"
#include "record/record.h"

namespace passnet::report {

struct PassFile {
  std::string name;  // "add_layer_norm.cpp"
  std::string text;
};

/// Of one sample.
struct SampleSources {
  std::vector<PassFile> passes;                      // by name
  std::map<std::string, record::GraphTexts> graphs;  // by the graph's name; `launches` as launch_text has them
};
using Sources = std::map<std::string, SampleSources>;  // by the sample's name

/// A text longer than this is cut at a line, and says how much is left and where.
inline constexpr size_t kLongestText = size_t{48} << 10;

/// Reads OUT/SAMPLE/passes, and OUT/SAMPLE/graphs of these graphs. What is not there, or cannot be read, is left out: a run
/// of an older PassNet has none of it.
SampleSources load_sample_sources(const std::filesystem::path& out, const std::string& sample,
                                  const std::vector<std::string>& graphs);
/// The same for each sample of the records.
Sources load_sources(const std::filesystem::path& out, const std::vector<record::RunRecord>& records);

/// Launch lists for people, a launch per line: "site 0, pass add_relu", "  add_relu_kernel  grid 40 x 1, block 256,
/// T=float32",
/// "    float32 [40, 50], float32 [40, 50], 2000". What is no list of launch lists is given back as it is.
std::string launch_text(const std::string& json);

}  // namespace passnet::report
