// What a model is told before its first step. The words stand in src/agent/prompts; the example comes from samples/, or
// from files.
#pragma once

#include <string>
#include <vector>

#include "agent/chat/conversation.h"
#include "agent/prompt/example.h"
#include "graphdir/sample.h"

namespace passnet::agent {

struct PromptFacts {
  bool on_gpu = false;
  int max_steps = 0;
  std::vector<ExampleText> examples = {};  // the first that does not give the task away stands for the shipped one
};

/// The system's message and the task's. Nothing of the sample's own passes is in it, the worked example is another one.
/// Errors: of its first graph, as load_graph_dir.
Result<Conversation> make_prompt(const graphdir::Sample& sample, const PromptFacts& facts);

/// What a model is told that answers once, with the files of its passes, and has no tools. Errors: as make_prompt().
Result<std::string> make_answer_prompt(const graphdir::Sample& sample, bool on_gpu);
/// The same as two messages, of which the first one says nothing of the sample but which example is not its own.
Result<Conversation> make_answer_messages(const graphdir::Sample& sample, bool on_gpu);

/// Tells an agent with an editor and a shell of its own that works at the sample in `directory`. Errors: as make_prompt().
Result<std::string> make_workspace_prompt(const graphdir::Sample& sample, bool on_gpu, const std::string& directory);

/// The names of its graphs, and the first one whole, with the types of its inputs. Errors: as make_prompt().
Result<std::string> describe_graphs(const graphdir::Sample& sample);

/// SHA-256 of the words and the examples: records tell which prompt was used.
std::string prompt_hash(const std::vector<ExampleText>& examples = {});

/// Puts values in the place of {{names}}. What a value holds is not looked at again.
std::string fill_in(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace passnet::agent
