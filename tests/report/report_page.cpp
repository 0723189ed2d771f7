// Prints what report_page_test.py examines: `report_page html` the page, `report_page json` the same records
// as JSON.
#include <cstdio>
#include <string_view>

#include "bench/score.h"
#include "report/html.h"
#include "report/json.h"
#include "sample_records.h"

int main(int argc, char** argv) {
  using namespace passnet;
  const std::vector<bench::RunRecord> records = report::sample_records();
  const bench::Score score = bench::score(bench::judge_all(records));
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what != "html" && what != "json") {
    std::fputs("usage: report_page html|json\n", stderr);
    return 2;
  }
  const std::string text = what == "html" ? report::render_html(records, score, "a <title> & \"more\"")
                                          : report::render_json(records, score);
  std::fputs(text.c_str(), stdout);
  return 0;
}
