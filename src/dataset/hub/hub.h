// A dataset as the Hugging Face Hub shows it: a row of JSON per graph, a card, Croissant metadata, and a recipe for Parquet.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "graphdir/graph_tree.h"

namespace passnet::dataset {

struct HubOptions {
  std::string name;  // of the repository, "USER/NAME"
  graphdir::TreeOptions tree = {};
};

struct HubReport {
  std::map<std::string, size_t> splits;    // graphs by split: "train", "eval"
  std::map<std::string, size_t> licences;  // graphs by licence; "unknown" where the graph does not say
};

/// Writes the samples of dataset/lists/{train,eval}.txt below `out`: data/SPLIT.jsonl, README.md (the card), croissant.json,
/// parquet.sql. Equal datasets give equal bytes.
/// out:      must be empty or not exist.
/// counted:  called after each sample, with its path.
/// Errors:   BadInput: `name` is none of the Hub, `out` is not empty, a list names what is not there or nothing; of samples, as
///           load_sample; Io; Resource: interrupted.
Result<HubReport> write_hub(const std::filesystem::path& dataset, const std::filesystem::path& out,
                            const HubOptions& options, const std::function<void(const std::string& path)>& counted);

}  // namespace passnet::dataset
