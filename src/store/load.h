// Runs as digests: their files side by side on several threads, each with its chain checked.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.h"
#include "store/digest.h"

namespace passnet::store {

/// Takes the digests of a records.jsonl. Errors end the reading.
using UseDigests = std::function<Result<void>(const std::filesystem::path& file, std::vector<Digest> digests)>;

/// The files of a run in order of path; `use` is called by the calling thread alone.
/// Errors: those of `use`; as run::read_run.
Result<void> read_digests(const std::filesystem::path& run, size_t threads, const UseDigests& use);

}  // namespace passnet::store
