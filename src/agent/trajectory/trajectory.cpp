#include "agent/trajectory/trajectory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json/json_fields.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

// Calls as R2E-Gym's parsers read them.
std::string action_of(const Message& answer) {
  std::string text;
  for (const ToolCall& call : answer.calls) {
    text += fmt::format("{}<function={}>\n", text.empty() ? "" : "\n", call.name);
    const Json arguments = try_parse_json(call.arguments);
    if (arguments.is_object()) {
      for (const auto& [name, value] : arguments.items())
        text += fmt::format("  <parameter={}>{}</parameter>\n", name, plain_text(value));
    } else {
      text += call.arguments + "\n";
    }
    text += "</function>";
  }
  return text;
}

Json step_json(const Step& step, double total_seconds) {
  std::string thought, action, observation;
  for (const Message& message : step.messages) {
    if (message.role == Role::Assistant) {
      thought = message.reasoning.empty() ? message.text : message.reasoning + "\n\n" + message.text;
      action = action_of(message);
    } else {
      observation += (observation.empty() ? "" : "\n\n") + message.text;
    }
  }
  Json info = Json::object();
  if (!step.evaluations.empty()) info["score"] = number_json(step.evaluations.back().outcome.score);
  return {{"step_idx", step.number - 1},
          {"thought", thought},
          {"action", action},
          {"observation", observation},
          {"done", step.done},
          {"info", std::move(info)},
          {"token_usage_prompt", step.spent.usage.input},
          {"token_usage_cached", step.spent.usage.cached},
          {"token_usage_completion", step.spent.usage.output},
          {"token_usage_reasoning", step.spent.usage.reasoning},
          {"token_usage_total", step.spent.tokens()},
          {"cost", step.spent.cost},
          {"llm_exec_time", step.spent.llm_seconds},
          {"env_exec_time", step.spent.tool_seconds},
          {"total_step_time", step.spent.seconds()},
          {"total_time_traj", total_seconds},
          {"step_count", step.number}};
}

std::string problem_of(const std::vector<Step>& steps) {
  if (steps.empty()) return "";
  for (const Message& message : steps.front().messages) {
    if (message.role == Role::User) return message.text;
  }
  return "";
}

}  // namespace

std::string patch_of(const std::map<std::string, std::string>& files) {
  std::string patch;
  for (const auto& [name, text] : files) {
    patch += fmt::format("diff --git a/{0} b/{0}\nnew file mode 100644\n", name);
    if (text.empty()) continue;
    std::vector<std::string_view> lines = split(text, '\n');
    const bool ends = text.ends_with('\n');
    if (ends) lines.pop_back();
    patch += fmt::format("--- /dev/null\n+++ b/{}\n@@ -0,0 +1,{} @@\n", name, lines.size());
    for (const std::string_view line : lines) patch += fmt::format("+{}\n", line);
    if (!ends) patch += "\\ No newline at end of file\n";
  }
  return patch;
}

Result<std::map<std::string, std::string>> files_of_patch(std::string_view patch) {
  std::map<std::string, std::string> files;
  std::string* file = nullptr;
  size_t left = 0;  // lines of the hunk
  uint32_t number = 0;
  for (const std::string_view line : split(patch, '\n')) {
    ++number;
    const auto wrong = [&](const char* expected) {
      return bad_input(fmt::format("a patch: expected {}, found {}", expected, quoted(line)),
                       SourceLoc{"output_patch", number, 1});
    };
    if (left > 0) {
      if (!line.starts_with('+')) return wrong("a line that is added: patches that make files are read, no others");
      *file += std::string(line.substr(1)) + "\n";
      --left;
      continue;
    }
    if (line.starts_with("diff --git ")) {
      const size_t name = line.rfind(" b/");
      if (name == std::string_view::npos) return wrong("the name of a file");
      file = &files[std::string(line.substr(name + 3))];
    } else if (line.starts_with("@@ ")) {
      constexpr std::string_view kNew = "@@ -0,0 +1";
      if (!line.starts_with(kNew) || file == nullptr) return wrong("a file that is new");
      const std::string_view rest = line.substr(kNew.size());
      // "+1" alone is a single line.
      const std::string count(rest.starts_with(',') ? rest.substr(1, rest.find(' ') - 1) : "1");
      left = static_cast<size_t>(std::strtoull(count.c_str(), nullptr, 10));
    } else if (line.starts_with("\\ No newline")) {
      if (file != nullptr && file->ends_with('\n')) file->pop_back();
    } else if (line.starts_with("deleted file") || line.starts_with("rename ")) {
      return wrong("a file that is new");
    }
  }
  if (left > 0) return bad_input(fmt::format("a patch: its last file lacks {} lines", left));
  return files;
}

