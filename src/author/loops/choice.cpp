#include "author/loops/choice.h"

#include <fmt/format.h>

#include <vector>

namespace passnet::author {

std::optional<Choice> find_choice(std::string_view text) {
  const size_t begin = text.find("?(");
  if (begin == std::string_view::npos) return std::nullopt;
  std::vector<size_t> ends;  // of its three parts
  int depth = 0;
  for (size_t i = begin + 1; i < text.size() && ends.size() < 3; ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ',' && depth == 1) ends.push_back(i);
    if (text[i] == ')' && --depth == 0) ends.push_back(i);
  }
  constexpr size_t kBlank = 2;  // ", "
  const auto part = [&](size_t from, size_t to) { return text.substr(from, to - from); };
  return Choice{part(begin + 2, ends[0]), part(ends[0] + kBlank, ends[1]), part(ends[1] + kBlank, ends[2]), begin,
                ends[2] + 1};
}

std::string wrapping(std::string_view text) {
  std::string made = "int64_t(";
  for (size_t i = 0; i < text.size(); ++i) {
    made += text[i] == '$' ? fmt::format("uint64_t(${})", text[i + 1]) : std::string(1, text[i]);
    if (text[i] == '$') ++i;
  }
  return made + ")";
}

}  // namespace passnet::author
