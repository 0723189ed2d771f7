// Tensors of workers as files that Python reads: safetensors.
#pragma once

#include <filesystem>
#include <initializer_list>

#include "base/result.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// The tensors of several bundles, by their names, in one file. Errors: Io, Unsupported (a dtype that the format
/// lacks).
Result<void> save_bundles(const std::filesystem::path& path, std::initializer_list<const Bundle*> bundles);

/// Where the tensors of a graph go below `directory`: DIRECTORY/SAMPLE/GRAPH. Errors: BadInput when a name leads
/// elsewhere.
Result<std::filesystem::path> tensor_directory(const std::filesystem::path& directory, const std::string& sample,
                                               const std::string& graph);

}  // namespace passnet::run
