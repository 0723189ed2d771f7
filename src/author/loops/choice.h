// Texts of an Apply: choices, where ?(c, a, b) is a where c holds, else b, and sums of whole numbers that wrap.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace passnet::author {

struct Choice {
  std::string_view condition, then, otherwise;  // which may hold choices
  size_t begin = 0, end = 0;                    // where it stands in the text
};
/// The first one that is in no other; nullopt: there is none.
std::optional<Choice> find_choice(std::string_view text);

/// Sums, differences and products of whole numbers as unsigned ones, which wrap.
std::string wrapping(std::string_view text);

}  // namespace passnet::author
