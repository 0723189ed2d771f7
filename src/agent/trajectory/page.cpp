#include "agent/trajectory/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/feedback/feedback.h"
#include "agent/trajectory/trajectory.h"
#include "base/text/strings.h"
#include "report/html_style.h"
#include "report/text.h"

namespace passnet::agent {

namespace {

std::string text_in(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) ? plain_text(json[name]) : "";
}

/// "what", then the text as it is.
std::string block(const char* what, const std::string& text, int64_t max_tokens) {
  if (text.empty()) return "";
  return fmt::format("<h4>{}</h4>\n<pre>{}</pre>\n", what, report::escape_html(shorten_text(text, max_tokens)));
}

/// The names of what is called: "<function=NAME>" in the action.
std::string calls_in(const std::string& action) {
  constexpr std::string_view kBegin = "<function=";
  std::string calls;
  for (size_t at = action.find(kBegin); at != std::string::npos; at = action.find(kBegin, at + 1)) {
    const size_t begin = at + kBegin.size();
    calls += (calls.empty() ? "" : ", ") + action.substr(begin, action.find('>', begin) - begin);
  }
  return calls.empty() ? "no call" : calls;
}

std::string render_step(const Json& step, int64_t max_tokens) {
  const std::string action = text_in(step, "action"), observation = text_in(step, "observation");
  // What an evaluation came to stands at the beginning of a line of what the tool said.
  std::string score;
  for (const std::string_view line : split(observation, '\n')) {
    if (line.starts_with("score ")) score = fmt::format(": {}", line);
  }
  return fmt::format(
             "<details><summary>{}. {}{} <span class=\"quiet\">{} tokens, model {} s, tools {} s</span></summary>\n",
             report::escape_html(text_in(step, "step_count")), report::escape_html(calls_in(action)),
             report::escape_html(score), report::escape_html(text_in(step, "token_usage_total")),
             report::escape_html(text_in(step, "llm_exec_time")), report::escape_html(text_in(step, "env_exec_time"))) +
         block("thought", text_in(step, "thought"), max_tokens) + block("action", action, max_tokens) +
         block("observation", observation, max_tokens) + "</details>\n";
}

Result<std::string> render_one(const Json& trajectory, int64_t max_tokens) {
  PASSNET_TRY_VOID(check_trajectory(trajectory));
  const Json& steps = trajectory["trajectory_steps"];
  std::string out = fmt::format(
      "<h2>{}</h2>\n<p>reward {}, ended by {}, {} steps, {} tokens, {}</p>\n",
      report::escape_html(text_in(trajectory, "exp_name")), report::escape_html(text_in(trajectory, "reward")),
      report::escape_html(text_in(trajectory, "exit_reason")), steps.size(),
      report::escape_html(text_in(trajectory, "num_tokens_total")),
      report::escape_html(text_in(trajectory.value("agent_args", Json::object()), "llm_name")));
  out += "<details><summary>the task</summary>\n" +
         block("problem statement", text_in(trajectory, "problem_statement"), max_tokens) + "</details>\n";
  for (const Json& step : steps) out += render_step(step, max_tokens);
  return out + block("the passes that count", text_in(trajectory, "output_patch"), max_tokens);
}

}  // namespace

Result<std::string> render_trajectory_page(const std::vector<Json>& trajectories, int64_t max_tokens) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>PassNet: trajectories</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>Trajectories</h1>\n",
      report::html_style());
  for (const Json& one : trajectories) {
    PASSNET_TRY(const std::string section, render_one(one, max_tokens));
    out += section;
  }
  return out + "</body>\n</html>\n";
}

}  // namespace passnet::agent
