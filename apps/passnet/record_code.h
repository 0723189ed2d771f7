// Exit code of a command that made records: the largest of theirs.
#pragma once

#include <algorithm>

#include "command.h"
#include "record/verdict.h"

namespace passnet::cli {

inline ExitCode exit_code_of(const record::RunRecord& record) {
  if (record::is_environment_failure(record)) return kResource;
  // A graph, a list or a file of a pass could not be read: nothing of the pass was judged.
  if (record.error_kind == "bad-input" && record.stage <= record::Stage::Build) return kBadInput;
  return record::judge(record).correct_at(record::kCorrectT) && !record::is_quarantined(record) ? kOk : kNotAllCorrect;
}

inline ExitCode exit_code_of(const std::vector<record::RunRecord>& records) {
  ExitCode worst = kOk;
  for (const record::RunRecord& record : records) worst = std::max(worst, exit_code_of(record));
  return worst;
}

}  // namespace passnet::cli
