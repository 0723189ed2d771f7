// Source code as HTML with its keywords, texts, numbers and comments marked.
#pragma once

#include <string>
#include <string_view>

namespace passnet::site {

enum class Language { Python, Cpp };
/// By the end of the name: ".py" is Python, all else C++.
Language language_of(std::string_view file);

/// Spans of the classes k, s, n and c around escaped text; an unfinished text or comment ends with the code.
std::string highlight(std::string_view code, Language language);

}  // namespace passnet::site
