// Text from graphs, passes, kernels and compilers made fit to be shown. Each place that text goes to uses this itself:
// whoever writes there need not think of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace passnet {

/// Valid UTF-8 in which control characters and marks that change the writing direction or break lines show as \x1b or
/// \u202e, so that no name or message can move the cursor, set colors or reorder a line. Newlines stay, tabs
/// become two spaces.
std::string visible(std::string_view text);
/// The same on one line: newlines become spaces.
std::string visible_line(std::string_view text);

/// Calls `use` with each character and its bytes. REQUIRES: valid UTF-8.
void for_each_character(std::string_view text, const std::function<void(char32_t code, std::string_view bytes)>& use);

/// Whether a character is one of these, newline and tab among them.
bool is_unprintable(char32_t code);

}  // namespace passnet
