// A sample of large graphs: passes are written and judged by parts, and together at the end.
#pragma once

#include <vector>

#include "author/write.h"
#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/sample.h"
#include "sample.h"

namespace passnet::cli {

/// Does what author_sample() does for graphs of which one is large. Each part (parts.h) is a sample of its own, in OUT/SAMPLE/parts, with
/// its results in OUT/SAMPLE/by_part. OUT/SAMPLE/pass_dir has the passes of finished parts at any time; those that stay at the end
/// make the whole faster too.
Result<Json> author_whole(const graphdir::Sample& sample, const std::vector<author::Example>& examples,
                          const AuthorSetup& setup, SharedInference& inference);

}  // namespace passnet::cli
