// Writes what a report shows beside the records: the graph before and after, its launches, the passes.
#pragma once

#include <filesystem>

#include "base/file/source_files.h"
#include "base/result.h"
#include "record/graph_texts.h"
#include "record/provenance.h"
#include "run/apply/passes.h"

namespace passnet::run {

/// `after` and `launches` of a rewritten graph; nothing when no site was replaced.
void add_rewritten(record::GraphTexts& texts, const Rewritten& rewritten);

/// Writes the texts of one graph into record::graph_texts_directory; those of an earlier evaluation that are empty now
/// go. Returns: the SHA-256 of each by name. Errors: Io.
Result<record::Provenance::Hashes> save_graph_texts(const std::filesystem::path& sample_out, const std::string& graph,
                                                    const record::GraphTexts& texts);

/// Writes these passes (Name.py), with their kernels and what they import, into record::passes_directory, which holds
/// nothing else afterwards. Of two of one name the first is written; what cannot be read is left out.
/// kernel: ".cpp" or ".cu". Errors: Io.
Result<void> save_passes(const std::filesystem::path& sample_out, const SourceFiles& files,
                         const std::vector<std::filesystem::path>& passes, const char* kernel);

}  // namespace passnet::run
