// Kernels and plans as they are written, byte by byte. When a change is meant, copy the file that the failure names; that
// they compute the right thing is tests/author/constructs_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "author/write.h"
#include "base/file/file.h"
#include "base/text/strings.h"
#include "tests/author/example.h"
#include "tests/paths.h"

namespace passnet::author {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::string tensor(const std::string& dtype, const std::string& shape) {
  return R"({"dtype": ")" + dtype + R"(", "shape": [)" + shape + "]}";
}

void expect_golden(const std::string& name, const std::string& found) {
  const std::filesystem::path golden = tests::source_dir() / "tests/author/golden" / name;
  const std::filesystem::path out = tests::binary_dir() / "golden" / name;
  const Result<std::string> expected = read_file(golden, FileKind::Lines);
  if (expected && *expected == found) return;
  ASSERT_TRUE(write_file(out, found));
  EXPECT_EQ(expected ? *expected : to_string(expected.error()), found) << "if meant: cp " << out << ' ' << golden;
}

/// The first lines of the kernels.
std::vector<std::string> parameter_lists(const std::string& text) {
  std::vector<std::string> lists;
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("PASSNET_KERNEL ")) lists.emplace_back(line);
  }
  return lists;
}

Written only_pass(std::vector<Example> examples, const WriteOptions& options = {}) {
  Authored authored = write_all(std::move(examples), options);
  EXPECT_THAT(authored.passes, SizeIs(1));
  // One launch is for both.
  EXPECT_EQ(parameter_lists(authored.passes.at(0).cpp), parameter_lists(authored.passes.at(0).cuda));
  return std::move(authored.passes.at(0));
}

/// x / largest of its row, and the largest
std::vector<Example> over_rows(const std::string& rows, const std::string& width) {
  const std::string x = tensor("float16", rows + ", " + width), of_row = tensor("float16", rows + ", 1");
  return {example("a", "x", "        t = x.amax(-1, keepdim = True)\n        u = x / t\n        return (t, u)\n",
                  {{"x", x}, {"t", of_row}, {"u", x}})};
}

std::vector<Example> over_columns(const std::string& length) {
  return {example("a", "x", "        t = x.mean(1)\n        return (t,)\n",
                  {{"x", tensor("float32", "2, " + length + ", 64")}, {"t", tensor("float32", "2, 64")}})};
}

std::vector<Example> transposed(const std::string& width) {
  const std::string to = tensor("bfloat16", "4, " + width + ", 100");
  return {example("a", "x, y", "        t = x.transpose(1, 2)\n        u = t + y\n        return (u,)\n",
                  {{"x", tensor("bfloat16", "4, 100, " + width)},
                   {"y", to},
                   {"t", R"({"dtype": "bfloat16", "shape": [4, )" + width + R"(, 100], "strides": [)" +
                             std::to_string(100 * std::stoi(width)) + ", 1, " + width + "]}"},
                   {"u", to}})};
}

TEST(Text, SplitsFewLongRows) {
  const Written pass = only_pass(over_rows("3", "200001"));
  expect_golden("long_rows.cu.txt", pass.cuda);
  expect_golden("long_rows.cpp.txt", pass.cpp);
  expect_golden("long_rows.py.txt", pass.python.text);
}

TEST(Text, OverwritesWhatALaterPartOfARowReadsLast) {
  const std::string x = tensor("float32", "3, 200001"), of_row = tensor("float32", "3, 1");
  const Written pass = only_pass(
      {example("a", "x, y",
               "        x += y\n        t = x.amax(-1, keepdim = True)\n        u = x / t\n        return (x, t, u)\n",
               {{"x", x}, {"y", x}, {"iadd", x}, {"t", of_row}, {"u", x}})});
  // The first part leaves x as it was, for the end reads it once more.
  EXPECT_THAT(pass.cpp, HasSubstr("// Computes parts of t.\n"));
  EXPECT_THAT(pass.cpp, HasSubstr("// Computes x, t, u.\n"));
}

