// A bundle: one file with a graph, weights where they were asked for, passes, and kernels compiled for some targets. A
// safetensors file whose tensors are the parts; manifest.json is one of them (docs/bundles.md). Free of torch.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_indirect.h"
#include "base/result.h"
#include "ir/dtype.h"
#include "pass/plan/kernel_file.h"
#include "wire/bundle.h"

namespace passnet::bundle {

/// The graph as it runs on one kind of processor.
struct Plan {
  std::string target;                                       // "cpu", "x86-64-v3", "sm_90"
  std::string processor;                                    // of "cpu" alone: this_processor() where it was compiled
  std::string model;                                        // model.py with passnet.fused at the sites of passes
  IndirectJson lists = IndirectJson::array();               // its launch lists (docs/protocol.md)
  std::vector<std::vector<pass::KernelFile>> kernels = {};  // by list and launch; objects are parts
};

struct Manifest {
  std::string graph;                 // its name
  std::string passnet, torch;        // versions that judged the passes and compiled the kernels
  std::vector<std::string> passes;   // those that are applied
  std::vector<std::string> weights;  // inputs whose values are parts "weights/NAME"
  std::vector<Plan> plans;
};

/// A named piece of a bundle. Texts and objects are uint8.
struct Part {
  std::string name;  // "graph/model.py", "weights/w_0", "kernels/SHA256.so"
  std::string_view bytes;
  ir::DType dtype = ir::DType::UInt8;
  std::vector<int64_t> shape = {};  // of a weight; a part of bytes has their number
};

inline constexpr std::string_view kModel = "graph/model.py";
inline constexpr std::string_view kWeights = "weights/";

struct Bundle {
  Manifest manifest;
  wire::TensorFile file;

  /// Null: it has no such part.
  const wire::Entry* find(std::string_view name) const;
  std::string_view bytes(const wire::Entry& part) const;
};

/// Writes the same bytes for the same content. Errors: Io; Unsupported: a weight of a dtype that safetensors lacks.
Result<void> write(const std::filesystem::path& path, const Manifest& manifest, std::vector<Part> parts);

/// Maps the file and compares every part with its SHA-256.
/// Errors: Io; BadInput at the file: it is no bundle, one of a newer version, or damaged.
Result<Bundle> read(const std::filesystem::path& path);

}  // namespace passnet::bundle
