// Passes whose plans call PyTorch: what they say, without running it. That they compute the right thing is constructs_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "author/write.h"
#include "tests/author/example.h"

namespace passnet::author {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string type_of(const std::string& shape, const std::string& dtype = "float32") {
  return R"({"dtype": ")" + dtype + R"(", "shape": [)" + shape + "]}";
}

Authored written(const Example& one, Library library = Library::Called, bool products = true) {
  return write_all({one}, {.products = products, .library = library});
}

/// The statements stand in the text, in this order.
void expect_in_order(const std::string& text, const std::vector<std::string>& statements) {
  size_t at = 0;
  for (const std::string& one : statements) {
    const size_t found = text.find(one, at);
    ASSERT_NE(found, std::string::npos) << one << "\nis not there, or not in this place, in\n" << text;
    at = found + one.size();
  }
}

/// A convolution with a bias, its norm, an activation and a residual.
Example convolution(const std::string& dtype, const std::string& channels = "16") {
  const std::string image = type_of("2, 16, 8, 8", dtype), by_channel = type_of("16", dtype);
  return example("one", "x, w, bias, average, factor",
                 "        conv = torch.conv2d(x, w, bias, (1, 1), (1, 1), (1, 1), " +
                     std::string(channels == "1" ? "16" : "1") +
                     ")\n        normed = torch.nn.functional.batch_norm(conv, average, factor, factor, average, "
                     "False, 0.1, 1e-05)\n"
                     "        sum_1 = normed + x\n        act = torch.nn.functional.relu(sum_1, inplace = True)\n"
                     "        return (act,)\n",
                 {{"x", image},
                  {"w", type_of("16, " + channels + ", 3, 3", dtype)},
                  {"bias", by_channel},
                  {"average", by_channel},
                  {"factor", by_channel},
                  {"conv", image},
                  {"normed", image},
                  {"sum_1", image},
                  {"act", image}});
}

TEST(Calls, OfAConvolutionLeaveItsBiasToTheKernelBehindIt) {
  const Authored made = written(convolution("float32"));
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.left, IsEmpty());
  const Written& pass = made.passes[0];
  EXPECT_EQ(pass.name, "conv2d_batch_norm_add_relu");
  EXPECT_THAT(pass.calls, ElementsAre("torch.conv2d"));
  EXPECT_EQ(pass.kernels, 1U);
  EXPECT_EQ(pass.products, 0U);
  expect_in_order(
      pass.python.text,
      {"def pattern(", "conv = torch.conv2d(x, w, bias, (1, 1), (1, 1), (1, 1), 1)", "def conv2d_batch_norm",
       "    conv_without_bias = torch.conv2d(x, w, None, (1, 1), (1, 1), (1, 1), 1)\n"
       "    if (conv_without_bias.shape[2] != height or conv_without_bias.shape[3] != height\n"
       "            or not conv_without_bias.is_contiguous()):\n        return NotImplemented\n",
       "act = torch.empty(", "conv2d_batch_norm_add_relu_kernel[", "    return act\n"});
  for (const std::string& text : {pass.cpp, pass.cuda}) {
    EXPECT_THAT(text, HasSubstr("const float* conv_without_bias"));
    EXPECT_THAT(text, HasSubstr("const float* bias,"));
  }
  EXPECT_THAT(pass.python.text, Not(HasSubstr("is_cuda and")));
}

TEST(Calls, AreNoneWithoutTheLibrary) {
  const Authored made = written(convolution("float32"), Library::None);
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_EQ(made.passes[0].name, "batch_norm_add_relu");
  EXPECT_THAT(made.passes[0].calls, IsEmpty());
  ASSERT_THAT(made.left, SizeIs(1));
  EXPECT_EQ(made.left[0].why, "a convolution that libraries are faster at");
}

TEST(Calls, RoundAHalfBeforeItsBiasAsOnAGpu) {
  const Written pass = written(convolution("float16")).passes.at(0);
  EXPECT_THAT(pass.python.text, HasSubstr("    # On a CPU PyTorch adds the bias of a convolution before it rounds.\n"
                                          "    if not x.is_cuda:\n        return NotImplemented\n"));
  expect_in_order(pass.cuda, {"to_float(bias[", "load<PACK>(conv_without_bias + ", "rounded<float16>("});
}