Json trajectory_json(const AttemptFacts& facts, const std::vector<Step>& steps, const std::string& reason,
                     double reward, const std::string& output_patch, const std::string& error) {
  Json list = Json::array();
  Ledger spent;
  for (const Step& step : steps) {
    spent += step.spent;
    const bool is_answer = !step.messages.empty() && step.messages.front().role == Role::Assistant;
    if (is_answer) list.push_back(step_json(step, spent.seconds()));
  }
  const Evaluation* const best = best_of(steps);
  return {{"problem_statement", problem_of(steps)},
          {"docker_image", facts.sample},
          {"exp_name", fmt::format("{}/attempt_{}", facts.sample, facts.attempt)},
          {"agent_args",
           {{"llm_name", facts.model},
            {"api", facts.api},
            {"tools", facts.tools},
            {"temperature", facts.temperature},
            {"prompt_hash", facts.prompt_hash}}},
          {"env_args", {{"sample", facts.sample}}},
          {"max_steps", facts.max_steps},
          {"max_steps_absolute", facts.max_steps},
          {"max_token_limit", facts.token_limit},
          {"max_total_time", facts.time_limit_s},
          {"trajectory_steps", std::move(list)},
          {"exit_reason", reason},
          {"error", error},
          {"output_patch", output_patch},
          {"reward", number_json(reward)},
          {"best_evaluation", best == nullptr ? Json() : Json(best->name)},
          {"num_tokens_prompt", spent.usage.input},
          {"num_tokens_cached", spent.usage.cached},
          {"num_tokens_completion", spent.usage.output},
          {"num_tokens_total", spent.tokens()},
          {"total_llm_time", spent.llm_seconds},
          {"total_env_time", spent.tool_seconds},
          {"total_device_time", spent.device_seconds},
          {"cost", spent.cost}};
}

Result<void> check_trajectory(const Json& json) {
  if (json.is_object() && json.contains("trajectory_steps") && json["trajectory_steps"].is_array()) return {};
  return bad_input("a trajectory: expected an object with 'trajectory_steps'");
}

Result<std::string> render_trajectory(const Json& trajectory, int64_t max_tokens) {
  PASSNET_TRY_VOID(check_trajectory(trajectory));
  const auto text = [](const Json& json, const char* name) {
    return json.is_object() && json.contains(name) ? plain_text(json[name]) : std::string("-");
  };
  const auto number = [&](const Json& json, const char* name) {
    const bool is_number = json.is_object() && json.contains(name) && json[name].is_number();
    return is_number ? fmt::format("{:.3g}", json[name].get<double>()) : text(json, name);
  };
  std::string out =
      fmt::format("{}: {}, reward {}, {} tokens\n", text(trajectory, "exp_name"), text(trajectory, "exit_reason"),
                  number(trajectory, "reward"), text(trajectory, "num_tokens_total"));
  for (const Json& step : trajectory["trajectory_steps"]) {
    out += fmt::format("\n=== step {} ({} tokens, model {} s, tools {} s)\n", text(step, "step_count"),
                       text(step, "token_usage_total"), number(step, "llm_exec_time"), number(step, "env_exec_time"));
    for (const char* part : {"thought", "action", "observation"}) {
      const std::string what = text(step, part);
      if (!what.empty() && what != "-") out += fmt::format("--- {}\n{}\n", part, shorten_text(what, max_tokens));
    }
  }
  return out;
}

}  // namespace passnet::agent
