#include "runtime/device/launch_files.h"

#include "base/json/json_object.h"
#include "pass/plan/kernel_file_json.h"

namespace passnet::runtime {

namespace {

Result<void> expect_array(const Json& json, const char* name) {
  if (json.is_array()) return {};
  return bad_input(fmt::format("{}: expected an array, found {}", name, FieldReader::describe(json)));
}

}  // namespace

Result<LaunchFiles> launch_files_from_json(const Json& lists, const Json& kernels) {
  PASSNET_TRY_VOID(expect_array(lists, "launch lists"));
  PASSNET_TRY_VOID(expect_array(kernels, "kernels"));
  LaunchFiles files;
  PASSNET_TRY(files.lists, pass::launch_lists_from_json(lists));
  for (const Json& of_list : kernels) {
    PASSNET_TRY(files.kernels.emplace_back(), from_json_list<pass::KernelFile>(of_list, "kernels of a launch list"));
  }
  return files;
}

}  // namespace passnet::runtime