// A GPU needs the deviation before the mean there.
TEST(Text, GivesPartsOfARowToBothTargetsInOneOrder) {
  const std::string x = tensor("bfloat16", "4, 64, 56, 56"), channels = tensor("bfloat16", "64");
  const Written pass = only_pass(
      {example("a", "x, w, b", "        t = torch.nn.functional.group_norm(x, 1, w, b, 1e-05)\n        return (t,)\n",
               {{"x", x}, {"w", channels}, {"b", channels}, {"t", x}})});
  EXPECT_THAT(pass.python.text, HasSubstr("_end["));
}

TEST(Text, TakesTheLargestOfARowFromLogsumexpWhereItIsFinite) {
  const Written pass = only_pass({example("a", "x", "        t = torch.logsumexp(x, 1)\n        return (t,)\n",
                                          {{"x", tensor("float32", "8, 100")}, {"t", tensor("float32", "8")}})});
  // Else the sum of a row of -inf would be of exp(-inf + inf).
  for (const std::string& text : {pass.cpp, pass.cuda})
    EXPECT_THAT(text, HasSubstr(" = (abs(t_largest) < (1.0f / 0.0f) ? t_largest : 0.0f);\n"));
}

TEST(Text, SplitsFewLongColumns) {
  const Written pass = only_pass(over_columns("5000"));
  expect_golden("long_columns.cu.txt", pass.cuda);
  expect_golden("long_columns.cpp.txt", pass.cpp);
}

/// The pass of one graph whose products go through tiles.
Written in_tiles(const std::string& inputs, const std::string& body, const Types& types) {
  return only_pass({example("a", inputs, body, types)}, {.tiles = InTiles::OnGpu});
}

TEST(Text, ComputesProductsInTiles) {
  const std::string x = tensor("float16", "4, 64, 14, 14"), to = tensor("float16", "4, 128, 14, 14");
  const Written points = in_tiles(
      "x, w, b",
      "        t = torch.conv2d(x, w, b, (1, 1), (0, 0), (1, 1), 1)\n"
      "        u = torch.nn.functional.silu(t, inplace = False)\n        return (u,)\n",
      {{"x", x}, {"w", tensor("float16", "128, 64, 1, 1")}, {"b", tensor("float16", "128")}, {"t", to}, {"u", to}});
  expect_golden("products.cu.txt", points.cuda);
  expect_golden("products.cpp.txt", points.cpp);
  expect_golden("products.py.txt", points.python.text);
  // Both are kernels of their own, and the sum between them is stored.
  const std::string of_rows = tensor("float32", "8, 100, 64"), square = tensor("float32", "8, 100, 100");
  const Written pass = in_tiles("x, y, z",
                                "        t = torch.matmul(x, y)\n        u = torch.nn.functional.softmax(t, dim = -1)\n"
                                "        v = torch.matmul(u, z)\n        return (v,)\n",
                                {{"x", of_rows},
                                 {"y", tensor("float32", "8, 64, 100")},
                                 {"z", of_rows},
                                 {"t", square},
                                 {"u", square},
                                 {"v", of_rows}});
  EXPECT_EQ(pass.kernels, 3U);
  EXPECT_EQ(pass.products, 2U);
  EXPECT_THAT(pass.cuda, HasSubstr("in_memory<Neighbours::AcrossDepth, PACK>"));
}

/// relu of a convolution of windows that overlap.
Written overlapping_windows(const std::string& channels, InTiles tiles) {
  const std::string x = tensor("float16", "5, " + channels + ", 14, 14"), to = tensor("float16", "5, 128, 7, 7");
  return only_pass({example("a", "x, w",
                            "        t = torch.conv2d(x, w, None, (2, 2), (1, 1), (1, 1), 1)\n"
                            "        u = torch.nn.functional.relu(t, inplace = False)\n        return (u,)\n",
                            {{"x", x}, {"w", tensor("float16", "128, " + channels + ", 3, 3")}, {"t", to}, {"u", to}})},
                   {.tiles = tiles});
}

TEST(Text, LooksAtWindowsInTilesOfACpu) {
  const Written pass = overlapping_windows("64", InTiles::OnCpu);
  expect_golden("windows_in_tiles.cpp.txt", pass.cpp);
  EXPECT_THAT(pass.python.text, HasSubstr("    # On a GPU cuDNN is faster at windows that overlap.\n    if "
                                          "x.is_cuda:\n        return NotImplemented\n"));
}

