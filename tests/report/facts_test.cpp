#include "report/facts.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sample_records.h"

namespace passnet::report {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Facts, AreOnePerValueOfAnObject) {
  const Json json = {{"command", {"passnet", "eval", "a b"}},
                     {"options", {{"min_blocks", 3}, {"strict", false}}},
                     {"graph_hash", "ab12"},
                     {"note", ""},
                     {"files", {{{"name", "x.py"}}, {{"name", "y.py"}}}},
                     {"none", nullptr}};
  EXPECT_THAT(facts_of(json), ElementsAre(Pair("command", "passnet, eval, a b"), Pair("options.min_blocks", "3"),
                                          Pair("options.strict", "false"), Pair("graph_hash", "ab12"),
                                          Pair("files.0.name", "x.py"), Pair("files.1.name", "y.py")));
}

TEST(Facts, ThatAllShareAreTakenOut) {
  std::vector<Facts> lists = {
      {{"seed", "1"}, {"graph", "a"}}, {{"graph", "b"}, {"seed", "1"}}, {{"graph", "a"}, {"clock", "2"}}};
  EXPECT_THAT(take_common(lists), ElementsAre(Pair("seed", "1")));
  EXPECT_THAT(lists, ElementsAre(ElementsAre(Pair("graph", "a")), ElementsAre(Pair("graph", "b")),
                                 ElementsAre(Pair("graph", "a"), Pair("clock", "2"))));
  std::vector<Facts> none;
  EXPECT_TRUE(take_common(none).empty());
}

TEST(Facts, OfARecordSayHowItWasEvaluated) {
  const Facts facts = facts_of(measured("g", 2, 1, -10, 0));
  EXPECT_THAT(facts, testing::IsSupersetOf({Fact("device", "cpu"), Fact("seed", "1024"), Fact("timed calls", "100"),
                                            Fact("timed with", "host clock, same tensors, warm cache")}));
}

TEST(LoadText, TellsWhatTheMachineDid) {
  EXPECT_EQ(load_text({}), "");
  EXPECT_EQ(load_text({true, 20, 3, 0.05, 0, 0.125, 7}),
            "3 of 20 pairs of blocks dropped; these included, threads waited 5.0 % of the time for a processor, the "
            "host took "
            "0.0 %, the machine was under pressure 12.5 %, 7 involuntary switches");
}

}  // namespace
}  // namespace passnet::report
