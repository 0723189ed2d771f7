#include "run/worker/kernel_json.h"

#include <nlohmann/json.hpp>

namespace passnet::run {

Json to_json(const pass::BuiltKernel& kernel) {
  Json json{{"object", kernel.object.string()},
            {"entry", kernel.entry},
            {"parameters", kernel.parameters},
            {"sha256", kernel.sha256}};
  if (!kernel.triton) return json;
  // A launch also gives the kernel its scratch memory, after its own arguments.
  for (size_t i = 0; i < kernel.triton->scratch.size(); ++i) json["parameters"].push_back("*i8");
  json["shared_bytes"] = kernel.triton->shared_bytes;
  json["cluster"] = kernel.triton->cluster;
  return json;
}

}  // namespace passnet::run
