// Words that no value of a graph is called by.
#pragma once

#include <set>
#include <string_view>

namespace passnet::author {

/// Names of variables and functions that kernels have in any case.
const std::set<std::string_view>& kernel_words();
/// Names that mean something in a plan, in Python or in C++.
const std::set<std::string_view>& language_words();

}  // namespace passnet::author
