// A task that was solved without a model, told as a model would answer it: for prompts, and for fine-tuning.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::agent {

struct WorkedPass {
  std::string name;
  std::vector<std::string> steps;  // sentences: what is fused and why, what is stored, which schedule
  std::string outcome;             // "kept: 1.84x over 6 graphs"
};

struct WorkedExample {
  graphdir::Sample sample;
  bool on_gpu = false;
  std::vector<WorkedPass> passes;
  std::map<std::string, std::string> files;  // of the pass_dir, by name
  std::string outcome;                       // "score 1.42 on cpu", "not measured"
};

/// Markdown that begins with kExampleHeading (agent/prompt/example.h). Errors: as describe_graphs().
Result<std::string> example_markdown(const WorkedExample& example);

/// A line of JSON, without its end, in TrainingFormat::OpenAi: what a model is told that answers once, and the answer.
/// Errors: as make_answer_messages().
Result<std::string> example_line(const WorkedExample& example);

}  // namespace passnet::agent
