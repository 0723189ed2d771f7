// Replacing words in a text.
#pragma once

#include <string>
#include <string_view>

namespace passnet {

/// `text` with `by` wherever `word` stood, from its beginning to its end; what is put in is not looked at again. An empty
/// word stands nowhere.
std::string replace_all(std::string text, std::string_view word, std::string_view by);

}  // namespace passnet
