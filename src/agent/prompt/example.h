// Worked examples from files, in the place of the shipped ones: what `passnet author --export` writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::agent {

/// The first line of such a file, before the name of its sample.
inline constexpr const char* kExampleHeading = "# Worked example: ";

struct ExampleText {
  std::string sample;  // that it is the answer to
  std::string text;    // Markdown, from its heading on
};

/// path: a Markdown file, or a directory of such files, which are taken in the order of their names.
/// Errors: Io; BadInput: a file that does not begin with the heading, a directory without one.
Result<std::vector<ExampleText>> load_examples(const std::filesystem::path& path);

}  // namespace passnet::agent
