// g++ for kernels: where it is, how it is called, and its errors in words for the author of a kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/kernel/kernel_source.h"

namespace passnet::pass {

struct Compiler {
  std::string path;            // of g++
  std::string identity;        // version, flags and processor: what decides the object besides the text
  std::string library;         // libnvrtc, when it is that which compiles
  std::string processor = {};  // what g++ compiles for: "native", "x86-64-v3"
};

/// Whether an architecture is a processor and no GPU: "" (this machine's), "x86-64-v3".
bool is_processor(std::string_view architecture);

/// Looks along PATH. architecture: of is_processor().
/// Errors: Resource with the command that installs it, or when it is older than g++ 12.
Result<Compiler> find_compiler(const std::string& architecture = {});

inline constexpr int64_t kCompilerMemoryBytes = int64_t{2} << 30;

struct CompileRequest {
  std::filesystem::path directory;    // holds unit.cpp or unit.cu; unit.so or unit.cubin is written there
  std::filesystem::path include_dir;  // empty: no headers
  std::string file;                   // the kernel's source, for messages
  KernelDefinition kernel;
  int timeout_s = 30;
  int64_t memory_bytes = kCompilerMemoryBytes;  // of one process
  const std::atomic<bool>* interrupted = nullptr;
};

/// Compiles in the jail. Errors: BadPass with the compiler's first error and up to two more as notes;
/// Resource when time, memory or disk is used up, and Resource "interrupted".
Result<void> compile_unit(const Compiler& compiler, const CompileRequest& request);

/// text:     a makefile rule as compilers write it (-MD), with a blank inside a name written as "\ ".
/// Returns:  the names in it, "unit.so:" first.
std::vector<std::string> dependency_names(std::string_view text);

/// The compiler's output as one error. Positions under kKernelFile become positions in `file`; errors inside
/// headers are placed where the kernel used them.
Error parse_compiler_errors(const std::string& output, const std::string& file, const KernelDefinition& kernel);

}  // namespace passnet::pass
