// Names and messages of graphs, passes, kernels and compilers in everything that is rendered of records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/text/visible.h"
#include "record/score/compare.h"
#include "record/score/score.h"
#include "report/compare.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/table.h"
#include "sample_records.h"

namespace passnet::report {
namespace {

constexpr const char* kHostile[] = {
    "plain",
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "\xc2\x9b"
    "31m",
    "abc\xe2\x80\xae"
    "def\xe2\x81\xa6x\xe2\x81\xa9",
    "a\nFAKE  correct  9.99x\r\x08\x08",
    "bad \xff\xfe \xed\xa0\x80 bytes",
    "<script>alert(1)</script><!--",
    "\"' onload='x' \"><img src=x>",
    "=HYPERLINK(\"http://x\")",
    "@SUM(1)\t+1",
    "[Speedup][e2e]: 99 Error: `*_|~",
    "\xf3\xa0\x81\x81tag\xef\xbb\xbf",
};

/// Where text holds what a terminal obeys or a reader cannot see, besides newlines; empty when it is fit to be shown.
std::string unfit(std::string text, bool colors = false) {
  if (colors) {
    for (size_t at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[", at)) {
      const size_t end = text.find_first_not_of("0123456789;", at + 2);
      if (end == std::string::npos || text[end] != 'm') return quoted(text.substr(at, 20));
      text.erase(at, end + 1 - at);
    }
  }
  if (valid_utf8(text) != text) return "not UTF-8";
  std::string found;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (found.empty() && code != '\n' && is_unprintable(code)) found = quoted(visible(bytes));
  });
  return found;
}

record::RunRecord named(const std::string& text) {
  record::RunRecord record = sample_records().front();
  record.sample = record.graph = record.device = record.hardware = record.compiler = text;
  record.error = record.started = record.retried = text;
  record.passes = {{text, 1, 0, text}};
  record.second_candidate = record::SecondCandidate{text, text, 6, {}, {}, false};
  record.profile = record::Profile{9, {{text, text, 1, 0, 2, 3, 4}}, {{text, 5}}};
  record.outputs = {
      {text, text, {2}, {2}, false, 6, 1, 1, 1, record::Mismatch{1, 1, {0}, text, text, text, 0, 0, 0, 0}}};
  record.provenance = record::Provenance{};
  record.provenance->sample_path = text;
  record.provenance->graph = record.provenance->passes = {{text, text}};
  record.provenance->versions = {{text, text}};
  return record;
}

// A right one, a wrong one, and one that a message ends.
std::vector<record::RunRecord> records_named(const std::string& text) {
  record::RunRecord right = named(text), wrong = named(text + "1"), failed = named(text + "2");
  right.outputs = sample_records().front().outputs;
  failed.stage = record::Stage::Build;
  failed.error_kind = "bad-pass";
  return {right, wrong, failed};
}

void expect_fit(const std::string& text) {
  const std::vector<record::RunRecord> records = records_named(text);
  std::vector<record::RunRecord> others = records;
  others[1].provenance->versions = {{text, text + "x"}};
  const record::Score score = record::score(record::judge_all(records));
  EXPECT_EQ(unfit(render_table(records, 90, false)), "");
  EXPECT_EQ(unfit(render_table(records, 200, true), true), "");
  EXPECT_EQ(unfit(render_json(records, score)), "");
  EXPECT_EQ(unfit(record::render_upstream_log(records)), "");
  for (const record::RunRecord& record : records) EXPECT_EQ(unfit(dump(record::to_json(record))), "");
  const record::RunComparison compared = record::compare_runs(records, others);
  const RunNames names{text, text};
  EXPECT_EQ(unfit(render_comparison(compared, names, false)), "");
  EXPECT_EQ(unfit(render_comparison(compared, names, true), true), "");
  EXPECT_EQ(unfit(render_comparison_json(compared, names)), "");
  EXPECT_EQ(unfit(render_comparison_html(compared, names)), "");
  const std::string page = render_html(records, score, text, {});
  EXPECT_EQ(unfit(page), "");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(render_comparison_html(compared, names).find("<img"), std::string::npos);
}

TEST(Hostile, NamesAreFitToBeShownEverywhere) {
  for (const char* text : kHostile) {
    SCOPED_TRACE(quoted(std::string_view(text)));
    expect_fit(text);
  }
}

RC_GTEST_PROP(Hostile, AnyBytesAreFitToBeShown, ()) {
  const std::vector<int> bytes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 256));
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  RC_ASSERT(unfit(visible(text)) == "");
  RC_ASSERT(unfit(visible_line(text)) == "" && visible_line(text).find('\n') == std::string::npos);
  RC_ASSERT(unfit(passnet::quoted(text)) == "");
  RC_ASSERT(unfit(dump(Json(text))) == "");
  RC_ASSERT(try_parse_json(dump(Json(text))).get<std::string>() == valid_utf8(text));
}

RC_GTEST_PROP(Hostile, AnyCharacterIsFitToBeShown, ()) {
  // Strange characters are rare among all bytes.
  const auto code =
      *rc::gen::oneOf(rc::gen::inRange(0, 0x100), rc::gen::inRange(0x2000, 0x2070), rc::gen::inRange(0xE0000, 0xE0080));
  std::string text;
  if (code < 0x80) {
    text = static_cast<char>(code);
  } else if (code < 0x800) {
    text = {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
  } else if (code < 0x10000) {
    text = {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
            static_cast<char>(0x80 | (code & 63))};
  } else {
    text = {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
            static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
  }
  RC_ASSERT(unfit(visible("a" + text + "b")) == "");
  RC_ASSERT(unfit(passnet::quoted("a" + text + "b")) == "");
  RC_ASSERT(try_parse_json(dump(Json(text))).get<std::string>() == text);
}

}  // namespace
}  // namespace passnet::report
