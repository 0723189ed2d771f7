// Steps as lines, and trajectories with upstream's names.
#include "agent/trajectory/trajectory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::agent {
namespace {

using testing::HasSubstr;

AttemptFacts facts() {
  AttemptFacts facts;
  facts.sample = "toy";
  facts.model = "m";
  facts.max_steps = 5;
  return facts;
}

std::vector<Step> steps() {
  Step prompt, first, last;
  prompt.messages = {{Role::System, "s"}, {Role::User, "problem"}};
  Message answer{Role::Assistant, "thought"}, result{Role::Tool, "seen"};
  answer.calls = {{"a", "file_editor", R"({"command": "view"})"}};
  result.call_id = "a";
  first.number = 1;
  first.messages = {answer, result};
  first.spent.usage = {100, 40, 10, 4};
  first.spent.llm_seconds = 2;
  first.spent.tool_seconds = 1;
  Outcome good{6, 6, 0, 0, 1.5}, better{6, 6, 0, 0, 1.7}, disturbed{6, 5, 0, 1, 9};
  first.evaluations = {{"step_1_1", "h", good}, {"step_1_2", "h", better}};
  last.number = 1;
  last.evaluations = {{"step_1_3", "h", disturbed}};
  return {prompt, first, last};
}

TEST(Completions, AreReadAsTheyWereWritten) {
  const AttemptFacts known = facts();
  std::string text;
  for (const Step& step : steps()) text += completion_line(step, text.empty() ? &known : nullptr) + "\n";
  const Result<Completions> read = completions_from_text("f", text);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->facts, known);
  ASSERT_EQ(read->steps.size(), 3u);
  EXPECT_EQ(conversation_of(read->steps), conversation_of(steps()));
  EXPECT_EQ(read->steps[1].spent.usage, steps()[1].spent.usage);
  EXPECT_EQ(read->steps[1].evaluations, steps()[1].evaluations);
  EXPECT_THAT(to_string(completions_from_text("f", text + "{}\n").error()),
              HasSubstr("f:4:1: error: step: field 'step' is missing"));
}

TEST(Best, IsWhatWasMeasuredAndBeatsDoingNothing) {
  EXPECT_EQ(best_of(steps())->name, "step_1_2");
  std::vector<Step> none = steps();
  none[1].evaluations.clear();
  EXPECT_EQ(best_of(none), nullptr);
}

TEST(Trajectory, HasUpstreamsNames) {
  const Json json = trajectory_json(facts(), steps(), exit_reason::kAgent, 1.7, "diff", "");
  EXPECT_EQ(json["problem_statement"], "problem");
  EXPECT_EQ(json["exit_reason"], "agent");
  EXPECT_EQ(json["reward"], 1.7);
  EXPECT_EQ(json["output_patch"], "diff");
  EXPECT_EQ(json["max_steps"], 5);
  ASSERT_EQ(json["trajectory_steps"].size(), 1u);
  const Json& step = json["trajectory_steps"][0];
  EXPECT_EQ(step["step_idx"], 0);
  EXPECT_EQ(step["thought"], "thought");
  EXPECT_EQ(step["action"], "<function=file_editor>\n  <parameter=command>view</parameter>\n</function>");
  EXPECT_EQ(step["observation"], "seen");
  EXPECT_EQ(step["token_usage_total"], 110);
  EXPECT_EQ(step["total_time_traj"], 3.0);
  const Result<std::string> shown = render_trajectory(json, 100);
  ASSERT_TRUE(shown);
  EXPECT_THAT(*shown, HasSubstr("=== step 1 (110 tokens, model 2 s, tools 1 s)\n--- thought\nthought\n"));
  EXPECT_FALSE(render_trajectory(Json::array(), 100));
}

TEST(Patch, IsReadAsItWasWritten) {
  const std::map<std::string, std::string> files = {
      {"pass_dir/a.py", "one\n\ntwo\n"}, {"pass_dir/b.cpp", "no end"}, {"pass_dir/c", ""}, {"pass_dir/d", "\n"}};
  EXPECT_EQ(*files_of_patch(patch_of(files)), files);
  EXPECT_TRUE(files_of_patch("")->empty());
  const auto refusal = [](const std::string& patch) { return to_string(files_of_patch(patch).error()); };
  EXPECT_EQ(refusal("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n"),
            "output_patch:4:1: error: a patch: expected a file that is new, found '@@ -1,2 +1,2 @@'");
  EXPECT_EQ(refusal("diff --git a/x b/x\n@@ -0,0 +1,3 @@\n+b"), "error: a patch: its last file lacks 2 lines");
}

}  // namespace
}  // namespace passnet::agent
