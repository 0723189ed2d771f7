// The files of a pass in what a model wrote: for training, where a model answers with text and calls no tool.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::agent {

/// Bytes of a file's name in pass_dir: file systems take 255, and what is compiled from it gets an ending.
inline constexpr size_t kLongestFileName = 200;

/// text:    holds each file as a fenced block with its name: on the line before it ("### add_relu.py", "`add_relu.cpp`:",
///          "**add_relu.py**"), after the language ("```python add_relu.py"), or in the block's first line
///          ("# add_relu.py", "// add_relu.cpp"). A name that comes twice: the later block is meant.
/// Returns: text by file name; the names end in .py, .cpp, .cu, .h or .json.
/// Errors:  BadPass: no block has a name.
Result<std::map<std::string, std::string>> files_in_answer(std::string_view text);

/// An answer that holds these files.
std::string answer_with(const std::map<std::string, std::string>& files);

}  // namespace passnet::agent
