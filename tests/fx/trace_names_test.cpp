#include "fx/trace_names.h"

#include <gtest/gtest.h>

#include "graph_text.h"

namespace passnet::fx {
namespace {

// The names of the body's nodes when it is traced, with blanks between.
std::string traced(const std::string& parameters, const std::string& body) {
  const ir::Graph graph = parse(parameters, body);
  TraceNames tracing(graph, Numbering::FromOne);
  std::string names;
  for (ir::NodeId id = graph.placeholder_count(); id + 1 < graph.size(); ++id)
    names += (names.empty() ? "" : " ") + tracing.next(id);
  return names;
}

TEST(Namespace, GivesEachNameOnceAndTheFirstFreeNumberToATakenOne) {
  Namespace names(Numbering::FromOne);
  EXPECT_EQ(names.create("x"), "x");
  EXPECT_EQ(names.create("x"), "x_1");
  EXPECT_EQ(names.create("x_7"), "x_7");
  EXPECT_EQ(names.create("x"), "x_8") << "counts on from the number given last";
  EXPECT_EQ(names.create("x_7"), "x_2") << "a name with a number that is taken looks from 1";
  EXPECT_EQ(names.create("x_7"), "x_3");
}

TEST(Namespace, OlderVersionsCountOnFromTheNumberThatWasAskedFor) {
  Namespace names(Numbering::FromItself);
  EXPECT_EQ(names.create("x_7"), "x_7");
  EXPECT_EQ(names.create("x_7"), "x_8");
  EXPECT_EQ(names.create("x"), "x");
  EXPECT_EQ(names.create("x"), "x_9");
}

TEST(Namespace, LeavesWordsOfPython) {
  Namespace names(Numbering::FromOne);
  EXPECT_EQ(names.create("max"), "max_1");
  EXPECT_EQ(names.create("max"), "max_2");
  EXPECT_EQ(names.create("max_2"), "max_3");
}

TEST(TraceNames, AreThoseOfVariables) { EXPECT_EQ(traced("a", "y = torch.relu(a)\nz = y + 1\nreturn (z,)"), "y z"); }

TEST(TraceNames, AnOperatorInPlaceIsNamedAfterWhatItChanges) {
  EXPECT_EQ(traced("a", "x_1 = torch.relu(a)\nx_1 += a\nout = x_1\nx_2 = out * 2\nx_3 = x_2 * 2\nreturn (x_3,)"),
            "x_1 x_2 x_3 x_4");
  EXPECT_EQ(traced("in_0, in_1", "in_0 += in_1\ntmp_0 = in_0\nreturn (tmp_0,)"), "in_2");
}

TEST(TraceNames, ScalarsAndStoresKeepTheNameOfTheirCall) {
  EXPECT_EQ(traced("a", "n = a.item()\nm = n + 1\na[0] = m\nk = a\nreturn (k,)"), "item add setitem");
}

}  // namespace
}  // namespace passnet::fx
