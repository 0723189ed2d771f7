// Small text helpers: quoting for messages, nearest names for hints, positions in a text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet {

/// Line and column (from 1, columns in bytes) of a byte offset in `text`.
SourceLoc locate(const std::string& file, std::string_view text, size_t offset);

/// Levenshtein distance in bytes; stops early and returns limit + 1 when it exceeds `limit`.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// The candidate nearest to `word` by edit distance, or empty when none is near enough to suggest.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

/// 'text' in single quotes and visible, on one line, cut to about `limit` bytes with "…": safe to print in a message.
std::string quoted(std::string_view text, size_t limit = 60);
/// For std::string, which would find std::quoted by its namespace.
inline std::string quoted(const std::string& text, size_t limit = 60) { return quoted(std::string_view(text), limit); }

/// What a letter or an underscore begins and digits may go on: a name in Python, C++ and CUDA, of ASCII alone.
bool is_identifier(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
/// Up to the first line break: PyTorch's messages go on with where in its source they come from.
std::string first_line(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// The stem, or the first of "stem_2", "stem_3" … that takes(name) accepts.
template <class Takes>
std::string numbered(const std::string& stem, Takes takes) {
  std::string name = stem;
  for (int i = 2; !takes(name); ++i) name = stem + "_" + std::to_string(i);
  return name;
}

/// "1 graph", "2 graphs"
std::string counted(size_t count, std::string_view what);

/// "12 B", "1.5 KB", "3.2 MB": in steps of 1024.
std::string bytes_text(double bytes);

}  // namespace passnet
