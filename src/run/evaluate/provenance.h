// What an evaluation of a graph is made of: the files are hashed as they were read, the options resolved, the versions asked
// for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "pass/kernel/build.h"
#include "record/provenance.h"
#include "run/evaluate/evaluate.h"
#include "run/worker/requests.h"

namespace passnet::run {

/// The list that orders the passes of a sample and each Name.py it names; only the list when that cannot be read as
/// one. Of those that are given the same, as "given/NAME".
record::Provenance::Hashes hash_passes(const SourceFiles& files, const graphdir::Sample& sample,
                                       const pass::Selection& selection);
/// Name.cpp of these passes, Name.cu for a GPU.
record::Provenance::Hashes hash_kernels(const SourceFiles& files, const graphdir::Sample& sample,
                                        const pass::Selection& selection, bool on_gpu);
/// What is read of a graph directory: model.py and the metas that its inputs are replayed from.
record::Provenance::Hashes hash_graph(const SourceFiles& files, const std::filesystem::path& directory);

/// The compiled kernels by launch: "0.1 passnet_run_NAME" is the second of the first launch list.
record::Provenance::Hashes hash_objects(const std::vector<std::vector<pass::BuiltKernel>>& kernels);

/// What a record's options say of which passes apply.
pass::Selection selection_of(const record::RunOptions& options);

/// The options as they will be in force.
record::RunOptions resolve_options(const EvaluateOptions& options);
/// EvaluateOptions that resolve to the same, for a record's device ("cpu", "cuda:1"). Errors: BadInput (no such
/// device).
Result<EvaluateOptions> options_of(const record::RunOptions& options, const std::string& device);

/// The version of PyTorch in Python, where that takes part.
inline constexpr const char* kPythonVersion = "torch in Python";
/// What makes packages, where that takes part.
inline constexpr const char* kAotInductorVersion = "AOTInductor";
/// hello: of a worker started with these options.
std::map<std::string, std::string> versions_of(const EvaluateOptions& options, const Hello& hello);
/// The same, asked of a worker that is started for it. Errors: Resource, Io (it cannot be started).
Result<std::map<std::string, std::string>> ask_versions(const EvaluateOptions& options);

/// All of it for graph `index` of the sample. files: of its passes; graph_files: of that graph.
record::Provenance provenance_of(const SourceFiles& files, const SourceFiles& graph_files,
                                 const graphdir::Sample& sample, size_t index, const EvaluateOptions& options,
                                 const std::map<std::string, std::string>& versions);

}  // namespace passnet::run
