// passnet-nvrtc: compiles unit.cu of the working directory to unit.cubin and unit.ptx with NVRTC. A process of its own, because it
// runs in the jail: started by passnet, not by hand. What follows `--` goes to NVRTC as it is. NVRTC's log goes to
// stderr.
#include <dlfcn.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/file/file.h"

namespace {

using namespace passnet;

// What is used of NVRTC's C interface (nvrtc.h of CUDA 12 and 13).
using Program = struct ProgramObject*;
struct Nvrtc {
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Program, int options, const char* const*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
};

Result<Nvrtc> open(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return resource_error(fmt::format("cannot open NVRTC: {}", ::dlerror()));
  Nvrtc nvrtc;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  if (!find(nvrtc.create, "nvrtcCreateProgram") || !find(nvrtc.compile, "nvrtcCompileProgram") ||
      !find(nvrtc.log_size, "nvrtcGetProgramLogSize") || !find(nvrtc.log, "nvrtcGetProgramLog") ||
      !find(nvrtc.cubin_size, "nvrtcGetCUBINSize") || !find(nvrtc.cubin, "nvrtcGetCUBIN") ||
      !find(nvrtc.ptx_size, "nvrtcGetPTXSize") || !find(nvrtc.ptx, "nvrtcGetPTX"))
    return resource_error(fmt::format("'{}' is no NVRTC of CUDA 11.1 or later", path));
  return nvrtc;
}

Result<bool> compile(const std::string& library, const std::vector<std::string>& options) {
  PASSNET_TRY(const Nvrtc nvrtc, open(library));
  PASSNET_TRY(const std::string source, read_file("unit.cu", FileKind::Object));
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "unit.cu", 0, nullptr, nullptr) != 0)
    return resource_error("NVRTC makes no program");
  const int status = nvrtc.compile(program, static_cast<int>(arguments.size()), arguments.data());
  size_t size = 0;
  std::string log;
  if (nvrtc.log_size(program, &size) == 0 && size > 1) {
    log.resize(size);
    nvrtc.log(program, log.data());
    fmt::print(stderr, "{}\n", log.c_str());
  }
  if (status != 0) return false;
  if (nvrtc.cubin_size(program, &size) != 0 || size == 0)
    return resource_error("NVRTC gives no cubin for this architecture");
  std::string cubin(size, '\0');
  nvrtc.cubin(program, cubin.data());
  if (nvrtc.ptx_size(program, &size) != 0 || size < 2) return resource_error("NVRTC gives no PTX to check");
  std::string ptx(size, '\0');
  nvrtc.ptx(program, ptx.data());
  ptx.pop_back();
  PASSNET_TRY_VOID(write_file("unit.cubin", cubin));
  PASSNET_TRY_VOID(write_file("unit.ptx", ptx));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compiles unit.cu to unit.cubin with NVRTC; it is started by passnet, not by hand."};
  std::string library;
  std::vector<std::string> options;
  app.add_option("--library", library, "libnvrtc.so")->required();
  app.add_option("OPTION", options, "handed to NVRTC; after --");
  app.footer("Example: passnet-nvrtc --library libnvrtc.so.13 -- -arch=sm_90");
  CLI11_PARSE(app, argc, argv);
  const Result<bool> done = compile(library, options);
  if (!done) {
    fmt::print(stderr, "{}\n", to_string(done.error()));
    return 4;
  }
  return *done ? 0 : 1;
}