TEST(Text, LooksAtWindowsOfBlocksOfChannelsInTilesOfAGpu) {
  const Written pass = overlapping_windows("64", InTiles::OnGpu);
  expect_golden("windows_in_blocks.cu.txt", pass.cuda);
  EXPECT_THAT(pass.python.text,
              HasSubstr("    w_in_blocks = torch.empty((batch_2, channels // 16, height_2, height_2, 16)"));
  EXPECT_THAT(pass.python.text, Not(HasSubstr("cuDNN")));
  EXPECT_THAT(overlapping_windows("40", InTiles::OnGpu).cuda, Not(HasSubstr("product_tile<")));
}

TEST(Text, TriesTilesWhereOneOfTheGraphsFits) {
  const auto of = [](const std::string& name, const std::string& size) {
    const std::string square = tensor("float32", size + ", " + size);
    return example(name, "x, y", "        t = torch.matmul(x, y)\n        u = t.relu()\n        return (u,)\n",
                   {{"x", square}, {"y", square}, {"t", square}, {"u", square}});
  };
  EXPECT_THAT(only_pass({of("a", "64"), of("b", "8192")}, {.tiles = InTiles::OnGpu}).cuda, HasSubstr("product_tile<"));
  EXPECT_THAT(only_pass({of("b", "8192")}, {.tiles = InTiles::OnGpu}).cuda, Not(HasSubstr("product_tile<")));
}

TEST(Text, StoresWhatProductsInTilesTake) {
  // Its root is computed once, not for each tile that reads it; what only moves is read where it lies.
  const std::string x = tensor("bfloat16", "96, 64"), y = tensor("bfloat16", "64, 80"),
                    wide = tensor("bfloat16", "96, 80");
  const auto pass_of = [&](const std::string& statement) {
    return in_tiles("x, y", "        t = " + statement + "\n        u = torch.matmul(t, y)\n        return (u,)\n",
                    {{"x", x}, {"y", y}, {"t", x}, {"u", wide}});
  };
  EXPECT_EQ(pass_of("torch.nn.functional.gelu(x)").kernels, 2U);
  EXPECT_EQ(pass_of("x * 2.0").kernels, 1U);
  EXPECT_THAT(pass_of("x * 2.0").cuda, HasSubstr("computed<Neighbours::AlongDepth>"));
}

TEST(Text, HasNoKernelsForRowsThatAreNotSplit) {
  for (const Written& pass :
       {only_pass(over_rows("3", "1000")), only_pass(over_rows("1000", "200001")),
        only_pass(over_rows("3", "200001"), {.schedules = {{"amax_div", {.split_blocks = 0, .tasks = 1}}}})}) {
    EXPECT_THAT(pass.cuda, Not(HasSubstr("PARTS"))) << pass.name;
    EXPECT_THAT(pass.python.text, Not(HasSubstr("parts"))) << pass.name;
  }
}

TEST(Text, CountsTheLoopOfAnItemAsItsWork) {
  EXPECT_THAT(only_pass(over_columns("5")).python.text, HasSubstr("items_grid(x, batch * width, length, 1, block)"));
}

TEST(Text, ReadsRowsOnceThatAreStoredAcross) {
  const std::string rows = tensor("float32", "2, 49, 256"), of_row = tensor("float32", "256"),
                    columns = tensor("float32", "2, 256, 49");
  const Written pass =
      only_pass({example("a", "x, w",
                         "        t = torch.nn.functional.layer_norm(x, (256,), w, None, 1e-05)\n"
                         "        u = t.transpose(1, 2)\n        v = u.contiguous()\n        return (v,)\n",
                         {{"x", rows},
                          {"w", of_row},
                          {"t", rows},
                          {"u", R"({"dtype": "float32", "shape": [2, 256, 49], "strides": [12544, 1, 256]})"},
                          {"v", columns}})});
  EXPECT_THAT(pass.cuda, AllOf(HasSubstr("layer_norm_moments<THREADS, WIDTH>"), HasSubstr("load<PACK>(x + ")));
  EXPECT_THAT(pass.cpp, AllOf(HasSubstr("turn_rows(x + "), HasSubstr("chunk(BATCH * LENGTH, kLanes)")));
  EXPECT_THAT(pass.python.text, AllOf(HasSubstr("[rows_grid(x, "), HasSubstr("THREADS=threads")));
  EXPECT_THAT(sentences(pass.explained, Saving{}), Contains(HasSubstr("read along rows and stored across them")));
}

