// file_editor: files of the workspace, with the commands and arguments of SWE-agent's and R2E-Gym's.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/tools/arguments.h"
#include "agent/tools/tool.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "base/text/visible.h"

namespace passnet::agent {

namespace {

constexpr size_t kShownBytes = 24 * 1024;  // of a file at a time
constexpr int64_t kAround = 4;             // lines shown before and after an edit

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? std::vector<std::string_view>{} : split(text, '\n');
}

// Lines first to last, from 1, each with its number.
std::string numbered(std::string_view text, int64_t first, int64_t last) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::string shown;
  for (int64_t i = std::max<int64_t>(first, 1); i <= std::min<int64_t>(last, static_cast<int64_t>(lines.size())); ++i) {
    shown += fmt::format("{:>5}  {}\n", i, lines[static_cast<size_t>(i - 1)]);
    if (shown.size() > kShownBytes) {
      shown += fmt::format("[cut after line {} of {}: give a view_range]\n", i, lines.size());
      break;
    }
  }
  return valid_utf8(shown);
}

ToolResult list_directory(const Workspace& workspace, const fs::path& directory) {
  constexpr size_t kListed = 200;
  const std::vector<std::string> files = workspace.list(directory);
  std::string text = fmt::format("{} files:\n", files.size());
  for (size_t i = 0; i < std::min(files.size(), kListed); ++i) text += visible_line(files[i]) + "\n";
  if (files.size() > kListed) text += fmt::format("[and {} more]\n", files.size() - kListed);
  return {text};
}

Result<ToolResult> view(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::optional<std::string> given, text_argument(arguments, "path"));
  const std::string path = given.value_or(".");
  PASSNET_TRY(const fs::path place, context.workspace.resolve(path));
  if (directory_exists(place)) return list_directory(context.workspace, place);
  PASSNET_TRY(const std::string text, context.workspace.read(path));
  PASSNET_TRY(const auto range, integers_argument(arguments, "view_range"));
  const auto count = static_cast<int64_t>(lines_of(text).size());
  if (!range) return ToolResult{text.empty() ? "[the file is empty]" : numbered(text, 1, count)};
  if (range->size() != 2 || range->at(0) < 1 || (range->at(1) != -1 && range->at(1) < range->at(0)) ||
      range->at(0) > count) {
    return bad_input(fmt::format("argument 'view_range': expected [first, last] with 1 <= first <= {}, found [{}]",
                                 std::max<int64_t>(count, 1), fmt::join(*range, ", ")))
        .with_hint("last may be -1: to the end");
  }
  return ToolResult{numbered(text, range->at(0), range->at(1) == -1 ? count : range->at(1))};
}

Result<ToolResult> create(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string path, needed_text(arguments, "path", "create"));
  PASSNET_TRY(const std::string text, needed_text(arguments, "file_text", "create"));
  PASSNET_TRY_VOID(context.edits.write(path, text, context.step));
  return ToolResult{fmt::format("{}: {} lines written", path, lines_of(text).size())};
}

// The lines of an edit with some around them. from: the byte where it begins, and its length.
std::string shown_edit(const std::string& path, const std::string& text, size_t from, size_t bytes) {
  const auto first = static_cast<int64_t>(std::count(text.begin(), text.begin() + std::ptrdiff_t(from), '\n')) + 1;
  const auto inside =
      std::count(text.begin() + std::ptrdiff_t(from), text.begin() + std::ptrdiff_t(from + bytes), '\n');
  return fmt::format("{} is now:\n{}", path, numbered(text, first - kAround, first + inside + kAround));
}

