// The passes that a sample is evaluated with: loaded, limited and in order.
#pragma once

#include <vector>

#include "graphdir/sample.h"
#include "pass/selection.h"
#include "pass/source.h"
#include "record/record.h"

namespace passnet::run {

struct SelectedPasses {
  std::vector<pass::Pass> passes;            // in the order in which they apply
  std::vector<record::SurplusPass> surplus;  // of the sample's own, beyond a limit; in the order of their list
};

/// The files of the sample, and of the passes that are given beside its own; none has been read. follow_links: SourceFiles.
SourceFiles sources_of(const graphdir::Sample& sample, const pass::Selection& selection, bool follow_links = false);

/// Of the sample's own passes those stay whose function is among the first function_limit distinct ones of the list, and
/// of these whose pattern is among the first pattern_limit distinct ones. Functions are one when they stand at the same
/// place of the same file, patterns when identity_hash is equal. A given pass stays where the sample's own of its name
/// is surplus.
/// files:    that all of it is read from.
/// Errors:   BadInput: no pass_dir and none given, or no pass left; as list_selected and load_pass.
Result<SelectedPasses> select_passes(const SourceFiles& files, const graphdir::Sample& sample,
                                     const pass::Selection& selection, const pass::LoadOptions& options = {});

/// The files of the passes in the order in which they apply; for who does without reading them, and so without limits.
/// Errors:   as select_passes, but for what is in a file.
Result<std::vector<std::filesystem::path>> files_to_apply(const SourceFiles& files, const graphdir::Sample& sample,
                                                          const pass::Selection& selection);
/// Whether a limit is set, which only the text of passes can be held against.
bool has_limits(const pass::Selection& selection);

/// The files of all passes that are listed, those beyond a limit too; none where the lists cannot be read.
std::vector<std::filesystem::path> listed_files(const SourceFiles& files, const graphdir::Sample& sample,
                                                const pass::Selection& selection);

}  // namespace passnet::run
