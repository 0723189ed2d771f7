#include "record/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace passnet::record {

namespace {

constexpr std::array<std::string_view, 4> kIsolationNames = {"none", "seccomp", "confined", "isolated"};

}  // namespace

std::string_view to_string(IsolationLevel level) { return kIsolationNames.at(static_cast<size_t>(level)); }

std::optional<IsolationLevel> isolation_from(std::string_view name) {
  const auto found = std::ranges::find(kIsolationNames, name);
  if (found == kIsolationNames.end()) return std::nullopt;
  return static_cast<IsolationLevel>(found - kIsolationNames.begin());
}

IsolationLevel isolation_of(std::string_view words) {
  const auto has = [&](std::string_view part) { return words.find(part) != std::string_view::npos; };
  if (!has("no new privileges") || !has("seccomp filter")) return IsolationLevel::None;
  if (!has("Landlock")) return IsolationLevel::Seccomp;
  return has("namespaces") && has("in an empty root") ? IsolationLevel::Isolated : IsolationLevel::Confined;
}

std::string describe(IsolationLevel level) {
  return fmt::format("isolation level: {} of {} ({})", static_cast<int>(level), static_cast<int>(kHighestIsolation),
                     to_string(level));
}

}  // namespace passnet::record