TEST(Text, SendsTransposesThroughTiles) {
  const Written pass = only_pass(transposed("70"));
  expect_golden("transposed.cu.txt", pass.cuda);
  expect_golden("transposed.cpp.txt", pass.cpp);
  expect_golden("transposed.py.txt", pass.python.text);
}

TEST(Text, KeepsThePlacesThatAPictureIsScaledTo) {
  const std::string small = tensor("float16", "1, 16, 5, 7"), large = tensor("float16", "1, 16, 10, 14");
  const Written pass = only_pass({example("a", "x, y",
                                          "        t = torch.nn.functional.interpolate(x, None, 2.0, \"nearest\")\n"
                                          "        u = t + y\n        return (u,)\n",
                                          {{"x", small}, {"y", large}, {"t", large}, {"u", large}})});
  expect_golden("scaled.cpp.txt", pass.cpp);
}

TEST(Text, LetsStackedTensorsTakeTurnsInLanes) {
  const std::string half = tensor("float16", "3, 8, 50"), whole = tensor("float16", "3, 8, 100");
  const Written pass = only_pass({example("a", "x, y, z",
                                          "        t = -x\n        u = torch.stack((t, y), -1)\n"
                                          "        v = u.flatten(-2)\n        w = v * z\n        return (w,)\n",
                                          {{"x", half},
                                           {"y", half},
                                           {"z", whole},
                                           {"t", half},
                                           {"u", tensor("float16", "3, 8, 50, 2")},
                                           {"v", whole},
                                           {"w", whole}})});
  expect_golden("turns.cpp.txt", pass.cpp);
  EXPECT_THAT(pass.python.text, HasSubstr("width_2 % 2 != 0"));
}

/// Means of what lies around each place, beside what lies there.
std::vector<Example> windows() {
  const std::string x = tensor("float16", "8, 48, 57, 31");
  return {example("a", "x",
                  "        t = torch.nn.functional.avg_pool2d(x, 3, 1, 1, False, False)\n        u = t - x\n"
                  "        v = torch.cat([x, u], 1)\n        return (v,)\n",
                  {{"x", x}, {"t", x}, {"u", x}, {"v", tensor("float16", "8, 96, 57, 31")}})};
}

TEST(Text, TakesWindowsInBands) {
  const Written pass = only_pass(windows());
  expect_golden("windows.cu.txt", pass.cuda);
  expect_golden("windows.cpp.txt", pass.cpp);
  expect_golden("windows.py.txt", pass.python.text);
}

/// Places by a mask, and the last of each row.
std::vector<Example> running_sums() {
  const std::string x = tensor("bool", "8, 256"), counted = tensor("int64", "8, 256");
  return {example("a", "x",
                  "        t = x.to(torch.int64)\n        u = t.cumsum(-1)\n        v = u - 1\n"
                  "        w = v.amax(-1)\n        return (v, w)\n",
                  {{"x", x}, {"t", counted}, {"u", counted}, {"v", counted}, {"w", tensor("int64", "8")}})};
}

TEST(Text, GoesThroughARowOnceForRunningSums) {
  const Written pass = only_pass(running_sums());
  expect_golden("running_sums.cu.txt", pass.cuda);
  expect_golden("running_sums.cpp.txt", pass.cpp);
}

/// A picture with a scale for each channel, padded to an odd width.
std::vector<Example> odd_rows(const std::string& width, const std::string& padded) {
  const std::string x = tensor("bfloat16", "8, 16, " + width + ", " + width),
                    to = tensor("bfloat16", "8, 16, " + padded + ", " + padded);
  return {example("a", "x, y, z",
                  "        t = x * y\n        u = t + z\n"
                  "        v = torch.nn.functional.pad(u, (0, 1, 0, 1), 'constant', None)\n        return (v,)\n",
                  {{"x", x},
                   {"y", tensor("bfloat16", "16, 1, 1")},
                   {"z", tensor("bfloat16", "1")},
                   {"t", x},
                   {"u", x},
                   {"v", to}})};
}

