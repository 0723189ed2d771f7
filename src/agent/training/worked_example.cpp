#include "agent/training/worked_example.h"

#include <fmt/format.h>

#include "agent/prompt/example.h"
#include "agent/prompt/prompt.h"
#include "agent/reward/answer_files.h"
#include "agent/training/export.h"
#include "base/text/visible.h"

namespace passnet::agent {

namespace {

std::string steps_text(const WorkedExample& example) {
  std::string text;
  for (const WorkedPass& pass : example.passes) {
    text += fmt::format("Pass `{}`:\n\n", pass.name);
    for (size_t i = 0; i < pass.steps.size(); ++i) text += fmt::format("{}. {}\n", i + 1, pass.steps[i]);
    text += "\n";
  }
  return text;
}

}  // namespace

Result<std::string> example_markdown(const WorkedExample& example) {
  PASSNET_TRY(const std::string graphs, describe_graphs(example.sample));
  std::string outcomes;
  for (const WorkedPass& pass : example.passes) outcomes += fmt::format("- `{}`: {}\n", pass.name, pass.outcome);
  return fmt::format(
      "{}{}\n\n{}\n\n## Why it is written so\n\n{}## Files of `pass_dir/`\n\n{}\n## What was measured\n\n{}- {}\n",
      kExampleHeading, visible_line(example.sample.name), graphs, steps_text(example), answer_with(example.files),
      outcomes, example.outcome);
}

Result<std::string> example_line(const WorkedExample& example) {
  TrainingAttempt attempt;
  // No tool is told of: the answer is text.
  attempt.facts.tools = "text";
  PASSNET_TRY(attempt.conversation, make_answer_messages(example.sample, example.on_gpu));
  attempt.conversation.push_back({Role::Assistant, steps_text(example) + answer_with(example.files)});
  return training_line(attempt, {}, TrainingFormat::OpenAi);
}

}  // namespace passnet::agent
