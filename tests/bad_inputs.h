// The tables of tests/data/bad: texts that are refused, each with its message.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/text/strings.h"

namespace passnet {

struct BadInput {
  std::string name;
  std::string text;     // whole, the skeleton around the bad lines
  std::string message;  // as to_string(Error) gives it, for the file name that stands in it
};

/// `lines` in the place of the "@" of `skeleton`, each but the first indented as the "@" is.
inline std::string fill_skeleton(const std::string& skeleton, const std::vector<std::string>& lines) {
  const size_t at = skeleton.find('@');
  const size_t line_start = skeleton.rfind('\n', at) + 1;
  const size_t indent = skeleton.find_first_not_of(" \t", line_start) - line_start;
  std::string text = skeleton.substr(0, at);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += '\n';
    if (i > 0 && !lines[i].empty()) text += skeleton.substr(line_start, indent);
    text += lines[i];
  }
  text += skeleton.substr(at + 1);
  if (const size_t end = text.find("{end}"); end != std::string::npos) text.resize(end);
  for (const auto& [escape, byte] : {std::pair("{00}", '\0'), std::pair("{ff}", '\xff')}) {
    if (const size_t found = text.find(escape); found != std::string::npos) text.replace(found, 4, 1, byte);
  }
  return text;
}

/// The entries of a table, in its order; its first lines say what it looks like.
/// Errors: throws std::runtime_error for a table that cannot be read.
inline std::vector<BadInput> read_bad_inputs(const std::string& table) {
  const auto refuse = [&](const std::string& line) -> std::runtime_error {
    return std::runtime_error(table + ": cannot read '" + line + "'");
  };
  const Result<std::string> content = read_file(table, FileKind::Lines);
  if (!content) throw std::runtime_error(to_string(content.error()));
  std::map<std::string, std::string> skeletons;
  std::string* skeleton = nullptr;  // being read, else an entry
  std::vector<BadInput> entries;
  std::string used;
  std::vector<std::string> lines;
  const auto finish = [&] {
    if (skeleton == nullptr && !entries.empty()) entries.back().text = fill_skeleton(skeletons.at(used), lines);
    lines.clear();
  };
  for (const std::string_view view : split(*content, '\n')) {
    const std::string line(view);
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("skeleton ")) {
      skeleton = &skeletons[line.substr(9)];
    } else if (const size_t in = line.find(" in "); line.starts_with("entry ") && in != std::string::npos) {
      finish();
      skeleton = nullptr;
      used = line.substr(in + 4);
      if (!skeletons.contains(used)) throw refuse(line);
      entries.push_back({line.substr(6, in - 6), "", ""});
    } else if (line[0] == '|') {
      const std::string text = line.size() > 2 ? line.substr(2) : "";
      if (skeleton != nullptr)
        *skeleton += text + "\n";
      else
        lines.push_back(text);
    } else if (line.starts_with("! ") && !entries.empty()) {
      std::string& message = entries.back().message;
      message += (message.empty() ? "" : "\n") + line.substr(2);
    } else {
      throw refuse(line);
    }
  }
  finish();
  return entries;
}

}  // namespace passnet
