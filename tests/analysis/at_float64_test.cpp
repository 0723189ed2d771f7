#include "analysis/at_float64.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

std::string widened(const std::string& body) {
  const auto graph = fx::parse_text(fx::model_text("x, y", body));
  EXPECT_TRUE(graph) << to_string(graph.error());
  const auto made = at_float64(*graph);
  return made ? fx::dump(*made) : made.error().message;
}

TEST(AtFloat64, WidensEveryFloatingTypeThatIsNamed) {
  EXPECT_EQ(widened("a = x.to(torch.float16)\n"
                    "b = torch.zeros((2, 3), dtype=torch.float32)\n"
                    "c = a.half()\n"
                    "d = c.float()\n"
                    "e = torch.softmax(d, -1, torch.bfloat16)\n"
                    "f = y.to(torch.complex64)\n"
                    "return (e, b, f)"),
            "a = x.to(torch.float64)\n"
            "b = torch.zeros((2, 3), dtype = torch.float64)\n"
            "c = a.double()\n"
            "d = c.double()\n"
            "e = torch.softmax(d, -1, torch.float64)\n"
            "f = y.to(torch.complex128)\n"
            "return (e, b, f)\n");
}

TEST(AtFloat64, LeavesWhatIsNotFloating) {
  const std::string body = "a = x.to(torch.int64)\nb = y.bool()\nreturn (a, b)\n";
  EXPECT_EQ(widened(body), body);
}

TEST(AtFloat64, SwitchesAutocastOff) {
  EXPECT_EQ(widened("a = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, False)\n"
                    "b = x + y\n"
                    "c = torch.amp.autocast_mode._exit_autocast(a)\n"
                    "return (b,)"),
            "a = torch.amp.autocast_mode._enter_autocast(\"cpu\", torch.bfloat16, False, False)\n"
            "b = x + y\n"
            "c = torch.amp.autocast_mode._exit_autocast(a)\n"
            "return (b,)\n");
}

TEST(AtFloat64, RefusesToReadBits) {
  EXPECT_EQ(widened("a = x.view(torch.int16)\nreturn (a,)"), "'a' reads the bits of a tensor as another type");
}

}  // namespace
}  // namespace passnet::analysis
