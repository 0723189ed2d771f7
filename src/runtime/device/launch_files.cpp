#include "runtime/device/launch_files.h"

#include "base/json/json_object.h"
#include "pass/plan/kernel_file_json.h"

namespace passnet::runtime {

Result<LaunchFiles> launch_files_from_json(const Json& lists, const Json& kernels) {
  if (!kernels.is_array())
    return bad_input(fmt::format("kernels: expected an array, found {}", FieldReader::describe(kernels)));
  LaunchFiles files;
  PASSNET_TRY(files.lists, pass::launch_lists_from_json(lists));
  for (const Json& of_list : kernels) {
    PASSNET_TRY(files.kernels.emplace_back(), from_json_list<pass::KernelFile>(of_list, "kernels of a launch list"));
  }
  return files;
}

}  // namespace passnet::runtime
