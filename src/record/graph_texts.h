// What an evaluation keeps beside its records, for people who ask what a pass made of a graph.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace passnet::record {

/// One graph on its way through the passes, as text; empty what it did not come to.
struct GraphTexts {
  std::string before;    // model.py as it was evaluated
  std::string after;     // as the passes left it, when they replaced something
  std::string launches;  // a JSON list of launch lists (docs/protocol.md), one per site
  bool operator==(const GraphTexts&) const = default;
};

inline constexpr const char* kBeforeFile = "before.py";
inline constexpr const char* kAfterFile = "after.py";
inline constexpr const char* kLaunchesFile = "launches.json";

/// SAMPLE_OUT/graphs: those of all graphs.
std::filesystem::path graphs_directory(const std::filesystem::path& sample_out);

/// Where they lie: SAMPLE_OUT/graphs/GRAPH. A name that is no plain relative path ("/x", "../x", a part that no file
/// system takes) is replaced by 16 hex digits of its hash, so nothing is ever written elsewhere.
std::filesystem::path graph_texts_directory(const std::filesystem::path& sample_out, std::string_view graph);

/// SAMPLE_OUT/passes: the passes that were evaluated, as they were then.
std::filesystem::path passes_directory(const std::filesystem::path& sample_out);

}  // namespace passnet::record
