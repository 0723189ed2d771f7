#include "select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/strings.h"
#include "base/usage.h"

namespace passnet::cli {

namespace fs = std::filesystem;

namespace {

// One end of a slice: a number, from the end where it is negative; nothing is `missing`.
std::optional<size_t> end_of_slice(std::string_view text, size_t count, size_t missing) {
  if (text.empty()) return missing;
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0) value = std::max<int64_t>(0, value + static_cast<int64_t>(count));
  return std::min(count, static_cast<size_t>(value));
}

// The same order on every machine, which std::shuffle does not promise.
void shuffle(std::vector<fs::path>& samples, uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (size_t i = samples.size(); i > 1; --i) std::swap(samples[i - 1], samples[generator() % i]);
}

}  // namespace

Result<std::vector<fs::path>> select(std::vector<fs::path> samples, const SampleSelection& selection) {
  const size_t all = samples.size();
  if (!selection.filter.empty())
    std::erase_if(samples,
                  [&](const fs::path& one) { return one.string().find(selection.filter) == std::string::npos; });
  if (selection.shuffle) shuffle(samples, *selection.shuffle);
  if (!selection.slice.empty()) {
    const size_t colon = selection.slice.find(':');
    const std::string_view text = selection.slice;
    const auto first = end_of_slice(text.substr(0, colon), samples.size(), 0);
    const auto last = colon == std::string::npos ? std::nullopt
                                                 : end_of_slice(text.substr(colon + 1), samples.size(), samples.size());
    if (!first || !last) return usage_error(fmt::format("--slice: expected A:B, found {}", quoted(text)));
    samples.resize(std::max(*last, *first));
    samples.erase(samples.begin(), samples.begin() + std::ptrdiff_t(std::min(*first, samples.size())));
  }
  if (selection.limit > 0 && samples.size() > static_cast<size_t>(selection.limit))
    samples.resize(static_cast<size_t>(selection.limit));
  if (samples.empty())
    return bad_input(fmt::format("no sample is left of {}", all)).with_hint("--filter, --slice and --limit choose");
  return samples;
}

Result<std::vector<fs::path>> read_dataset(const fs::path& file) {
  PASSNET_TRY(const std::string text, read_file(file, FileKind::Lines));
  std::vector<fs::path> samples;
  uint32_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const Json json = try_parse_json(line);
    Json path = json;
    for (const char* name : {"path", "sample_path"}) {
      if (json.is_object() && json.contains(name)) path = json[name];
    }
    if (!path.is_string())
      return bad_input("expected an object with 'sample_path' or 'path'", SourceLoc{file.string(), number, 1});
    const fs::path beside = file.parent_path() / path.get<std::string>();
    samples.push_back(path_exists(beside) ? beside : fs::path(path.get<std::string>()));
  }
  return samples;
}

}  // namespace passnet::cli
