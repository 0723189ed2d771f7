#include "pass/template.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/text/strings.h"
#include "pass/source.h"

namespace passnet::pass {

namespace {

constexpr std::string_view kPython =
    R"(# Fuses an addition and the relu after it. The whole language is in docs/plan-language.md.
import torch


def pattern(x, y):
    # The operators to replace, in any spelling: x + y, torch.add(x, y), F.relu(t), t.relu() all match.
    total = x + y
    return torch.nn.functional.relu(total)


def replacement_args(x, y):
    return (x, y)


def @NAME@(x, y):
    # The host plan: data for us, never run as Python. Decline what the kernel cannot do.
    if x.shape != y.shape or x.dtype != y.dtype:
        return NotImplemented
    if not x.is_contiguous() or not y.is_contiguous():
        return NotImplemented
    n = x.numel()
    out = torch.empty_like(x)
    tasks = min(8, max(1, n // 16384))
    @NAME@_kernel[(tasks,)](x, y, out, n, T=x.dtype)
    return out


def replacement_func():
    return @NAME@
)";

constexpr std::string_view kCpp =
    R"(// One call per task of the grid; see include/passnet/kernel.h for what a kernel may use.
#include <passnet/kernel.h>

PASSNET_KERNEL @NAME@_kernel(const T* x, const T* y, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) {
    const float total = passnet::to_float(x[i]) + passnet::to_float(y[i]);
    out[i] = passnet::from_float<T>(total < 0 ? 0 : total);
  }
}
)";

std::string fill_in(std::string_view text, const std::string& name) {
  std::string out(text);
  for (size_t at = out.find("@NAME@"); at != std::string::npos; at = out.find("@NAME@", at + name.size()))
    out.replace(at, 6, name);
  return out;
}

}  // namespace

Result<std::vector<std::filesystem::path>> write_passes(const std::filesystem::path& pass_dir,
                                                        const std::vector<PassTexts>& passes) {
  std::vector<std::pair<std::filesystem::path, const std::string*>> files;
  for (const PassTexts& one : passes) {
    if (!is_identifier(one.name))
      return bad_input(
          fmt::format("a pass is named by an identifier (letters, digits, _), found {}", quoted(one.name)));
    files.emplace_back(pass_dir / (one.name + ".py"), &one.python);
    if (!one.cpp.empty()) files.emplace_back(pass_dir / (one.name + ".cpp"), &one.cpp);
    if (!one.cuda.empty()) files.emplace_back(pass_dir / (one.name + ".cu"), &one.cuda);
  }
  for (const auto& [file, text] : files) {
    if (path_exists(file))
      return bad_input(fmt::format("'{}' exists; nothing was written", file.string())).with_hint("choose another name");
  }
  Json list = Json::array();
  const std::filesystem::path list_path = pass_dir / kListFile;
  if (path_exists(list_path)) {
    PASSNET_TRY(const std::string text, read_file(list_path, FileKind::Kernel));
    PASSNET_TRY(list, parse_json(text, list_path.string()));
    if (!list.is_array()) return bad_input("expected a JSON list of pass names", SourceLoc{list_path.string(), 0, 0});
  }
  std::vector<std::filesystem::path> written;
  for (const auto& [file, text] : files) {
    PASSNET_TRY_VOID(write_file(file, *text));
    written.push_back(file);
  }
  for (const PassTexts& one : passes) list.push_back(one.name);
  PASSNET_TRY_VOID(write_file(list_path, list.dump(2) + "\n"));
  written.push_back(list_path);
  return written;
}

Result<std::vector<std::filesystem::path>> write_template(const std::filesystem::path& pass_dir,
                                                          const std::string& name) {
  return write_passes(pass_dir, {{name, fill_in(kPython, name), fill_in(kCpp, name), {}}});
}

}  // namespace passnet::pass
