// Workspaces, edits and calls of tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/tools/tool.h"
#include "base/file/file.h"
#include "tests/paths.h"
#include "tests/scratch.h"

namespace passnet::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The sample that ships with pass and graphs; no worker is started.
graphdir::Sample shipped() { return *graphdir::load_sample(tests::source_dir() / "samples" / "phi3_swiglu"); }

struct Desk {
  ScratchDirectory scratch;
  graphdir::Sample sample = shipped();
  Workspace workspace{scratch.path / "workspace"};
  graphdir::Sample task = task_of(sample, workspace);
  Result<EditHistory> edits = open_edits(0);
  int step = 1, evaluations = 0;
  std::atomic<bool> interrupted = false;

  Desk() { EXPECT_TRUE(make_workspace(sample, workspace.root())); }
  Result<EditHistory> open_edits(int finished) {
    return EditHistory::open(scratch.path / "edits.jsonl", workspace, finished);
  }

  ToolResult call(const std::string& name, const std::string& arguments) {
    ToolContext context{workspace, *edits, task, [this](bool) -> Result<Records> { return ++evaluations, Records{}; },
                        step};
    context.ends.interrupted = &interrupted;
    Result<ToolResult> result = call_tool(pass_tools(), {"id", name, arguments}, context);
    EXPECT_TRUE(result) << to_string(result.error());
    return result ? std::move(*result) : ToolResult{};
  }
  ToolResult edit(const Json& arguments) { return call("file_editor", arguments.dump()); }
  std::string text(const std::string& path) {
    return read_file(workspace.root() / path, FileKind::Lines).value_or("(none)");
  }
};

TEST(Workspace, HasTheGraphsAndNoPass) {
  const Desk desk;
  const std::vector<std::string> files = desk.workspace.list(desk.workspace.root());
  EXPECT_THAT(files, testing::Contains("graph_list.txt"));
  EXPECT_THAT(files, testing::Contains(testing::EndsWith("model.py")));
  EXPECT_THAT(files, testing::Not(testing::Contains(HasSubstr("swiglu.py"))));
  EXPECT_EQ(desk.task.pass_dir, desk.workspace.pass_dir());
  EXPECT_EQ(desk.task.graph_paths, desk.sample.graph_paths);
}

TEST(Workspace, HasNothingThatASampleLinksTo) {
  const ScratchDirectory scratch;
  const fs::path place = scratch.path / "sample";
  fs::copy(shipped().path, place, fs::copy_options::recursive);
  graphdir::Sample sample = *graphdir::load_sample(place);
  fs::create_symlink("/etc/passwd", sample.graph_paths[0] / "notes.txt");
  const fs::path linked = sample.graph_paths[1], elsewhere = scratch.path / "elsewhere";
  fs::rename(linked, elsewhere);
  fs::create_directory_symlink(elsewhere, linked);
  const Workspace workspace(scratch.path / "workspace");
  ASSERT_TRUE(make_workspace(sample, workspace.root()));
  const std::vector<std::string> files = workspace.list(workspace.root());
  EXPECT_THAT(files, testing::Not(testing::Contains(HasSubstr("notes.txt"))));
  EXPECT_THAT(files, testing::Not(testing::Contains(HasSubstr(linked.filename().string()))));
  EXPECT_THAT(files, testing::Contains(HasSubstr(sample.graph_paths[0].filename().string() + "/model.py")));
}

TEST(Workspace, KeepsPathsInside) {
  const Desk desk;
  fs::create_directory_symlink("/etc", desk.workspace.root() / "link");
  fs::create_symlink("/etc/passwd", desk.workspace.pass_dir() / "passwd.py");
  for (const char* path : {"/etc/passwd", "..", "pass_dir/../../x", "link/passwd", "pass_dir/passwd.py"})
    EXPECT_FALSE(desk.workspace.resolve(path)) << path;
  EXPECT_FALSE(desk.workspace.resolve(std::string_view("pass_dir/a\0b", 12)));
  EXPECT_EQ(*desk.workspace.resolve("./pass_dir//a.py"), desk.workspace.pass_dir() / "a.py");
  EXPECT_EQ(*desk.workspace.resolve("."), desk.workspace.root());
  for (const char* path : {"graphs/x", "pass_dir", ".", "a.py"})
    EXPECT_FALSE(desk.workspace.resolve_writable(path)) << path;
  EXPECT_THAT(to_string(desk.workspace.resolve("/etc/passwd").error()),
              HasSubstr("path '/etc/passwd': it is absolute"));
  EXPECT_THAT(to_string(desk.workspace.read("graph_lists.txt").error()), HasSubstr("did you mean 'graph_list.txt'?"));
  EXPECT_THAT(desk.workspace.list(desk.workspace.root()), testing::Not(testing::Contains(HasSubstr("passwd"))));
}

