#include "runtime/gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace passnet::runtime::gpu {

namespace {
Driver table;
}

Result<void> load_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return resource_error(fmt::format("no CUDA driver: {}", ::dlerror()))
        .with_hint("install NVIDIA's driver (CUDA 12.4 or later), or run with --device cpu");
#define PASSNET_TEXT_OF(name) #name
#define PASSNET_TEXT(name) PASSNET_TEXT_OF(name)
#define PASSNET_LOAD(name)                                                                \
  table.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, PASSNET_TEXT(name))); \
  if (table.name == nullptr)                                                              \
    return resource_error("the CUDA driver is too old: it has no " PASSNET_TEXT(name))    \
        .with_hint("install a driver of CUDA 13.0 or later");
  PASSNET_DRIVER_FUNCTIONS(PASSNET_LOAD)
#undef PASSNET_LOAD
#undef PASSNET_TEXT
#undef PASSNET_TEXT_OF
  return {};
}

const Driver& driver() { return table; }

std::string describe(CUresult result) {
  const char *name = nullptr, *text = nullptr;
  table.cuGetErrorName(result, &name);
  table.cuGetErrorString(result, &text);
  return fmt::format("{}: {}", name != nullptr ? name : "unknown error", text != nullptr ? text : "");
}

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(fmt::format("{}: {}", what, describe(result)));
}

CUfunction load_function(const char* ptx, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  check(table.cuModuleLoadData(&module, ptx), name);
  check(table.cuModuleGetFunction(&function, module, name), name);
  return function;
}

}  // namespace passnet::runtime::gpu
