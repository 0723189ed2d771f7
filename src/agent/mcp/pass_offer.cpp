#include "agent/mcp/pass_offer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "agent/feedback/feedback.h"
#include "agent/prompt/prompt.h"
#include "agent/prompt/texts.h"
#include "base/file/paths.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

/// One task with its workspace. Calls at it are made one after the other.
struct OfferedTask {
  graphdir::Sample sample;
  Workspace workspace;
  EditHistory edits;
  std::string card;
  int calls = 0;
  std::mutex mutex;
};

struct Offered {
  PassOfferSetup setup;
  std::vector<std::unique_ptr<OfferedTask>> tasks;
  std::vector<Tool> tools;

  Result<OfferedTask*> find(const std::string& name) const {
    if (name.empty() && tasks.size() == 1) return tasks.front().get();
    std::vector<std::string> names;
    for (const auto& task : tasks) {
      if (task->sample.name == name) return task.get();
      names.push_back(task->sample.name);
    }
    return bad_input(fmt::format("no task {}, expected 'task' to be one of: {}", quoted(name), join(names, ", ")));
  }
};

/// The task that is named; "" where none is.
std::string task_in(const Json& arguments) { return plain_text(arguments.value("task", Json(""))); }

std::string task_card(const graphdir::Sample& sample, const Workspace& workspace, const std::string& prompt) {
  return fmt::format("# {}\n\nFiles: {} (graphs to be read; passes go into {})\n\n{}\n", sample.name,
                     workspace.root().string(), workspace.pass_dir().string(), prompt);
}

Result<std::unique_ptr<OfferedTask>> open_task(const graphdir::Sample& sample, const PassOfferSetup& setup) {
  const fs::path root = absolute_path(setup.directory / sample.name);
  const Workspace workspace(root / "workspace");
  if (!path_exists(workspace.pass_dir())) PASSNET_TRY_VOID(make_workspace(sample, workspace.root()));
  // Nothing of what was done before is taken back.
  PASSNET_TRY(EditHistory edits, EditHistory::open(root / "edits.jsonl", workspace, std::numeric_limits<int>::max()));
  PASSNET_TRY(const Conversation prompt, make_prompt(sample, {setup.on_gpu, 0}));
  std::string card = task_card(sample, workspace, prompt.back().text);
  return std::unique_ptr<OfferedTask>(new OfferedTask{sample, workspace, std::move(edits), std::move(card), 0, {}});
}

std::string facts_of(const Records& records) { return records.empty() ? "" : dump(feedback_facts(records)); }

/// What is submitted is measured again before it counts.
Result<McpResult> measured_again(const Offered& offered, const graphdir::Sample& task, const ToolContext& context,
                                 const std::function<bool()>& is_spent) {
  PASSNET_TRY(const Records records, offered.setup.evaluate(task, false, true, is_spent));
  return McpResult{"Measured again in fresh processes.\n\n" + render_feedback(records, context.feedback_tokens), false,
                   facts_of(records)};
}

Result<McpResult> call(const Offered& offered, const std::string& tool, Json arguments,
                       const std::atomic<bool>* cancelled) {
  std::function<bool()> is_spent;
  if (cancelled != nullptr) is_spent = [cancelled] { return cancelled->load(); };
  PASSNET_TRY(OfferedTask* const task, offered.find(task_in(arguments)));
  arguments.erase("task");
  const std::lock_guard lock(task->mutex);
  const graphdir::Sample evaluated = task_of(task->sample, task->workspace);
  ToolContext context{task->workspace, task->edits, evaluated,
                      [&](bool profile) { return offered.setup.evaluate(evaluated, profile, false, is_spent); }};
  context.step = ++task->calls;
  context.allow_library = offered.setup.allow_library;
  context.ends = offered.setup.ends;
  if (cancelled != nullptr) context.ends.interrupted = cancelled;
  PASSNET_TRY(const ToolResult result, call_tool(offered.tools, {"", tool, dump(arguments)}, context));
  if (result.submitted) return measured_again(offered, evaluated, context, is_spent);
  return McpResult{result.text, result.is_error, facts_of(result.records)};
}

