// What an evaluation of a graph would be made of now: the files are hashed, the options resolved, the versions asked for.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "bench/provenance.h"
#include "fx/sample.h"
#include "run/evaluate.h"
#include "run/session.h"

namespace passnet::run {

/// The list that orders the passes of a sample and each Name.py it names; only the list when that cannot be read as one.
bench::Provenance::Hashes hash_passes(const fx::Sample& sample);
/// Name.cpp of these passes, Name.cu for a GPU.
bench::Provenance::Hashes hash_kernels(const fx::Sample& sample, bool on_gpu);
/// What is read of a graph directory: model.py and the metas that its inputs are replayed from.
bench::Provenance::Hashes hash_graph(const std::filesystem::path& directory);

/// The options as they will be in force.
bench::RunOptions resolve_options(const EvaluateOptions& options);
/// EvaluateOptions that resolve to the same, for a record's device ("cpu", "cuda:1"). Errors: BadInput (no such device).
Result<EvaluateOptions> options_of(const bench::RunOptions& options, const std::string& device);

/// hello: of a worker started with these options.
std::map<std::string, std::string> versions_of(const EvaluateOptions& options, const Hello& hello);
/// The same, asked of a worker that is started for it. Errors: Resource, Io (it cannot be started).
Result<std::map<std::string, std::string>> ask_versions(const EvaluateOptions& options);

/// All of it for graph `index` of the sample.
bench::Provenance provenance_of(const fx::Sample& sample, size_t index, const EvaluateOptions& options,
                                const std::map<std::string, std::string>& versions);

}  // namespace passnet::run
