// What a model may call: a name, a schema and a function from arguments to text. What a model does wrong is a result
// that says so, never an error of ours.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/chat/conversation.h"
#include "agent/tools/edits.h"
#include "agent/tools/workspace.h"
#include "base/budget.h"
#include "base/json/json.h"
#include "graphdir/sample.h"
#include "record/record.h"

namespace passnet::agent {

using Records = std::vector<record::RunRecord>;

/// What tools work on.
struct ToolContext {
  const Workspace& workspace;
  EditHistory& edits;
  const graphdir::Sample& task;  // task_of(): the passes that stand in the workspace on the task's own graphs
  /// Errors: Resource: the machine's, or interrupted. What is wrong with a pass stands in the records.
  std::function<Result<Records>(bool profile)> evaluate;
  int step = 0;
  bool allow_library = false;  // plans may call PyTorch
  int64_t feedback_tokens = 3000;
  Ends ends = {std::chrono::seconds(10)};  // of pass_match
};

struct ToolResult {
  std::string text;
  bool is_error = false;
  Records records = {};    // of an evaluation
  bool submitted = false;  // the model is done
};

struct Tool {
  ToolSpec spec;
  /// Errors: not the model's: Io, Resource.
  std::function<Result<ToolResult>(const Json& arguments, ToolContext& context)> run;
};

Tool file_editor();
Tool pass_evaluator();
Tool pass_match();
Tool pass_explain();
Tool graph_info();
Tool submit();
/// All of them.
std::vector<Tool> pass_tools();
std::vector<ToolSpec> specs_of(const std::vector<Tool>& tools);

/// Calls the tool of that name; names and arguments as other agents have them are taken too. Text that is no JSON,
/// a name that nothing has, arguments that do not fit: results with is_error. Errors: as Tool::run.
Result<ToolResult> call_tool(const std::vector<Tool>& tools, const ToolCall& call, ToolContext& context);

/// An error as a model reads it.
ToolResult refused(const Error& error);

}  // namespace passnet::agent
