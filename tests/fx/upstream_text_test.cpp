#include "fx/upstream_text.h"

#include <gtest/gtest.h>

#include "graph_text.h"

namespace passnet::fx {
namespace {

TEST(UpstreamText, IsWhatPythonsUnparserPrints) {
  const ir::Graph graph = parse("in_0, in_1",
                                "tmp_0 = in_0\n"
                                "tmp_1 = torch.sum(in_1, dim=(1,), keepdim=True)\n"
                                "tmp_2 = tmp_0[(slice(None, None, None), -1)]\n"
                                "tmp_3 = tmp_2[0]\n"
                                "tmp_4 = tmp_3 ** (-0.5)\n"
                                "tmp_4 += tmp_1\n"
                                "tmp_5 = tmp_4\n"
                                "tmp_6 = tmp_5.to(device(type='cuda', index=0))\n"
                                "tmp_6[(0, 1)] = -inf\n"
                                "setitem = tmp_6\n"
                                "return (tmp_6,)");
  EXPECT_EQ(print_unparsed(graph),
            "import torch\n"
            "from torch import device\n"
            "from torch import inf\n"
            "\n"
            "class GraphModule(torch.nn.Module):\n"
            "\n"
            "    def forward(self, in_0, in_1):\n"
            "        tmp_0 = in_0\n"
            "        tmp_1 = torch.sum(in_1, dim=(1,), keepdim=True)\n"
            "        tmp_2 = tmp_0[slice(None, None, None), -1]\n"
            "        tmp_0 = None\n"
            "        tmp_3 = tmp_2[0]\n"
            "        tmp_2 = None\n"
            "        tmp_4 = tmp_3 ** (-0.5)\n"
            "        tmp_3 = None\n"
            "        tmp_4 += tmp_1\n"
            "        tmp_5 = tmp_4\n"
            "        tmp_4 = tmp_1 = None\n"
            "        tmp_6 = tmp_5.to(device(type='cuda', index=0))\n"
            "        tmp_5 = None\n"
            "        tmp_6[0, 1] = -inf\n"
            "        setitem = tmp_6\n"
            "        setitem = None\n"
            "        return (tmp_6,)");
}

TEST(UpstreamText, OfNoArgumentsAndNoResults) {
  EXPECT_EQ(print_unparsed(parse("", "tmp_0 = torch.arange(1)\nreturn ()")),
            "import torch\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self):\n"
            "        tmp_0 = torch.arange(1)\n        tmp_0 = None\n        return ()");
}

TEST(UpstreamText, WrapsTracedCodeLineByLine) {
  EXPECT_EQ(
      wrap_traced("\n\n\ndef forward(self):\n    inf_1 = torch.arange(1)\n    return (inf_1,)\n    "),
      "import torch\n\nfrom torch import inf\n\nclass GraphModule(torch.nn.Module):\n"
      "    \n    \n    \n    def forward(self):\n        inf_1 = torch.arange(1)\n        return (inf_1,)\n        ");
}

}  // namespace
}  // namespace passnet::fx
