// Where Triton, its Python and its ptxas are, and which files of this machine they are made of.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "pass/kernel/tool_files.h"

namespace passnet::pass {

struct TritonToolchain {
  std::string python;                // the interpreter itself, no link of an environment
  std::filesystem::path library;     // its standard library
  std::filesystem::path packages;    // directory that holds triton
  std::filesystem::path script_dir;  // directory that holds passnet_triton
  std::string version;               // of Triton: "3.6.0"
  std::string ptxas;
  std::string cuda_version;  // of ptxas: "12.8"
  std::string identity;      // "triton 3.6.0, ptxas 12.8" and, in further lines, all that decides what they make
};

/// For GPUs of that capability (90). Found once per capability. Errors: Resource with what to install where Triton, its
/// Python, ptxas or passnet_triton is not found, or Triton is older than 3.3.
Result<TritonToolchain> find_triton(int capability);

/// What the jail shows of the interpreter, its standard library, Triton and passnet_triton. Found once. Errors: Resource.
Result<ToolFiles> triton_files(const TritonToolchain& toolchain);

}  // namespace passnet::pass