TEST(Text, TakesNeighboursAcrossOddRows) {
  const Written pass = only_pass(odd_rows("56", "57"));
  expect_golden("odd_rows.cu.txt", pass.cuda);
  EXPECT_THAT(pass.python.text,
              HasSubstr("pack = pack_of(v, batch * channels * (height + 1) * (height + 1), PACK_THREADS, "
                        "(batch * channels * (height + 1) * (height + 1),))"));
  // Rows that a pack has room in are taken one by one.
  EXPECT_THAT(only_pass(odd_rows("55", "56")).cuda, Not(HasSubstr("count")));
}

TEST(Text, ReadsTheOnlyElementOfAPictureInsideOfItsEdgeAlone) {
  const Written pass = only_pass({example("a", "x",
                                          "        t = torch.nn.functional.pad(x, (1, 1, 1, 1), 'constant', None)\n"
                                          "        u = t * 2.0\n        return (u,)\n",
                                          {{"x", tensor("float16", "1, 1, 1, 1")},
                                           {"t", tensor("float16", "1, 1, 3, 3")},
                                           {"u", tensor("float16", "1, 1, 3, 3")}})});
  EXPECT_THAT(pass.cuda, HasSubstr("count"));
  EXPECT_THAT(pass.cuda, HasSubstr("? to_float(x["));
}

/// A convolution of single channels, and the larger of what lies beside each other in every other place of it.
std::vector<Example> padded_windows() {
  const std::string small = tensor("bfloat16", "2, 24, 14, 20"), large = tensor("bfloat16", "4, 24, 28, 22");
  const auto one = [](const char* name, const std::string& x, const char* half) {
    return example(name, "x, w, b",
                   "        t = torch.conv2d(x, w, b, (1, 1), (1, 1), (1, 1), 24)\n"
                   "        u = torch.nn.functional.max_pool2d(x, 3, 2, 1, 1, ceil_mode=False, return_indices=False)\n"
                   "        return (t, u)\n",
                   {{"x", x},
                    {"w", tensor("bfloat16", "24, 1, 3, 3")},
                    {"b", tensor("bfloat16", "24")},
                    {"t", x},
                    {"u", tensor("bfloat16", half)}});
  };
  return {one("a", small, "2, 24, 7, 10"), one("b", large, "4, 24, 14, 11")};
}

TEST(Text, CopiesWhatWindowsLookAt) {
  const Authored authored = write_all(padded_windows(), {});
  std::string texts;
  for (const Written& pass : authored.passes) texts += pass.cpp;
  expect_golden("padded_windows.cpp.txt", texts);
}

/// A convolution of single channels, which are many, of small pictures.
TEST(Text, TurnsPlanesOfManyChannels) {
  const auto one = [](const char* name, const std::string& batch) {
    const std::string x = tensor("float16", batch + ", 96, 7, 7");
    return example(name, "x, w, b",
                   "        t = torch.conv2d(x, w, b, (1, 1), (1, 1), (1, 1), 96)\n"
                   "        u = torch.nn.functional.relu(t, inplace=False)\n        v = u + x\n        return (v,)\n",
                   {{"x", x},
                    {"w", tensor("float16", "96, 1, 3, 3")},
                    {"b", tensor("float16", "96")},
                    {"t", x},
                    {"u", x},
                    {"v", x}});
  };
  expect_golden("planes.cpp.txt", only_pass({one("a", "1"), one("b", "8")}, {}).cpp);
}

/// What follows a picture that was made flat goes along its rows, which windows look at.
TEST(Text, GoesAlongRowsOfWhatWasMadeFlat) {
  const auto one = [](const char* name, const std::string& batch) {
    const std::string x = tensor("float32", batch + ", 24, 14, 20"), flat = tensor("float32", batch + ", 24, 280");
    return example(name, "x, w",
                   "        t = torch.conv2d(x, w, None, (1, 1), (1, 1), (1, 1), 24)\n        u = t.flatten(2)\n"
                   "        y = u * 2.0\n        return (y,)\n",
                   {{"x", x}, {"w", tensor("float32", "24, 1, 3, 3")}, {"t", x}, {"u", flat}, {"y", flat}});
  };
  const Written pass = only_pass({one("a", "1"), one("b", "8")}, {});
  EXPECT_THAT(pass.cpp, HasSubstr("pad_row("));
}

