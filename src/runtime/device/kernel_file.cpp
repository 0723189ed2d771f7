#include "runtime/device/kernel_file.h"

#include "base/json_object.h"

namespace passnet {

PASSNET_JSON_FIELDS(runtime::KernelFile, "kernel",
                    PASSNET_FIELDS(object, entry) PASSNET_FIELDS_IF_SET(parameters, sha256, shared_bytes, cluster))

namespace runtime {

namespace {

/// The member, or null where it lacks. Errors: BadInput: it is no array.
Result<const Json*> array_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return nullptr;
  if (found->is_array()) return &*found;
  return bad_input(fmt::format("{}: expected an array, found {}", key, FieldReader::describe(*found)));
}

}  // namespace

Result<LaunchFiles> launch_files_from_json(const Json& json, const char* lists_key) {
  LaunchFiles files;
  PASSNET_TRY(const Json* const lists, array_at(json, lists_key));
  PASSNET_TRY(const Json* const kernels, array_at(json, "kernels"));
  for (size_t i = 0; lists != nullptr && i < lists->size(); ++i) {
    PASSNET_TRY(files.lists.emplace_back(), pass::launch_list_from_json((*lists)[i]));
  }
  for (size_t i = 0; kernels != nullptr && i < kernels->size(); ++i) {
    PASSNET_TRY(files.kernels.emplace_back(), from_json_list<KernelFile>((*kernels)[i], "kernels of a launch list"));
  }
  return files;
}

}  // namespace runtime

}  // namespace passnet