TEST(Calls, KeepTheBiasOfAConvolutionOfSingleChannels) {
  const Authored made = written(convolution("float16", "1"), Library::Called, false);
  // Nothing of it is taken over by a kernel, so PyTorch calls it as well.
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_THAT(made.passes[0].calls, IsEmpty());
  ASSERT_THAT(made.left, SizeIs(1));
  EXPECT_EQ(made.left[0].why, "a product, which this form leaves to PyTorch");
}

TEST(Kernels, OfSingleChannelsLeaveOutWeightsBesideThePictureOnAGpu) {
  const Written pass = written(convolution("float32", "1"), Library::None).passes.at(0);
  EXPECT_THAT(pass.cuda, HasSubstr("? product : 0)"));  // a weight that is not finite counts where it meets an element
  EXPECT_THAT(pass.cpp, Not(HasSubstr("product : 0")));
}

TEST(Calls, MeasureTheAlgorithmsOfCudnn) {
  const Written pass = written(convolution("float32"), Library::Measured).passes.at(0);
  expect_in_order(
      pass.python.text,
      {"    if x.is_cuda:\n",
       "        conv_without_bias = torch.cudnn_convolution(x, w, (1, 1), (1, 1), (1, 1), 1, benchmark=True, "
       "deterministic=False, allow_tf32=True)\n    else:\n"
       "        conv_without_bias = torch.conv2d(x, w, None, (1, 1), (1, 1), (1, 1), 1)\n"
       "    if (conv_without_bias.shape[2]"});
  ASSERT_THAT(pass.explained.called, SizeIs(1));
  EXPECT_TRUE(pass.explained.called[0].measured);
}

TEST(Calls, TakeAndGivePicturesWithChannelsLast) {
  const Written pass = written(convolution("float16"), Library::ChannelsLast).passes.at(0);
  EXPECT_EQ(pass.kernels, 2U);
  ASSERT_THAT(pass.explained.called, SizeIs(1));
  EXPECT_TRUE(pass.explained.called[0].channels_last);
  expect_in_order(
      pass.python.text,
      {"    x_channels_last = torch.empty((batch, height, height, channels), dtype=torch.float16).permute(0, 3, 1, "
       "2)\n",
       "    conv_without_bias_channels_last = torch.conv2d(x_channels_last, w, None, (1, 1), (1, 1), (1, 1), 1)\n",
       "conv_without_bias_channels_last.stride() != (channels * height * height, 1, height * channels, channels)",
       "act = torch.empty(", "    return act\n"});
}

TEST(Calls, StandBetweenTheKernelsOfWhatTheyTakeAndGive) {
  const std::string rows = type_of("4, 32, 64"), wide = type_of("4, 32, 256");
  const Authored made = written(example(
      "one", "x, w, bias, factor",
      "        normed = torch.nn.functional.layer_norm(x, (64,), factor, None, 1e-05)\n"
      "        linear = torch.nn.functional.linear(normed, w, bias)\n        act = torch.nn.functional.gelu(linear)\n"
      "        return (act,)\n",
      {{"x", rows},
       {"w", type_of("256, 64")},
       {"bias", type_of("256")},
       {"factor", type_of("64")},
       {"normed", rows},
       {"linear", wide},
       {"act", wide}}));
  ASSERT_THAT(made.passes, SizeIs(1));
  const Written& pass = made.passes[0];
  EXPECT_EQ(pass.kernels, 2U);
  EXPECT_EQ(pass.launches(), 3U);
  // A product adds its bias before it rounds, so that it stays there.
  expect_in_order(pass.python.text,
                  {"normed = torch.empty(", "_kernel_1[", "    linear = torch.nn.functional.linear(normed, w, bias)\n",
                   "act = torch.empty(", "_kernel_2["});
  using Place = ValuePlace::Place;
  std::vector<Place> places;
  for (const ValuePlace& one : pass.explained.values) {
    if (one.value == "normed" || one.value == "linear" || one.value == "act") places.push_back(one.place);
  }
  EXPECT_THAT(places, ElementsAre(Place::Stored, Place::Called, Place::Stored));
}