/// Dimensions that became one are as many as that one: sizes that the graph is given apart need not be.
TEST(Text, AsksWhetherWhatWasMadeFlatIsAsMany) {
  const auto one = [](const char* name, const std::string& heads, const std::string& all) {
    const std::string y = tensor("float32", "1, " + all + ", 7, 7");
    return example(name, "q, v, x",
                   "        t = q @ v\n        u = t.transpose(2, 3)\n        w = u.reshape(1, " + all +
                       ", 7, 7)\n        y = w + x\n        return (y,)\n",
                   {{"q", tensor("float32", "1, " + heads + ", 49, 20")},
                    {"v", tensor("float32", "1, " + heads + ", 20, 32")},
                    {"x", y},
                    {"t", tensor("float32", "1, " + heads + ", 49, 32")},
                    {"u", tensor("float32", "1, " + heads + ", 32, 49")},
                    {"w", y},
                    {"y", y}});
  };
  const Written pass = only_pass({one("a", "2", "64"), one("b", "4", "128")}, {.tiles = InTiles::OnCpu});
  EXPECT_THAT(pass.cpp, HasSubstr("product_tile("));
  EXPECT_THAT(pass.python.text, HasSubstr("channels * width_2 != channels_2"));
}

/// Of 20 channels: more steps than a tile needs.
TEST(Text, MultipliesFewChannelsInTiles) {
  const auto one = [](const char* name, const std::string& batch) {
    const std::string y = tensor("float32", batch + ", 32, 14, 14");
    return example(name, "x, w",
                   "        t = torch.conv2d(x, w, None, (1, 1), (0, 0), (1, 1), 1)\n        y = t * 2.0\n"
                   "        return (y,)\n",
                   {{"x", tensor("float32", batch + ", 20, 14, 14")},
                    {"w", tensor("float32", "32, 20, 1, 1")},
                    {"t", y},
                    {"y", y}});
  };
  const std::vector<Example> examples = {one("a", "1"), one("b", "8")};
  EXPECT_THAT(only_pass(examples, {.tiles = InTiles::OnCpu}).cpp, HasSubstr("product_tile("));
  EXPECT_THAT(only_pass(examples, {.tiles = InTiles::OnGpu}).cpp, Not(HasSubstr("product_tile(")));
}

/// A larger picture, a sum, and what is there, one after the other.
std::vector<Example> one_of_three() {
  const std::string small = tensor("bfloat16", "8, 16, 20, 32"), large = tensor("bfloat16", "8, 16, 40, 64");
  return {example("a", "x, y, z",
                  "        t = torch.nn.functional.interpolate(x, None, 2.0, 'nearest')\n        u = y + z\n"
                  "        v = torch.cat([t, u, z], 1)\n        return (v,)\n",
                  {{"x", small},
                   {"y", large},
                   {"z", large},
                   {"t", large},
                   {"u", large},
                   {"v", tensor("bfloat16", "8, 48, 40, 64")}})};
}

/// The names that a text declares, in their order; those of a block within another are told apart by their indent.
std::vector<std::string> declared(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n')) {
    const size_t begin = line.find_first_not_of(' '), end = line.find(" = ");
    if (begin == std::string_view::npos || end == std::string_view::npos) continue;
    if (line.substr(begin).starts_with("const ")) names.emplace_back(line.substr(0, end));
  }
  return names;
}

// A sum without loads is computed once for all elements, and one of loaded values once for each condition.
TEST(Text, DeclaresEachNameOnceWhereElementsAreChosen) {
  const std::string x = tensor("float32", "2, 5"), i = tensor("int64", "5"), stacked = tensor("float32", "2, 5, 3");
  const std::vector<Example> examples = {
      example("a", "x, y",
              "        s = torch.arange(5)\n        t = s + 1\n        u = x + y\n        v = u * t\n"
              "        w = torch.stack([u, v, u - t], -1)\n        return (w,)\n",
              {{"x", x}, {"y", x}, {"s", i}, {"t", i}, {"u", x}, {"v", x}, {"sub", x}, {"w", stacked}})};
  const std::string text = only_pass(examples).cuda;
  std::vector<std::string> names = declared(text);
  EXPECT_THAT(text, HasSubstr(" ? "));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << text;
}

