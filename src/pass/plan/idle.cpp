#include "pass/plan/idle.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet::pass {

std::vector<std::string> idle_parts(const LaunchList& list) {
  if (list.launches.empty()) return {"the plan launches no kernel"};
  std::vector<bool> wanted(list.buffers.size(), false);
  for (const View& output : list.outputs) wanted[output.buffer] = true;
  // What a graph overwrites in place may be what its caller looks at.
  for (size_t i = 0; i < list.buffers.size(); ++i)
    if (list.buffers[i].may_be_written) wanted[i] = true;
  std::vector<std::string> idle;
  // From the end: what a launch that is needed takes may be what one before it gave.
  for (size_t i = list.launches.size(); i-- > 0;) {
    const Launch& launch = list.launches[i];
    const auto is_wanted = [&](const LaunchArg& arg) {
      const auto* view = std::get_if<View>(&arg);
      return view != nullptr && !list.buffers[view->buffer].is_read_only() && wanted[view->buffer];
    };
    if (!std::ranges::any_of(launch.args, is_wanted)) {
      idle.push_back(fmt::format("launch {} of {}, kernel '{}' (line {}): no output depends on it", i + 1,
                                 list.launches.size(), launch.kernel, launch.at.line));
      continue;
    }
    for (const LaunchArg& arg : launch.args) {
      if (const auto* view = std::get_if<View>(&arg)) wanted[view->buffer] = true;
    }
  }
  std::ranges::reverse(idle);
  return idle;
}

}  // namespace passnet::pass
