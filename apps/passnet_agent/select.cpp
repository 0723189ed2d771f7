#include "select.h"

#include <fmt/format.h>

#include "base/file/paths.h"

namespace passnet::cli {

Result<std::vector<fs::path>> select(std::vector<fs::path> samples, const SampleSelection& selection) {
  const size_t all = samples.size();
  if (!selection.filter.empty())
    std::erase_if(samples,
                  [&](const fs::path& one) { return one.string().find(selection.filter) == std::string::npos; });
  if (selection.limit > 0 && samples.size() > static_cast<size_t>(selection.limit))
    samples.resize(static_cast<size_t>(selection.limit));
  if (samples.empty())
    return bad_input(fmt::format("no sample is left of {}", all)).with_hint("--filter takes a part of the path");
  return samples;
}

}  // namespace passnet::cli