TEST(Text, TakesNeighboursAtOnceOfWhatIsChosen) {
  const Written pass = only_pass(one_of_three());
  expect_golden("one_of_three.cu.txt", pass.cuda);
  expect_golden("one_of_three.py.txt", pass.python.text);
}

/// Of the longest element that is stored: others may be read in two accesses, or in half of one.
TEST(Text, StoresAsManyNeighboursAsOneAccessHolds) {
  const auto product = [](const std::string& of, const std::string& to) {
    return only_pass({example("a", "x", "        t = x.to(torch." + to + ")\n        u = t * 3\n        return (u,)\n",
                              {{"x", tensor(of, "64, 96")}, {"t", tensor(to, "64, 96")}, {"u", tensor(to, "64, 96")}})})
        .python.text;
  };
  EXPECT_THAT(product("bfloat16", "float32"), HasSubstr("pack = pack_of(u, rows * width"));
  EXPECT_THAT(product("float32", "bfloat16"), HasSubstr("pack = pack_of(u, rows * width"));
}

/// A norm over three parts that lie beside each other.
std::vector<Example> beside_each_other() {
  const auto one = [](const char* name, const std::string& rows, const std::string& width, const std::string& all) {
    const std::string x = tensor("float16", rows + ", " + width), u = tensor("float16", rows + ", " + all);
    return example(
        name, "x, y, w",
        "        t = torch.cat([x, y, x], -1)\n"
        "        u = torch.nn.functional.layer_norm(t, (" +
            all + ",), w, None, 1e-05)\n        return (u,)\n",
        {{"x", x}, {"y", tensor("float16", rows + ", 40")}, {"w", tensor("float16", all)}, {"t", u}, {"u", u}});
  };
  return {one("a", "64", "100", "240"), one("b", "32", "150", "340")};
}

TEST(Text, TakesPartsBesideEachOtherInLanes) {
  const Written pass = only_pass(beside_each_other());
  expect_golden("beside_each_other.cpp.txt", pass.cpp);
  expect_golden("beside_each_other.py.txt", pass.python.text);
}

/// A norm over four neighbours of a picture, each of them a run of channels.
std::vector<Example> windows_of_four(const std::string& width) {
  const auto of = [](const std::string& shape) { return tensor("float16", shape); };
  const std::string four = std::to_string(4 * std::stoi(width));
  return {example("a", "x, w",
                  "        t = x.reshape(2, 4, 2, 4, 2, " + width +
                      ")\n        u = t.permute(0, 1, 3, 4, 2, 5)\n        v = u.reshape(32, " + four +
                      ")\n        y = torch.nn.functional.layer_norm(v, (" + four +
                      ",), w, None, 1e-05)\n        return (y,)\n",
                  {{"x", of("2, 8, 8, " + width)},
                   {"w", of(four)},
                   {"t", of("2, 4, 2, 4, 2, " + width)},
                   {"u", R"({"dtype": "float16", "shape": [2, 4, 4, 2, 2, )" + width + R"(], "strides": [)" +
                             std::to_string(64 * std::stoi(width)) + ", " + std::to_string(16 * std::stoi(width)) +
                             ", " + std::to_string(2 * std::stoi(width)) + ", " + width + ", " +
                             std::to_string(8 * std::stoi(width)) + ", 1]}"},
                   {"v", of("32, " + four)},
                   {"y", of("32, " + four)}})};
}

TEST(Text, TakesRunsOfWhatLiesInPieces) {
  const Written pass = only_pass(windows_of_four("96"));
  expect_golden("windows_of_four.cu.txt", pass.cuda);
  expect_golden("windows_of_four.py.txt", pass.python.text);
}

TEST(Text, TakesElementsOfShortPiecesOneByOne) {
  expect_golden("windows_of_four_odd.cu.txt", only_pass(windows_of_four("27")).cuda);
}

TEST(Text, HasNoTilesWhereALoopIsShort) {
  EXPECT_THAT(only_pass(transposed("15")).cuda, Not(HasSubstr("__shared__")));
  EXPECT_THAT(only_pass(transposed("70"), {.schedules = {{"fused_add", {.tiles = false}}}}).cuda,
              Not(HasSubstr("__shared__")));
}

}  // namespace
}  // namespace passnet::author
