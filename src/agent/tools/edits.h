// The edits of an attempt, so that they can be undone: by the model, and by a resumed run, which begins where the last
// finished step left the files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/tools/workspace.h"
#include "base/file/line_file.h"
#include "base/result.h"

namespace passnet::agent {

class EditHistory {
 public:
  /// Reads the edits so far and undoes those of steps beyond `finished_steps`, which a kill cut short.
  /// file: a line of JSON per edit. Errors: Io, Resource (another run holds it), BadInput.
  static Result<EditHistory> open(const std::filesystem::path& file, const Workspace& workspace, int finished_steps);

  /// Writes a file of pass_dir; what it held is kept first. Errors: as Workspace::resolve_writable, Io; BadInput: too large.
  Result<void> write(const std::string& path, const std::string& text, int step);
  /// Takes the last edit of that file back. Returns: whether the file is still there. Errors: BadInput: there is none; Io.
  Result<bool> undo(const std::string& path, int step);

 private:
  struct Edit {
    int step = 0;
    std::string path;
    std::optional<std::string> before;  // none: there was no file
    bool is_undo = false;
  };
  EditHistory(LineFile file, const Workspace& workspace) : file_(std::move(file)), workspace_(workspace) {}
  Result<void> keep(const Edit& edit);
  void count(const Edit& edit);
  Result<void> restore(const std::string& path, const std::optional<std::string>& text);

  LineFile file_;
  Workspace workspace_;
  std::map<std::string, std::vector<std::optional<std::string>>> before_;  // by path, the latest last
};

}  // namespace passnet::agent