TEST(FileEditor, EditsAndUndoes) {
  Desk desk;
  EXPECT_EQ(desk.edit({{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", "a\nb\n"}}).text,
            "pass_dir/a.py: 2 lines written");
  EXPECT_THAT(
      desk.edit({{"command", "str_replace"}, {"path", "./pass_dir/a.py"}, {"old_str", "b"}, {"new_str", "c"}}).text,
      HasSubstr("    2  c\n"));
  desk.edit({{"command", "insert"}, {"path", "pass_dir/a.py"}, {"insert_line", 2.0}, {"new_str", "d"}});
  EXPECT_EQ(desk.text("pass_dir/a.py"), "a\nc\nd\n");
  EXPECT_EQ(desk.edit({{"command", "view"}, {"path", "pass_dir/a.py"}, {"view_range", {2, -1}}}).text,
            "    2  c\n    3  d\n");
  for (const char* left : {"a\nc\n", "a\nb\n", "(none)"}) {
    EXPECT_FALSE(desk.edit({{"command", "undo_edit"}, {"path", "pass_dir/a.py"}}).is_error);
    EXPECT_EQ(desk.text("pass_dir/a.py"), left);
  }
  EXPECT_TRUE(desk.edit({{"command", "undo_edit"}, {"path", "pass_dir/a.py"}}).is_error);
}

TEST(FileEditor, SaysWhatIsWrong) {
  Desk desk;
  desk.edit({{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", "aa\naa\n"}});
  const auto expect = [&](const Json& arguments, const char* text) {
    const ToolResult result = desk.edit(arguments);
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.text, HasSubstr(text));
  };
  expect({{"command", "str_replace"}, {"path", "pass_dir/a.py"}, {"old_str", "aa"}},
         "argument 'old_str': expected text that stands once in 'pass_dir/a.py', found it 2 times");
  expect({{"command", "str_replace"}, {"path", "pass_dir/a.py"}, {"old_str", "z"}}, "found it 0 times");
  desk.edit({{"command", "create"}, {"path", "pass_dir/overlap.py"}, {"file_text", "aaa\n"}});
  expect({{"command", "str_replace"}, {"path", "pass_dir/overlap.py"}, {"old_str", "aa"}}, "found it 2 times");
  expect({{"command", "str_replace"}, {"path", "pass_dir/a.py"}}, "argument 'old_str' is missing");
  expect({{"command", "insert"}, {"path", "pass_dir/a.py"}, {"insert_line", 9}, {"new_str", ""}},
         "argument 'insert_line': expected 0..2, found 9");
  expect({{"command", "view"}, {"path", "pass_dir/a.py"}, {"view_range", {5, 6}}},
         "argument 'view_range': expected [first, last] with 1 <= first <= 2, found [5, 6]");
  expect({{"command", "undo_edit"}, {"path", "pass_dir/z.py"}},
         "undo_edit of 'pass_dir/z.py': there is no edit of it to undo");
  expect({{"command", "create"}, {"path", "graphs/a.py"}, {"file_text", ""}},
         "path 'graphs/a.py': only files in pass_dir can be written");
  expect({{"command", "view"}, {"path", "pass_dir/z.py"}}, "path 'pass_dir/z.py': there is no such file");
  expect({{"command", "view"}, {"path", std::string("a\0b", 3)}}, "path: expected text, found a NUL byte in it");
  expect({{"command", "view"}, {"path", "/x"}}, "path '/x': it is absolute, expected one inside of the workspace");
  expect({{"command", "create"}, {"path", 7}}, "argument 'path': expected a string, found '7'");
  expect({{"command", "delete"}, {"path", "x"}},
         "argument 'command': expected view, create, str_replace, insert or undo_edit, found 'delete'");
  expect({{"command", "create"}, {"path", "pass_dir/b.py"}, {"file_text", std::string(kMaxFileBytes + 1, 'x')}},
         "expected at most");
}

TEST(Edits, OfStepsThatWereCutShortAreUndone) {
  Desk desk;
  desk.edit({{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", "one"}});
  desk.step = 2;
  desk.edit({{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", "two"}});
  desk.edit({{"command", "create"}, {"path", "pass_dir/b.py"}, {"file_text", "new"}});
  desk.edit({{"command", "undo_edit"}, {"path", "pass_dir/a.py"}});
  desk.edit({{"command", "create"}, {"path", "pass_dir/a.py"}, {"file_text", "three"}});
  desk.edits = resource_error("closed");
  desk.edits = desk.open_edits(1);
  ASSERT_TRUE(desk.edits) << to_string(desk.edits.error());
  EXPECT_EQ(desk.text("pass_dir/a.py"), "one");
  EXPECT_EQ(desk.text("pass_dir/b.py"), "(none)");
  EXPECT_FALSE(desk.edit({{"command", "undo_edit"}, {"path", "pass_dir/a.py"}}).is_error);
  EXPECT_EQ(desk.text("pass_dir/a.py"), "(none)");
  EXPECT_TRUE(desk.edit({{"command", "undo_edit"}, {"path", "pass_dir/b.py"}}).is_error);
}

TEST(Edits, ThatCannotBeReadAreNamed) {
  Desk desk;
  const std::string file = (desk.scratch.path / "edits.jsonl").string();
  ASSERT_TRUE(write_file(file, std::string_view("[]\n")));
  EXPECT_EQ(desk.open_edits(0).error().message, "'" + file + "': expected an edit per line, found '[]'");
}

TEST(Calls, AreAnsweredWhateverTheyHold) {
  Desk desk;
  EXPECT_THAT(desk.call("file_editor", "{\"a\": ").text, HasSubstr("arguments of file_editor:1:"));
  EXPECT_THAT(desk.call("file_editor", "3").text, HasSubstr("expected an object of JSON, found '3'"));
  EXPECT_THAT(desk.call("pas_evaluator", "{}").text,
              HasSubstr("there is no tool 'pas_evaluator'\nhint: did you mean 'pass_evaluator'?"));
  EXPECT_THAT(desk.call("pass_match", R"({"graph": "none"})").text,
              HasSubstr("argument 'graph': expected the name of a graph, found 'none'"));
  EXPECT_THAT(desk.call("", "{}").text, HasSubstr("the tools are file_editor, pass_match"));
  EXPECT_TRUE(desk.call("finish", "").submitted);
  EXPECT_FALSE(desk.call("str_replace_editor", R"({"command": "view", "file_path": "."})").is_error);
  EXPECT_FALSE(desk.call("evaluate", "{}").is_error);
  EXPECT_EQ(desk.evaluations, 1);
}

TEST(PassMatch, ShowsSitesAndTheNearestMiss) {
  Desk desk;
  for (const fs::directory_entry& entry : fs::directory_iterator(desk.sample.pass_dir))
    fs::copy_file(entry.path(), desk.workspace.pass_dir() / entry.path().filename());
  EXPECT_THAT(desk.call("pass_match", "{}").text, HasSubstr("pass 'swiglu': "));
  std::string plan = desk.text("pass_dir/swiglu.py");
  const size_t at = plan.find("silu");
  ASSERT_NE(at, std::string::npos);
  plan.replace(at, 4, "tanh");
  ASSERT_TRUE(write_file(desk.workspace.pass_dir() / "swiglu.py", plan));
  EXPECT_THAT(desk.call("pass_match", "{}").text, HasSubstr("nearest miss"));
  ASSERT_TRUE(write_file(desk.workspace.pass_dir() / "swiglu.py", std::string_view("def pattern(:\n")));
  const ToolResult broken = desk.call("pass_match", "{}");
  EXPECT_TRUE(broken.is_error);
  EXPECT_THAT(broken.text, testing::StartsWith("pass_dir/swiglu.py:1:"));
}

TEST(PassMatch, EndsWithAPlanThatDoesNotAndWhenItIsInterrupted) {
  Desk desk;
  for (const fs::directory_entry& entry : fs::directory_iterator(desk.sample.pass_dir))
    fs::copy_file(entry.path(), desk.workspace.pass_dir() / entry.path().filename());
  const std::string plan = desk.text("pass_dir/swiglu.py");
  ASSERT_TRUE(write_file(desk.workspace.pass_dir() / "swiglu.py", plan + "\nwhile True: pass\n"));
  const ToolResult endless = desk.call("pass_match", "{}");
  EXPECT_TRUE(endless.is_error);
  EXPECT_THAT(endless.text, HasSubstr("more than 1000000 steps"));
  ASSERT_TRUE(write_file(desk.workspace.pass_dir() / "swiglu.py", plan));
  desk.interrupted = true;
  ToolContext context{desk.workspace, *desk.edits, desk.task, {}};
  context.ends.interrupted = &desk.interrupted;
  const Result<ToolResult> ended = call_tool(pass_tools(), {"id", "pass_match", "{}"}, context);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().failure, "interrupted");
}

TEST(GraphInfo, ShowsATextOnce) {
  Desk desk;
  const std::string text = desk.call("graph_info", "{}").text;
  EXPECT_THAT(text, HasSubstr("def forward("));
  EXPECT_THAT(text, HasSubstr("float32 ["));
  EXPECT_THAT(desk.call("pass_match", R"({"graph": "none"})").text,
              HasSubstr("argument 'graph': expected the name of a graph, found 'none'"));
}

}  // namespace
}  // namespace passnet::agent
