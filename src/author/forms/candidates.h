// The passes that were written for a sample, on disk and as the judge takes them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "author/judge/judge.h"
#include "author/write.h"
#include "base/result.h"

namespace passnet::author {

/// Writes the files of all passes and their list, each as one that may be kept. authored: must outlive what is returned.
/// declined: by pass, what of its graphs it declines from the beginning; empty: none does. Errors: as pass::write_passes.
Result<std::vector<Candidate>> write_candidates(const std::filesystem::path& pass_dir, const Authored& authored,
                                                const std::vector<std::map<std::string, std::string>>& declined = {});

}  // namespace passnet::author
