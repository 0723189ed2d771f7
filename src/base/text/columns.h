// Text made to fit columns of characters: a terminal, a comment.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace passnet {

/// Characters as a terminal counts them, one column each. REQUIRES: valid UTF-8.
size_t columns(std::string_view text);

/// At most `width` columns, the middle replaced by "…". REQUIRES: valid UTF-8, width >= 1.
std::string shorten_middle(std::string_view text, size_t width);

/// The lines of `text`, each broken at spaces to at most `width` columns where its words allow; a continued
/// line is indented two columns more.
std::vector<std::string> wrap(std::string_view text, size_t width);

}  // namespace passnet
