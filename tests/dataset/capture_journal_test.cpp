// The journal of captured models: what is written is read back, what is damaged is done again.
#include "dataset/capture_journal.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace passnet::dataset {
namespace {

// As versions before the command was C++ wrote it.
constexpr const char* kOld =
    R"({"model": "m", "source": "timm", "status": "captured", "cause": null, "message": null, "graphs": ["timm/m/b1"], )"
    R"("shapes": {"b1": "captured"}, "seconds": 1.5, "peak_mb": 500, "library_version": "1.0", "torch_version": "2.11.0", )"
    R"("licence": "mit"})";

CaptureLine failed(const std::string& source, const std::string& cause) {
  CaptureLine line;
  line.model = "m";
  line.source = source;
  line.cause = cause;
  return line;
}

TEST(CaptureJournal, LinesOfOlderVersionsAreReadBackKeyForKey) {
  const CaptureLine line = capture_line_from_json(try_parse_json(kOld)).value();
  EXPECT_TRUE(line.captured);
  EXPECT_EQ(to_json(line), try_parse_json(kOld));
  EXPECT_FALSE(capture_line_from_json(try_parse_json(R"({"model": "m", "source": "timm", "later": 1})"))->captured);
}

TEST(CaptureJournal, TheLastLineOfAModelOfASourceCounts) {
  const auto lines = read_capture_journal(dump(to_json(failed("timm", "timeout"))) + "\n" +
                                          dump(to_json(failed("torchvision", "trace"))) + "\n" + kOld + "\n");
  EXPECT_THAT(lines, testing::SizeIs(2));
  EXPECT_TRUE(lines.at(capture_key("timm", "m")).captured);
  EXPECT_TRUE(lines.at(capture_key("timm", "m")).earlier);
  EXPECT_EQ(lines.at(capture_key("torchvision", "m")).cause, "trace");
}

TEST(CaptureJournal, LinesOfAnotherFormAreSkipped) {
  const auto lines =
      read_capture_journal(std::string("nonsense\n7\n{\"model\": \"m\"}\n") + kOld + "\n{\"model\": \"b\", \"sour");
  EXPECT_THAT(lines, testing::SizeIs(1));
}

}  // namespace
}  // namespace passnet::dataset