TEST(Calls, TakeViewsThatThePlanMakes) {
  const std::string heads = type_of("2, 4, 256, 32"), rows = type_of("2, 256, 128");
  const Authored made = written(
      example("one", "x, wq, wv, out_1",
              "        scaled = x * 0.125\n"
              "        apart = scaled.view(2, 256, 4, 32)\n        heads = apart.transpose(1, 2)\n"
              "        given = wv.view(2, 256, 4, 32)\n        values = given.transpose(1, 2)\n"
              "        attention = torch.nn.functional.scaled_dot_product_attention(heads, values, values)\n"
              "        back = attention.transpose(1, 2)\n        joined = back.reshape(2, 256, 128)\n"
              "        projected = torch.nn.functional.linear(joined, wq, None)\n        result = projected + x\n"
              "        return (result,)\n",
              {{"x", rows},
               {"wq", type_of("128, 128")},
               {"wv", rows},
               {"out_1", rows},
               {"scaled", rows},
               {"apart", type_of("2, 256, 4, 32")},
               {"heads", R"({"dtype": "float32", "shape": [2, 4, 256, 32], "strides": [32768, 32, 128, 1]})"},
               {"given", type_of("2, 256, 4, 32")},
               {"values", R"({"dtype": "float32", "shape": [2, 4, 256, 32], "strides": [32768, 32, 128, 1]})"},
               {"attention", R"({"dtype": "float32", "shape": [2, 4, 256, 32], "strides": [32768, 32, 128, 1]})"},
               {"back", type_of("2, 256, 4, 32")},
               {"joined", rows},
               {"projected", rows},
               {"result", rows}}));
  ASSERT_THAT(made.passes, SizeIs(1));
  const Written& pass = made.passes[0];
  EXPECT_THAT(pass.calls,
              ElementsAre("torch.nn.functional.scaled_dot_product_attention", "torch.nn.functional.linear"));
  EXPECT_THAT(made.left, IsEmpty());
  expect_in_order(
      pass.python.text,
      {"def mul_scaled", "scaled = torch.empty(", "_kernel_1[", "    apart = scaled.view(2, 256, 4, 32)\n",
       "    heads = apart.transpose(1, 2)\n",
       "attention = torch.nn.functional.scaled_dot_product_attention(heads, values, values)\n",
       "attention.stride() != (", "    back = attention.transpose(1, 2)\n", "    joined = back.reshape(2, 256, 128)\n",
       "    projected = torch.nn.functional.linear(joined, wq, None)\n", "_kernel_2[", "    return result\n"});
}

TEST(Calls, AreLeftOutWhereNothingIsGained) {
  const std::string rows = type_of("4, 32, 64");
  const Authored made =
      written(example("one", "x, w",
                      "        linear = torch.nn.functional.linear(x, w, None)\n"
                      "        act = torch.nn.functional.gelu(linear)\n"
                      "        last = torch.nn.functional.linear(act, w, None)\n        return (last,)\n",
                      {{"x", rows}, {"w", type_of("64, 64")}, {"linear", rows}, {"act", rows}, {"last", rows}}));
  ASSERT_THAT(made.passes, SizeIs(1));
  EXPECT_EQ(made.passes[0].name, "fused_gelu");
  EXPECT_THAT(made.left, SizeIs(2));
}

TEST(Calls, KeepTheReasonOfWhatIsNotCalled) {
  const std::string rows = type_of("4, 2, 32, 64");
  const Authored made = written(example(
      "one", "x",
      "        half = x * 0.5\n"
      "        some = torch.nn.functional.scaled_dot_product_attention(half, half, half, dropout_p = 0.5)\n"
      "        order = torch.argsort(some)\n        act = torch.nn.functional.gelu(some)\n        return (act, "
      "order)\n",
      {{"x", rows}, {"half", rows}, {"some", rows}, {"act", rows}, {"order", type_of("4, 2, 32, 64", "int64")}}));
  ASSERT_THAT(made.left, SizeIs(2));
  EXPECT_EQ(made.left[0].why, "attention that drops elements at random");
  EXPECT_EQ(made.left[1].why, "no kernel can be written for 'argsort'");
}

TEST(Calls, AreLeftOutOfPartsThatOverwriteInputs) {
  const std::string rows = type_of("4, 32, 64");
  const Authored made = written(
      example("one", "x, w",
              "        own = x.mul_(2.0)\n        half = own * 0.25\n"
              "        linear = torch.nn.functional.linear(half, w, None)\n"
              "        act = torch.nn.functional.gelu(linear)\n        return (act, own)\n",
              {{"x", rows}, {"w", type_of("64, 64")}, {"own", rows}, {"half", rows}, {"linear", rows}, {"act", rows}}));
  EXPECT_THAT(made.passes, SizeIs(2));
  for (const Written& pass : made.passes) EXPECT_THAT(pass.calls, IsEmpty());
  ASSERT_THAT(made.left, SizeIs(1));
  EXPECT_EQ(made.left[0].why, "a product that libraries are faster at");
}

}  // namespace
}  // namespace passnet::author
