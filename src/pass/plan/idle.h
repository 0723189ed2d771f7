// What a plan does for nothing: kernels beside the real work are a way to look busy.
#pragma once

#include <string>
#include <vector>

#include "pass/plan/launch_list.h"

namespace passnet::pass {

/// Returns: in words, each launch that no output can depend on, whatever its kernel does with its arguments; and a list
///          that launches nothing at all. Empty: all works.
std::vector<std::string> idle_parts(const LaunchList& list);

}  // namespace passnet::pass
