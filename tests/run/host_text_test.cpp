#include "run/worker/host_text.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

TEST(HostText, IsCutToOneVisibleLineWhereverItStands) {
  Json reply{
      {"ok", true}, {"layouts", {{{"shares", std::string(100000, 'x')}}}}, {"n", 3}, {"text", "a\nb\x1b[31m\tc"}};
  cut_host_texts(reply, "/scratch/passes");
  EXPECT_EQ(reply["layouts"][0]["shares"].get<std::string>(), std::string(300, 'x') + "…");
  EXPECT_EQ(reply["n"], 3);
  EXPECT_EQ(reply["text"], "a b\\x1b[31m  c");
}

TEST(HostText, NamesFilesAsTheirAuthorDoes) {
  Json reply{{"at", {{"file", "/scratch/passes/home/me/pass_dir/p.py"}}},
             {"error", "in /scratch/passes/home/me/q.py, line 2"}};
  cut_host_texts(reply, "/scratch/passes");
  EXPECT_EQ(reply["at"]["file"], "/home/me/pass_dir/p.py");
  EXPECT_EQ(reply["error"], "in /home/me/q.py, line 2");
}

TEST(HostText, IsAnErrorOfAKindAndAtAFileThatHostCodeHas) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_file(scratch.path / "home/me/p.py", "text"));
  const auto told = [&](const char* kind, const char* file) {
    return error_of_host_code(bad_input("words", SourceLoc{file, 3, 1}).with_failure(kind), scratch.path);
  };
  EXPECT_EQ(told("memory", "/home/me/p.py").failure, "memory");
  EXPECT_EQ(told("memory", "/home/me/p.py").at->line, 3U);
  EXPECT_EQ(told("correct, or so", "/home/me/p.py").failure, "bad-pass");
  EXPECT_FALSE(told("memory", "/etc/passwd").at);
  EXPECT_FALSE(told("memory", "/../../../../../../etc/passwd").at);
}

}  // namespace
}  // namespace passnet::run
