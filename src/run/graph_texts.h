// Writes what a report shows beside the records: the graph before and after, its launches, the passes.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "record/graph_texts.h"
#include "run/passes.h"

namespace passnet::run {

/// `after` and `launches` of a rewritten graph; nothing when no site was replaced.
void add_rewritten(record::GraphTexts& texts, const Rewritten& rewritten);

/// Writes the texts of one graph into record::graph_texts_directory; those of an earlier evaluation that are empty now
/// go.
/// Errors: Io.
Result<void> save_graph_texts(const std::filesystem::path& sample_out, const std::string& graph,
                              const record::GraphTexts& texts);

/// Copies the passes that are listed in pass_dir, with their kernels, into record::passes_directory, which holds
/// nothing else afterwards. A pass_dir that cannot be read leaves it empty: the records say what is wrong with it.
/// Errors: Io.
Result<void> save_passes(const std::filesystem::path& sample_out, const std::filesystem::path& pass_dir);

}  // namespace passnet::run
