// passnet author --export: what was kept as worked examples, for prompts and for fine-tuning.
#pragma once

#include "author/write.h"
#include "sample.h"

namespace passnet::cli {

/// DIR/SAMPLE.md, and a line in DIR/lines/SAMPLE.jsonl, which gather_lines() puts together; neither where no pass stays.
/// report: of author_sample().
Result<void> export_sample(const graphdir::Sample& sample, const std::filesystem::path& pass_dir,
                           const author::Authored& authored, const Json& report, const AuthorSetup& setup);
/// DIR/examples.jsonl: a line for each of these samples that has one.
Result<void> gather_lines(const std::vector<graphdir::Sample>& samples, const std::filesystem::path& directory);

}  // namespace passnet::cli
