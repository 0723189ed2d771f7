// The configuration of upstream's pass manager, as its entry.sh hands it over, read into options of `passnet eval`.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "pass/selection.h"

namespace passnet::cli {

struct UpstreamConfig {
  pass::Selection selection;           // input_pass_rule_dir and both limits
  std::filesystem::path pass_dir;      // output_pass_rule_dir; empty: not said
  std::filesystem::path match_result;  // pass_match_result_file_path; empty: not said
};

/// text: a JSON object, or one in base64. A directory of given passes that does not exist gives none, as upstream.
/// Errors: BadInput: neither, an unknown key (with the nearest), a value of another type.
Result<UpstreamConfig> parse_upstream_config(const std::string& text);

}  // namespace passnet::cli
