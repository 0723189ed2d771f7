#include "base/file/replace.h"

namespace passnet {

std::string replace_all(std::string text, std::string_view word, std::string_view by) {
  if (word.empty()) return text;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

}  // namespace passnet
