// The form of the corpus's text files: fields, each with a value and perhaps a text, every byte of which is kept.
//
//   # a comment
//   bundle state_call_count
//   what   Computes the first ten times, and then no more.
//   kernel p.cpp
//   | #include <passnet/kernel.h>
//   |
//   | static int calls = 0;
//
// Each line of a text begins with "|" and a blank, so nothing inside it is taken for a field or a comment. In a text
// "{byte 0d}" stands for the byte 0x0d. "{end of text}" at the end of the last line leaves out its line break.
// A file is printable ASCII: other bytes, blanks at the ends of lines and "{" before "byte " are written as escapes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::selftest {

struct TextField {
  std::string key;
  std::string value;                // the rest of the line, without blanks at its ends; may be empty
  std::optional<std::string> text;  // of the lines below it that begin with "|"
  SourceLoc at;                     // of the key
  SourceLoc value_at;
};

/// Returns: the fields in their order. file: as errors name it.
/// Errors: BadInput at the byte: not printable ASCII, a text without a field, an escape that is none.
Result<std::vector<TextField>> parse_block_text(std::string_view text, const std::string& file);

}  // namespace passnet::selftest
