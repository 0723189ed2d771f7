#include "agent/tools/edits.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

// "pass_dir/add.py" however it was spelt.
std::string normal(const std::string& path) { return fs::path(path).lexically_normal().string(); }

}  // namespace

Result<EditHistory> EditHistory::open(const fs::path& path, const Workspace& workspace, int finished_steps) {
  PASSNET_TRY(LineFile file, LineFile::open(path, true));
  std::vector<Edit> edits;
  for (const std::string_view line : split(file.kept(), '\n')) {
    if (line.empty()) continue;
    const Json json = try_parse_json(line);
    if (!json.is_object() || !json.contains("step") || !json.contains("path") || !json.contains("before"))
      return bad_input(fmt::format("'{}': expected an edit per line, found {}", path.string(), quoted(line)));
    Edit edit;
    edit.step = json["step"].get<int>();
    edit.path = json["path"].get<std::string>();
    if (json["before"].is_string()) edit.before = json["before"].get<std::string>();
    edit.is_undo = json.value("undo", false);
    edits.push_back(std::move(edit));
  }
  EditHistory history(std::move(file), workspace);
  size_t stand = 0;
  while (stand < edits.size() && edits[stand].step <= finished_steps) history.count(edits[stand++]);
  if (stand == edits.size()) return history;
  for (size_t i = edits.size(); i-- > stand;) PASSNET_TRY_VOID(history.restore(edits[i].path, edits[i].before));
  // Anew without them: the steps will be made again, under the same numbers.
  const std::string text = history.file_.kept();
  size_t end = 0;
  for (size_t line = 0; line < stand; ++line) end = text.find('\n', end) + 1;
  { const LineFile closed = std::move(history.file_); }
  PASSNET_TRY(history.file_, LineFile::open(path, false));
  if (end > 0) PASSNET_TRY_VOID(history.file_.append(std::string_view(text).substr(0, end - 1)));
  return history;
}

void EditHistory::count(const Edit& edit) {
  auto& before = before_[edit.path];
  if (!edit.is_undo)
    before.push_back(edit.before);
  else if (!before.empty())
    before.pop_back();
}

Result<void> EditHistory::keep(const Edit& edit) {
  Json json{{"step", edit.step}, {"path", edit.path}, {"before", nullptr}};
  if (edit.before) json["before"] = *edit.before;
  if (edit.is_undo) json["undo"] = true;
  PASSNET_TRY_VOID(file_.append(compact(json)));
  count(edit);
  return {};
}

Result<void> EditHistory::restore(const std::string& path, const std::optional<std::string>& text) {
  PASSNET_TRY(const fs::path place, workspace_.resolve_writable(path));
  if (text) return write_file(place, *text);
  std::error_code failed;
  fs::remove(place, failed);
  return {};
}

Result<void> EditHistory::write(const std::string& asked, const std::string& text, int step) {
  const std::string path = normal(asked);
  PASSNET_TRY(const fs::path place, workspace_.resolve_writable(path));
  if (text.size() > kMaxFileBytes)
    return bad_input(
        fmt::format("path {}: expected at most {} bytes, found {}", quoted(path), kMaxFileBytes, text.size()));
  Edit edit{step, path, std::nullopt, false};
  if (entry_exists(place)) {
    PASSNET_TRY(edit.before, workspace_.read(path));
  }
  PASSNET_TRY_VOID(keep(edit));
  return write_file(place, text);
}

Result<bool> EditHistory::undo(const std::string& asked, int step) {
  const std::string path = normal(asked);
  const auto found = before_.find(path);
  if (found == before_.end() || found->second.empty())
    return bad_input(fmt::format("undo_edit of {}: there is no edit of it to undo", quoted(path)));
  const std::optional<std::string> text = found->second.back();
  Edit edit{step, path, std::nullopt, true};
  if (Result<std::string> now = workspace_.read(path)) edit.before = *now;
  PASSNET_TRY_VOID(keep(edit));
  PASSNET_TRY_VOID(restore(path, text));
  return text.has_value();
}

}  // namespace passnet::agent
