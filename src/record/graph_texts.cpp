#include "record/graph_texts.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/strings.h"

namespace passnet::record {

namespace {

// What every file system takes, with room for the endings of partial files.
constexpr size_t kLongestPart = 200;

bool is_plain(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '/');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.size() <= kLongestPart &&
           part.find('\0') == std::string_view::npos;
  });
}

}  // namespace

std::filesystem::path graphs_directory(const std::filesystem::path& sample_out) { return sample_out / "graphs"; }

std::filesystem::path graph_texts_directory(const std::filesystem::path& sample_out, std::string_view graph) {
  return graphs_directory(sample_out) / (is_plain(graph) ? std::string(graph) : sha256_hex(graph).substr(0, 16));
}

std::filesystem::path passes_directory(const std::filesystem::path& sample_out) { return sample_out / "passes"; }

}  // namespace passnet::record
