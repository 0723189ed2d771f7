// Attempts with a model and an evaluator that are functions: limits, what counts, and going on.
#include "agent/attempt/attempt.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/attempt/context.h"
#include "agent/prompt/prompt.h"
#include "agent/run/pass_at_k.h"
#include "agent/trajectory/trajectory.h"
#include "base/file/file.h"
#include "fx/print.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::agent {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Answer calling(std::vector<ToolCall> calls) {
  Answer answer;
  answer.message.role = Role::Assistant;
  answer.message.calls = std::move(calls);
  answer.usage = {100, 0, 10, 0};
  return answer;
}

ToolCall writing(const std::string& text) {
  return {"w", "file_editor", Json{{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", text}}.dump()};
}
const ToolCall kEvaluate{"e", "pass_evaluator", "{}"};
const ToolCall kList{
    "l", "file_editor",
    R"({"command": "create", "path": "pass_dir/sorted_output_pass_rule_names.json", "file_text": "[\"a\"]"})"};
const ToolCall kSubmit{"s", "submit", "{}"};

// A record whose ratio is so much.
Records records_of(double ratio) {
  record::RunRecord one;
  one.sample = "toy";
  one.graph = "g";
  one.stage = record::Stage::Done;
  one.passes = {{"a", 1, 0, ""}};
  one.outputs_counted = true;
  one.expected_outputs = one.found_outputs = 1;
  one.outputs = {record::OutputCheck{"float32", "float32", {2}, {2}, true, -10}};
  one.reference.trials_us.assign(40, 100);
  one.candidate.trials_us.assign(40, 100 / ratio);
  return {one};
}

// Answers by the turn; what is written is worth what its text says.
struct Fixture {
  ScratchDirectory scratch;
  graphdir::Sample sample = *graphdir::load_sample(tests::source_dir() / "samples" / "phi3_swiglu");
  std::vector<Result<Answer>> answers;
  std::vector<Conversation> asked;
  std::atomic<bool> interrupted = false;
  int evaluations = 0;
  AttemptFacts facts;
  Price price;

  Fixture() { facts.max_steps = 10; }

  Result<AttemptResult> run() {
    AttemptServices services;
    services.model = [this](const Conversation& conversation, const std::vector<ToolSpec>&) -> Result<Answer> {
      asked.push_back(conversation);
      size_t turn = 0;
      for (const Message& message : conversation) turn += message.role == Role::Assistant ? 1 : 0;
      return answers.at(std::min(turn, answers.size() - 1));
    };
    services.evaluate = [this](const graphdir::Sample& task, bool) -> Result<Evaluated> {
      ++evaluations;
      return Evaluated{records_of(std::stod(read_file(task.pass_dir / "a.py", FileKind::Lines).value_or("1"))), 0.5};
    };
    services.interrupted = &interrupted;
    const AttemptSetup setup{
        sample, scratch.path / "attempt", facts, {{Role::System, "s"}, {Role::User, "task"}}, price};
    return run_attempt(setup, services);
  }
  Json trajectory() const {
    return try_parse_json(*read_file(scratch.path / "attempt" / kTrajectoryFile, FileKind::Lines));
  }
};

TEST(Attempt, KeepsItsBestEvaluation) {
  Fixture fixture;
  fixture.answers = {calling({writing("1.5"), kEvaluate}), calling({writing("3"), kEvaluate}),
                     calling({writing("0.5"), kEvaluate}), calling({kSubmit, kEvaluate})};
  const auto result = fixture.run();
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(result->exit_reason, exit_reason::kAgent);
  EXPECT_GT(result->reward(), 1.9);
  EXPECT_TRUE(result->succeeded());
  EXPECT_EQ(result->best->name, "step_2_1");
  EXPECT_EQ(fixture.evaluations, 3);
  EXPECT_EQ(result->spent.device_seconds, 1.5);
  EXPECT_EQ(fixture.trajectory()["total_device_time"], 1.5);
  EXPECT_EQ(*files_of_patch(fixture.trajectory()["output_patch"].get<std::string>()),
            (std::map<std::string, std::string>{{"pass_dir/a.py", "3"}}));
  EXPECT_THAT(fixture.trajectory()["trajectory_steps"][3]["observation"].get<std::string>(),
              HasSubstr("the attempt was submitted before"));
}

TEST(Attempt, IsWorthOneWithoutAPass) {
  Fixture fixture;
  fixture.answers = {calling({kSubmit})};
  const auto result = fixture.run();
  EXPECT_EQ(result->reward(), 1);
  EXPECT_FALSE(result->succeeded());
  EXPECT_EQ(fixture.evaluations, 0);
}

TEST(Attempt, EvaluatesWhatStandsAtTheEnd) {
  Fixture fixture;
  fixture.answers = {calling({kList, writing("1.5"), kEvaluate}), calling({writing("2")}), calling({kSubmit})};
  EXPECT_GT(fixture.run()->reward(), 1.6);
  EXPECT_EQ(fixture.evaluations, 2);
}

TEST(Attempt, EndsForAReason) {
  const auto reason_of = [](std::vector<Result<Answer>> answers, auto&& limit) {
    Fixture fixture;
    fixture.answers = std::move(answers);
    limit(fixture);
    const auto result = fixture.run();
    return result ? result->exit_reason : to_string(result.error());
  };
  const auto nothing = [](Fixture&) {};
  EXPECT_EQ(reason_of({calling({kEvaluate})}, nothing), "max_step_limit");
  EXPECT_EQ(reason_of({calling({})}, nothing), "no_tool_call");
  EXPECT_EQ(reason_of({resource_error("no")}, nothing), "llm_query_error");
  EXPECT_EQ(reason_of({resource_error("no").with_failure("context")}, nothing), "token_limit");
  EXPECT_EQ(reason_of({calling({kEvaluate})}, [](Fixture& one) { one.facts.token_limit = 1; }), "token_limit");
  EXPECT_EQ(reason_of({calling({kEvaluate})}, [](Fixture& one) { one.facts.cost_limit = 1, one.price.input = 5000; }),
            "cost_limit");
  EXPECT_EQ(reason_of({calling({kEvaluate})}, [](Fixture& one) { one.facts.time_limit_s = 1e-12; }), "traj_time_limit");
  EXPECT_EQ(reason_of({calling({kEvaluate})}, [](Fixture& one) { one.interrupted = true; }), "interrupted");
}

TEST(Attempt, GoesOnWhereItsFileWasCut) {
  Fixture whole;
  whole.answers = {calling({writing("1.5"), kEvaluate}), calling({writing("2")}), calling({kEvaluate}),
                   calling({kSubmit})};
  ASSERT_TRUE(whole.run());
  const std::string text = *read_file(whole.scratch.path / "attempt" / kCompletionsFile, FileKind::Lines);
  // Cut anywhere, lines are kept whole, and the rest is made again as it was.
  for (size_t cut = 0; cut <= text.size(); cut += text.size() / 23) {
    Fixture fixture;
    fixture.answers = whole.answers;
    ASSERT_TRUE(fixture.run());
    const fs::path file = fixture.scratch.path / "attempt" / kCompletionsFile;
    ASSERT_TRUE(write_file(file, read_file(file, FileKind::Lines)->substr(0, cut)));
    const auto result = fixture.run();
    ASSERT_TRUE(result) << cut << ": " << to_string(result.error());
    EXPECT_EQ(result->exit_reason, exit_reason::kAgent);
    EXPECT_EQ(result->best->name, "step_3_1") << cut;
    EXPECT_EQ(fixture.trajectory()["trajectory_steps"].size(), 4u);
    EXPECT_EQ(fixture.asked.back(), whole.asked.back());
    EXPECT_EQ(*read_file(fixture.scratch.path / "attempt" / "workspace" / "pass_dir" / "a.py", FileKind::Lines), "2");
  }
}

TEST(Attempt, ThatHasEndedAsksNothing) {
  Fixture fixture;
  fixture.answers = {calling({writing("2"), kEvaluate}), calling({kSubmit})};
  const double reward = fixture.run()->reward();
  const size_t asked = fixture.asked.size();
  EXPECT_EQ(fixture.run()->reward(), reward);
  EXPECT_EQ(fixture.asked.size(), asked);
  EXPECT_EQ(fixture.evaluations, 1);
  fixture.facts.model = "another";
  EXPECT_THAT(to_string(fixture.run().error()), HasSubstr("was begun with model ''"));
}

TEST(Context, CutsTheOldestResultsFirst) {
  Conversation talk = {{Role::System, "s"}, {Role::User, "task"}};
  for (char c = 'a'; c < 'k'; ++c) {
    Message answer{Role::Assistant, ""}, result{Role::Tool, std::string(4000, c)};
    answer.calls = {{"c", "file_editor", Json{{"file_text", std::string(400, 'x')}}.dump()}};
    talk.push_back(answer);
    talk.push_back(result);
  }
  EXPECT_EQ(*fit_context(talk, 0), talk);
  EXPECT_EQ(*fit_context(talk, 1'000'000), talk);
  const auto some = fit_context(talk, 8000);
  ASSERT_TRUE(some);
  EXPECT_LE(estimate_tokens(*some), 8000);
  EXPECT_THAT((*some)[3].text, HasSubstr("4000 bytes of this older result are left out"));
  EXPECT_EQ(some->back(), talk.back());
  EXPECT_EQ((*some)[2], talk[2]);
  const auto more = fit_context(talk, 2900);
  ASSERT_TRUE(more);
  EXPECT_THAT((*more)[2].calls[0].arguments, HasSubstr("400 bytes left out"));
  EXPECT_EQ(fit_context(talk, 1000), std::nullopt);
  Conversation texts = {{Role::User, "task"}};
  for (int i = 0; i < 10; ++i) texts.push_back({Role::Assistant, std::string(4000, 'x')});
  EXPECT_THAT((*fit_context(texts, 8000))[1].text, HasSubstr("[3200 bytes left out]"));
  talk.push_back({Role::Assistant, std::string(400'000, 'y')});
  EXPECT_THAT(fit_context(talk, 20'000)->back().text, HasSubstr("[392000 bytes left out]"));
}

TEST(Price, IsPerMillionTokens) {
  EXPECT_DOUBLE_EQ(cost_of({1'000'000, 500'000, 100'000, 50'000}, {3, 0.3, 15}), 1.5 + 0.15 + 1.5);
  const ScratchDirectory scratch;
  ASSERT_TRUE(
      write_file(scratch.path / "p", std::string_view(R"({"m": {"input": 3, "output": 15}, "bad": {"input": -1}})")));
  EXPECT_EQ(load_price(scratch.path / "p", "m")->cached, 3);
  EXPECT_THAT(to_string(load_price(scratch.path / "p", "other").error()),
              HasSubstr("expected an object with a price of 'other'"));
  EXPECT_THAT(to_string(load_price(scratch.path / "p", "bad").error()), HasSubstr("expected a number >= 0 as 'input'"));
}

TEST(PassAtK, IsTheUnbiasedEstimate) {
  EXPECT_DOUBLE_EQ(pass_at_k(10, 3, 1), 0.3);
  EXPECT_DOUBLE_EQ(pass_at_k(5, 2, 2), 1 - 3.0 / 10);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 0, 4), 0);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 4, 2), 1);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 2, 3), 1);
  EXPECT_NEAR(pass_at_k(1000, 10, 100), 0.6531, 1e-3);
}

TEST(Prompt, HasAnotherSampleAsItsExample) {
  const auto load = [](const char* name) { return *graphdir::load_sample(tests::source_dir() / "samples" / name); };
  for (const char* name : {"phi3_swiglu", "vit_add_layer_norm", "gpt2_gelu"}) {
    const Conversation prompt = *make_prompt(load(name), {false, 7});
    ASSERT_EQ(prompt.size(), 2u);
    EXPECT_THAT(prompt[0].text, HasSubstr("You have 7 steps"));
    EXPECT_THAT(prompt[0].text, HasSubstr("PASSNET_KERNEL"));
    EXPECT_THAT(prompt[0].text, testing::Not(HasSubstr("{{")));
    EXPECT_THAT(prompt[0].text, testing::Not(HasSubstr("Worked example: " + std::string(name))));
    EXPECT_THAT(prompt[1].text, HasSubstr("def forward("));
  }
  EXPECT_EQ(prompt_hash().size(), 64u);
  // One answer without tools is told the same in one text and in two.
  const Conversation messages = *make_answer_messages(load("gpt2_gelu"), false);
  EXPECT_EQ(*make_answer_prompt(load("gpt2_gelu"), false), messages[0].text + messages[1].text);
  EXPECT_THAT(messages[0].text, HasSubstr("Worked example: phi3_swiglu"));
  EXPECT_THAT(messages[1].text, testing::StartsWith("# The task\n"));
  EXPECT_EQ(fill_in("a {{x}} {{y}} {{z", {{"x", "{{y}}"}, {"y", "2"}}), "a {{y}} 2 ");
}

TEST(Prompt, TakesTheFirstGivenExampleThatIsNotTheTasksOwn) {
  const ScratchDirectory scratch;
  const auto write = [&](const char* file, const std::string& text) {
    return static_cast<bool>(write_file(scratch.path / file, std::string_view(text)));
  };
  const graphdir::Sample task = *graphdir::load_sample(tests::source_dir() / "samples" / "gpt2_gelu");
  const std::string graph = fx::print_model(graphdir::load_graph_dir(task.graph_paths.back())->graph);
  ASSERT_TRUE(write("a.md", "# Worked example: gpt2_gelu\n\nof its name\n"));
  ASSERT_TRUE(write("b.md", "# Worked example: other\n\nof its graph\n```python\n" + graph + "```\n"));
  ASSERT_TRUE(write("c.md", "# Worked example: third\n\nof {{sample}}\n"));
  ASSERT_TRUE(write("notes.txt", "no example"));
  const std::vector<ExampleText> examples = *load_examples(scratch.path);
  ASSERT_EQ(examples.size(), 3u);
  const std::string system = (*make_prompt(task, {false, 7, examples}))[0].text;
  EXPECT_THAT(system, HasSubstr("# Worked example: third\n\nof {{sample}}\n\nThe same kernel form in Triton"));
  EXPECT_THAT(system, testing::Not(HasSubstr("phi3_swiglu")));
  EXPECT_THAT((*make_prompt(task, {false, 7, {examples[0]}}))[0].text, HasSubstr("Worked example: phi3_swiglu"));
  EXPECT_NE(prompt_hash(examples), prompt_hash());
  EXPECT_NE(prompt_hash(examples), prompt_hash({examples[0]}));
}

TEST(Prompt, RefusesWhatIsNoExample) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path / "notes.md";
  EXPECT_EQ(load_examples(scratch.path).error().message,
            fmt::format("no worked example in '{}', expected files that end in .md", scratch.path.string()));
  ASSERT_TRUE(write_file(file, std::string_view("# Notes\n")));
  EXPECT_EQ(to_string(load_examples(file).error()),
            fmt::format("{}:1:1: error: found '# Notes', expected '# Worked example: ' and the name of a sample\n"
                        "hint: give a file that 'passnet author --export' wrote, or their directory",
                        file.string()));
}

}  // namespace
}  // namespace passnet::agent