/// The tool's own schema with the task beside its arguments; needed where there are several.
std::string with_task(const std::string& schema, const Offered& offered) {
  Json json = try_parse_json(schema);
  Json names = Json::array();
  for (const auto& task : offered.tasks) names.push_back(task->sample.name);
  json["properties"]["task"] = {{"type", "string"}, {"description", "the task that is worked at"}, {"enum", names}};
  if (names.size() > 1) json["required"].push_back("task");
  return dump(json);
}

std::vector<McpTool> tools_of(const std::shared_ptr<Offered>& offered) {
  std::vector<McpTool> tools;
  for (const Tool& tool : offered->tools) {
    tools.push_back({tool.spec.name, tool.spec.description, with_task(tool.spec.schema, *offered),
                     [offered, name = tool.spec.name](const Json& arguments, const std::atomic<bool>* cancelled) {
                       return call(*offered, name, arguments, cancelled);
                     }});
  }
  return tools;
}

McpResource text_resource(std::string uri, std::string name, std::string description, std::string mime_type,
                          std::string text) {
  return {std::move(uri), std::move(name), std::move(description), std::move(mime_type),
          [text = std::move(text)] { return Result<std::string>(text); }};
}

std::vector<McpResource> resources_of(const Offered& offered) {
  std::vector<McpResource> resources;
  for (const auto& task : offered.tasks) {
    resources.push_back(text_resource("passnet://tasks/" + task->sample.name, task->sample.name,
                                      "the task: its graphs, and where its files are", "text/markdown", task->card));
  }
  for (const texts::Page& page : texts::kPages) {
    resources.push_back(text_resource(fmt::format("passnet://docs/{}", page.name), page.name, page.description,
                                      "text/markdown", page.text));
  }
  for (const texts::Example& example : texts::kExamples) {
    if (offered.find(example.sample)) continue;  // it is the answer
    for (const auto& [ending, text] : {std::pair{"py", example.plan}, {"cpp", example.cpu}, {"cu", example.cuda}}) {
      const std::string name = fmt::format("{}.{}", example.pass, ending);
      resources.push_back(text_resource(fmt::format("passnet://samples/{}/{}", example.sample, name), name,
                                        fmt::format("a file of the pass for {}", example.sample), "text/plain", text));
    }
  }
  return resources;
}

McpPrompt write_pass(const std::shared_ptr<Offered>& offered) {
  return {"write_pass",
          "write a pass for a task, with the tools of this server",
          {{"task", "its name", offered->tasks.size() > 1}},
          [offered](const Json& arguments) -> Result<std::string> {
            PASSNET_TRY(const OfferedTask* const task, offered->find(task_in(arguments)));
            PASSNET_TRY(const Conversation prompt, make_prompt(task->sample, {offered->setup.on_gpu, 0}));
            return fmt::format("{}\n\n{}", prompt.front().text, task->card);
          }};
}

constexpr const char* kInstructions =
    "PassNet evaluates compiler passes: a pattern to find in a graph and a kernel to put in its place. Read a task "
    "(passnet://tasks/NAME) and passnet://docs/passes.md, write the pass into the task's pass_dir with file_editor or "
    "your own editor, then pass_match, pass_evaluator and pass_explain; submit measures it once more. A score of 1 is "
    "PyTorch eager; what is wrong or slower is worth less than no pass.";

}  // namespace

Result<McpOffer> offer_passes(PassOfferSetup setup) {
  auto offered = std::make_shared<Offered>();
  for (const graphdir::Sample& sample : setup.samples) {
    PASSNET_TRY(std::unique_ptr<OfferedTask> task, open_task(sample, setup));
    offered->tasks.push_back(std::move(task));
  }
  offered->tools = pass_tools();
  offered->setup = std::move(setup);
  return McpOffer{"passnet",         offered->setup.version, kInstructions,
                  tools_of(offered), resources_of(*offered), {write_pass(offered)}};
}

}  // namespace passnet::agent