Result<ToolResult> str_replace(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string path, needed_text(arguments, "path", "str_replace"));
  PASSNET_TRY(const std::string old_text, needed_text(arguments, "old_str", "str_replace"));
  PASSNET_TRY(const auto new_text, text_argument(arguments, "new_str"));
  PASSNET_TRY(std::string text, context.workspace.read(path));
  size_t found = 0;
  const size_t place = old_text.empty() ? std::string::npos : text.find(old_text);
  for (size_t at = place; at != std::string::npos; at = text.find(old_text, at + 1)) ++found;
  if (found != 1) {
    return bad_input(fmt::format("argument 'old_str': expected text that stands once in '{}', found it {} times", path,
                                 found))
        .with_hint(found == 0 ? "view the file: spaces and line ends count" : "take more lines around it");
  }
  const std::string replacement = new_text.value_or("");
  text.replace(place, old_text.size(), replacement);
  PASSNET_TRY_VOID(context.edits.write(path, text, context.step));
  return ToolResult{shown_edit(path, text, place, replacement.size())};
}

Result<ToolResult> insert(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string path, needed_text(arguments, "path", "insert"));
  PASSNET_TRY(std::string added, needed_text(arguments, "new_str", "insert"));
  PASSNET_TRY(const auto line, integer_argument(arguments, "insert_line"));
  PASSNET_TRY(std::string text, context.workspace.read(path));
  const auto count = static_cast<int64_t>(lines_of(text).size());
  if (!line || *line < 0 || *line > count) {
    return bad_input(fmt::format("argument 'insert_line': expected 0..{}, found {}", count,
                                 line ? std::to_string(*line) : "nothing"))
        .with_hint("the text goes after that line");
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!added.ends_with('\n')) added += '\n';
  size_t place = 0;
  for (int64_t i = 0; i < *line; ++i) place = text.find('\n', place) + 1;
  text.insert(place, added);
  PASSNET_TRY_VOID(context.edits.write(path, text, context.step));
  return ToolResult{shown_edit(path, text, place, added.size() - 1)};
}

Result<ToolResult> undo_edit(const Json& arguments, ToolContext& context) {
  PASSNET_TRY(const std::string path, needed_text(arguments, "path", "undo_edit"));
  PASSNET_TRY(const bool is_there, context.edits.undo(path, context.step));
  if (!is_there) return ToolResult{fmt::format("{}: the edit that made it is undone, and it is gone", path)};
  PASSNET_TRY(const std::string text, context.workspace.read(path));
  return ToolResult{fmt::format("{} is again:\n{}", path, numbered(text, 1, 1'000'000))};
}

constexpr const char* kSchema = R"({
"type": "object",
"properties": {
 "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "undo_edit"]},
 "path": {"type": "string", "description": "relative: pass_dir/NAME.py, graphs/…; files are written in pass_dir alone"},
 "file_text": {"type": "string", "description": "create: the whole text"},
 "old_str": {"type": "string", "description": "str_replace: text that stands in the file exactly once"},
 "new_str": {"type": "string", "description": "str_replace, insert: the new text"},
 "insert_line": {"type": "integer", "description": "insert: after this line; 0 is the beginning"},
 "view_range": {"type": "array", "items": {"type": "integer"}, "description": "view: [first, last], -1 is the end"}
},
"required": ["command", "path"]
})";

}  // namespace

Tool file_editor() {
  return {
      {"file_editor",
       "Views, makes and changes files of the workspace: view a file or a directory, create, str_replace, insert, "
       "undo_edit (the last edit of a file).",
       kSchema},
      [](const Json& arguments, ToolContext& context) -> Result<ToolResult> {
        PASSNET_TRY(const std::string command, needed_text(arguments, "command", "file_editor"));
        if (command == "view") return view(arguments, context);
        if (command == "create") return create(arguments, context);
        if (command == "str_replace") return str_replace(arguments, context);
        if (command == "insert") return insert(arguments, context);
        if (command == "undo_edit") return undo_edit(arguments, context);
        return bad_input(fmt::format(
            "argument 'command': expected view, create, str_replace, insert or undo_edit, found {}", quoted(command)));
      }};
}

}  // namespace passnet::agent
