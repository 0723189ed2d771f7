#include <optional>

#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "report/counters/counters.h"

namespace passnet::report {

namespace {

constexpr size_t kMostLines = 10000;

/// Cells of a line in which all are in quotes; a quote within one is doubled.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  bool in_quotes = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && in_quotes && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[i++];
    } else if (line[i] == '"') {
      in_quotes = !in_quotes;
      if (in_quotes) cells.emplace_back();
    } else if (in_quotes) {
      cells.back() += line[i];
    }
  }
  return cells;
}

/// "1,234.5"; nothing for "no data" and other text.
std::optional<double> number_of(const std::string& cell) {
  std::string digits;
  for (const char c : cell)
    if (c != ',') digits += c;
  return parse_number<double>(digits);
}

KernelCounters launch_of(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
  KernelCounters launch;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (names[i] == "Kernel Name") launch.kernel = cells[i];
    if (names[i] == "Grid Size") launch.grid = cells[i];
    if (names[i] == "Block Size") launch.block = cells[i];
    if (names[i] == "device__attribute_display_name") launch.device = cells[i];
    // Columns of the launch itself have no "__" in their names.
    if (names[i].find("__") == std::string::npos) continue;
    if (const auto value = number_of(cells[i])) launch.metrics[names[i]] = *value;
  }
  return launch;
}

Error refusal(const std::string& message) {
  Error error = resource_error("ncu: " + message);
  if (message.find("ERR_NVGPUCTRPERM") == std::string::npos) return error;
  return std::move(error).with_hint(
      "run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0; in a container add CAP_SYS_ADMIN");
}

}  // namespace

Result<std::vector<KernelCounters>> parse_counters(std::string_view text) {
  std::vector<KernelCounters> launches;
  std::vector<std::string> names;
  size_t lines = 0;
  for (const std::string_view line : split(text, '\n')) {
    constexpr std::string_view error = "==ERROR== ";
    if (line.starts_with(error)) return refusal(std::string(trim(line.substr(error.size()))));
    if (!line.starts_with('"')) continue;
    std::vector<std::string> cells = cells_of(line);
    if (names.empty() && cells.front() != "ID") continue;  // what the program printed
    if (names.empty()) {
      names = std::move(cells);
    } else if (cells.size() == names.size() && !cells.front().empty() && ++lines <= kMostLines) {
      launches.push_back(launch_of(names, cells));  // the line of units has no ID
    }
  }
  if (launches.empty()) return resource_error("ncu saw no kernel").with_hint("see that the passes match, on a GPU");
  return launches;
}

}  // namespace passnet::report
