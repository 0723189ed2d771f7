#include <gtest/gtest.h>

#include "dataset/official/piece.h"
#include "dataset/official/piece_records.h"
#include "dataset/official/typed_piece.h"
#include "dataset/official/whole.h"
#include "fx/graph_text.h"
#include "fx/upstream_text.h"
#include "graphdir/graph_hash.h"

namespace passnet::dataset::official {
namespace {

const std::string kArguments = "L_x_, L_w_";
const std::string kAliases = "l_x_ = L_x_\nl_w_ = L_w_\n";

// The signature and the body of a piece of a model with these arguments.
std::string piece_text(const std::string& body, analysis::Range range) {
  const ir::Graph whole = as_counted(fx::parse(kArguments, kAliases + body));
  const std::string text = fx::print_unparsed(with_public_targets(cut_piece(whole, traced_names(whole), range).graph));
  return text.substr(text.find("def forward(self") + 16);
}

TEST(OfficialWhole, DevicesAreOfTheGpu) {
  const ir::Graph whole =
      as_counted(fx::parse("x", "y = x.to(device(type='cpu'))\nz = y.to(device(type='cuda', index=0))\nreturn (z,)"));
  EXPECT_EQ(fx::dump(whole),
            "y = x.to(device(type=\"cuda\"))\nz = y.to(device(type=\"cuda\", index=0))\nreturn (z,)\n");
}

TEST(OfficialWhole, ASecondTraceChecksASizeOnceMore) {
  const ir::Graph whole =
      as_counted(fx::parse("x",
                           "n = torch.ops.aten.sym_size.int(x, 1)\nc = torch._check_is_size(n)\nc = None\nge = n >= 0\n"
                           "a = torch.ops.aten._assert_scalar.default(ge, \"u0 >= 0 on node 'ge'\")\nge = a = None\ny "
                           "= x + n\nreturn (y,)"));
  EXPECT_EQ(fx::dump(whole),
            "n = torch.ops.aten.sym_size.int(x, 1)\nc = torch._check_is_size(n)\nge = n >= 0\n"
            "a = torch.ops.aten._assert_scalar.default(ge, \"u0 >= 0 on node 'ge_1'\")\n"
            "_check_is_size_of_second_trace = torch._check_is_size(n)\ny = x + n\nreturn (y,)\n");
  const std::string unchecked =
      "n = x.item()\nle = n <= 17\n"
      "a = torch.ops.aten._assert_scalar.default(le, \"u0 <= 17 on node 'le'\")\nreturn (n,)";
  EXPECT_EQ(fx::dump(as_counted(fx::parse("x", unchecked))), unchecked + "\n") << "no size is checked there";
}

TEST(OfficialPiece, NamesAreThoseOfASecondTrace) {
  const ir::Graph whole = fx::parse(kArguments, kAliases +
                                                    "x_1 = torch.relu(l_x_)\nx_1 += l_w_\nout = x_1\nx_2 = out + 1\n"
                                                    "return (x_2,)");
  EXPECT_EQ(traced_names(whole), (std::vector<std::string>{"L_x_", "L_w_", "x_1", "x_2", "x_3", "output"}));
}

TEST(OfficialPiece, ArgumentsAreSortedByNameAndAliasedWhereTheyHaveCapitals) {
  EXPECT_EQ(
      piece_text("b = l_x_ + l_w_\na = b * 2\nx_9 = b + a\nx_10 = x_9 - a\ny = x_9 * l_w_\nz = y + x_10\nreturn (z,)",
                 {4, 6}),
      ", in_0, in_1, in_2):\n"
      "        tmp_0 = in_0\n"
      "        tmp_1 = in_2 * tmp_0\n"
      "        tmp_0 = None\n"
      "        tmp_2 = tmp_1 + in_1\n"
      "        tmp_1 = None\n"
      "        return (tmp_2,)")
      << "L_w_, x_10, x_9";
}

TEST(OfficialPiece, OutputsAreSortedByNameButNotAtTheEnd) {
  const std::string body = "b = l_x_ + 1\na = l_x_ + 2\nc = a + b\nreturn (b, a)";
  EXPECT_NE(piece_text(body, {0, 2}).find("return (tmp_2, tmp_1)"), std::string::npos);
  EXPECT_NE(piece_text(body, {0, 99}).find("return (tmp_1, tmp_2)"), std::string::npos) << "an end behind the model";
  EXPECT_NE(piece_text("b = l_x_ + 1\nc = b + 1\nreturn (l_x_,)", {0, 2}).find("return ()"), std::string::npos);
}

TEST(OfficialPiece, ValuesEndInTheOrderOfArgumentsAndUnusedOnesAtOnce) {
  EXPECT_EQ(piece_text("a = l_x_ + 1\nb = l_x_ + 2\nc = torch.where(a, b, other=a)\nl_x_ += b\nd = l_x_\nreturn (d,)",
                       {0, 4}),
            ", in_0):\n"
            "        tmp_0 = in_0\n"
            "        tmp_1 = tmp_0 + 1\n"
            "        tmp_2 = tmp_0 + 2\n"
            "        tmp_3 = torch.where(tmp_1, tmp_2, other=tmp_1)\n"
            "        tmp_1 = tmp_3 = None\n"
            "        tmp_0 += tmp_2\n"
            "        tmp_4 = tmp_0\n"
            "        tmp_0 = tmp_2 = None\n"
            "        return (tmp_4,)");
}

TEST(OfficialPiece, FunctionsHaveTheirPublicNames) {
  EXPECT_EQ(piece_text("a = torch._C._nn.linear(l_x_, l_w_, None)\nb = torch._C._fft.fft_rfft(a, dim=-1)\n"
                       "c = torch._functorch.vmap.lazy_load_decompositions()\nreturn (b,)",
                       {0, 3}),
            ", in_0, in_1):\n"
            "        tmp_0 = in_0\n"
            "        tmp_1 = in_1\n"
            "        tmp_2 = torch.nn.functional.linear(tmp_1, tmp_0, None)\n"
            "        tmp_1 = tmp_0 = None\n"
            "        tmp_3 = torch.fft.rfft(tmp_2, dim=-1)\n"
            "        tmp_2 = None\n"
            "        tmp_4 = torch._functorch.predispatch.lazy_load_decompositions()\n"
            "        tmp_4 = None\n"
            "        return (tmp_3,)");
}

// --- float16 ---

ir::Value value(ir::DType dtype) { return {ir::contiguous(dtype, {2, 2}), {}}; }

// The code of a piece at float16. idle: by node name, casts of these are found to be of the type already.
std::string code(const std::string& parameters, const std::string& body, const std::vector<ir::Value>& values,
                 const std::vector<std::string>& idle = {}) {
  const ir::Graph piece = fx::parse(parameters, body);
  const ir::Graph cast = with_amp_casts(piece, ir::DType::Float16, values);
  ir::Values types(cast.size());
  for (ir::NodeId id = 0; id < cast.size(); ++id) {
    const bool half = std::ranges::find(idle, cast.node(id).name) != idle.end();
    types[id] = value(half ? ir::DType::Float16 : ir::DType::Float32);
  }
  const ir::Graph typed = idle.empty() ? cast : without_idle_casts(cast, ir::DType::Float16, types);
  const std::string text = graphdir::hashed_text(with_annotations(typed, piece), graphdir::HashRule::OwnNames);
  return text.substr(text.find("self") + 4);
}

const ir::Value kFloat = value(ir::DType::Float32);
const ir::Value kNone{};

TEST(OfficialTypedPiece, AliasesVanishAndProductsAreNamedAnew) {
  EXPECT_EQ(
      code("in_0, in_1", "tmp_0 = in_0\ntmp_1 = torch.conv2d(in_1, tmp_0, None)\ntmp_2 = tmp_1 @ in_1\nreturn (tmp_2,)",
           {kFloat, kFloat, kFloat, kFloat, kNone}, {"conv2d"}),
      ", in_0 : torch.Tensor, in_1 : torch.Tensor):\n"
      "    conv2d = torch.conv2d(in_1, in_0, None);  in_0 = None\n"
      "    matmul = conv2d @ in_1;  conv2d = in_1 = None\n"
      "    return (matmul,)\n    ");
}

TEST(OfficialTypedPiece, ComputedFloatsAreCastAndArgumentsAreNot) {
  const std::string body =
      "tmp_0 = torch.softmax(in_0, 1)\ntmp_1 = torch.matmul(tmp_0, in_1)\n"
      "tmp_2 = torch.bmm(tmp_1, tmp_1)\nreturn (tmp_2,)";
  const std::vector<ir::Value> values{kFloat, kFloat, kFloat, kFloat, kFloat, kNone};
  EXPECT_EQ(code("in_0, in_1", body, values),
            ", in_0 : torch.Tensor, in_1 : torch.Tensor):\n"
            "    tmp_0 = torch.softmax(in_0, 1);  in_0 = None\n"
            "    to = tmp_0.to(torch.float16);  tmp_0 = None\n"
            "    matmul = torch.matmul(to, in_1);  to = in_1 = None\n"
            "    to_1 = matmul.to(torch.float16)\n"
            "    to_2 = matmul.to(torch.float16);  matmul = None\n"
            "    bmm = torch.bmm(to_1, to_2);  to_1 = to_2 = None\n"
            "    return (bmm,)\n    ");
  EXPECT_NE(code("in_0, in_1", body, values, {"tmp_0"}).find("matmul = torch.matmul(tmp_0, in_1)"), std::string::npos);
}

TEST(OfficialTypedPiece, WhatIsNoTensorIsNamedByItsCall) {
  const ir::Value pair{ir::Value::List{kFloat, kFloat}, {}};
  EXPECT_EQ(code("in_0",
                 "tmp_0 = in_0.max(0)\ntmp_1 = tmp_0[1]\ntmp_2 = torch.functional.split(tmp_1, 1)\ntmp_3 = tmp_2[0]\n"
                 "in_0 += tmp_3\ntmp_4 = in_0\nreturn (tmp_4,)",
                 {kFloat, pair, kFloat, pair, kFloat, kFloat, kNone}),
            ", in_0 : torch.Tensor):\n"
            "    max_1 = in_0.max(0)\n"
            "    tmp_1 = max_1[1];  max_1 = None\n"
            "    split = torch.functional.split(tmp_1, 1);  tmp_1 = None\n"
            "    tmp_3 = split[0];  split = None\n"
            "    in_0 += tmp_3;  in_1 = in_0;  in_0 = tmp_3 = None\n"
            "    return (in_1,)\n    ");
}

TEST(OfficialTypedPiece, AnnotationsNeedTheOrderOfTheSignature) {
  const std::vector<ir::Value> values{kFloat, kFloat, kFloat, kNone};
  const auto annotated = [&](const std::string& body) {
    return code("in_0, in_1", body + "\nreturn (tmp_0,)", values)
        .starts_with(", in_0 : torch.Tensor, in_1 : torch.Tensor)");
  };
  EXPECT_TRUE(annotated("tmp_0 = in_0 + in_1"));
  EXPECT_FALSE(annotated("tmp_0 = in_1 + in_0"));
  EXPECT_TRUE(annotated("tmp_0 = torch.add(in_1, in_0)")) << "functions meet them from the right";
  EXPECT_TRUE(annotated("tmp_0 = torch.cat([in_1, in_0])"));
  EXPECT_FALSE(annotated("tmp_0 = in_1.add(in_0)"));
}

// --- weight_meta.py ---

TEST(OfficialRecords, AreThoseOfTheModelOrOfTheValue) {
  const ir::Graph whole = fx::parse(kArguments, kAliases +
                                                    "a = l_x_ + l_w_\nb = torch.argmax(a, -1)\nm = a > 0\n"
                                                    "c = torch.where(m, a, b)\nd = c * l_w_\nreturn (d,)");
  VariantValues values;
  values.records.resize(2);
  graphdir::TensorMeta& weight = values.records[1];
  weight.name = "L_w_";
  weight.shape = {2};
  weight.device = "cpu";
  weight.mean = -0.0001;
  weight.stddev = 0.25;
  weight.float_data = {0.5, -1e-7};
  weight.min_value = 0;
  values.types = {value(ir::DType::Float32),
                  value(ir::DType::Float32),
                  {ir::contiguous(ir::DType::Float32, {64}), {}},
                  {ir::contiguous(ir::DType::Int64, {64}), {}},
                  {ir::contiguous(ir::DType::Bool, {2}), {}}};
  values.measured.resize(8);
  values.measured[2].emplace().mean = 1.23456;
  values.measured[2]->stddev = 2.0;
  values.measured[3].emplace().min = 0;
  values.measured[3]->max = 9;
  values.measured[4].emplace().integer_data = {1, 0};
  values.derived = {false, false, false, true, false};
  const std::vector<std::string> names = traced_names(whole);
  const auto records = piece_records(cut_piece(whole, names, {3, 5}), whole, names, values);
  ASSERT_TRUE(records) << to_string(records.error());
  ASSERT_EQ(records->size(), 4u);
  EXPECT_EQ(records->at(0).origin, Origin::Recorded);
  EXPECT_EQ(records->at(1).origin, Origin::Measured);
  EXPECT_EQ(records->at(2).origin, Origin::Derived);
  EXPECT_EQ(print_records(*records),
            "class Program_weight_tensor_meta_L_w_:\n"
            "\tname = \"in_0\"\n\toriginal_name = \"L_w_\"\n\tshape = [2]\n\tdtype = \"torch.float32\"\n"
            "\tdevice = \"cpu\"\n\tmean = -0.000\n\tstd = 0.250\n\tdata = [0.500000, -0.000000]\n\tmin_val = 0\n"
            "\n\n"
            "class Program_weight_tensor_meta_a:\n"
            "\tname = \"in_1\"\n\toriginal_name = \"a\"\n\tshape = [64]\n\tdtype = \"torch.float32\"\n"
            "\tdevice = \"cuda:0\"\n\tmean = 1.235\n\tstd = 2.000\n"
            "\n\n"
            "class Program_weight_tensor_meta_b:\n"
            "\tname = \"in_2\"\n\toriginal_name = \"b\"\n\tshape = [64]\n\tdtype = \"torch.int64\"\n"
            "\tdevice = \"cuda:0\"\n\tmean = None\n\tstd = None\n\tmax_val = 9\n\tmin_val = 0\n"
            "\n\n"
            "class Program_weight_tensor_meta_m:\n"
            "\tname = \"in_3\"\n\toriginal_name = \"m\"\n\tshape = [2]\n\tdtype = \"torch.bool\"\n"
            "\tdevice = \"cuda:0\"\n\tmean = None\n\tstd = None\n\tdata = [True, False]\n");
}

TEST(OfficialRecords, NeedTensorsOfKnownSize) {
  const ir::Graph whole = fx::parse(kArguments, kAliases + "a = l_x_[l_w_]\nn = a.item()\nb = a * n\nreturn (b,)");
  const std::vector<std::string> names = traced_names(whole);
  VariantValues values;
  values.records.resize(2);
  values.types.resize(whole.size());
  values.types[3].is = int64_t{1};
  const auto why = [&] {
    const auto records = piece_records(cut_piece(whole, names, {2, 3}), whole, names, values);
    return records ? "no error" : records.error().message;
  };
  values.types[2].is = ir::Value::Unknown{"a mask decides"};
  EXPECT_EQ(why(), "the size of 'a' is not known: a mask decides");
  values.types[2] = value(ir::DType::Float32);
  EXPECT_EQ(why(), "argument 'n' is no tensor");
}

TEST(OfficialRecords, FiguresThatAreNoNumbersAreWrittenAsPythonReadsThem) {
  PieceRecord record;
  record.meta.dtype = ir::DType::Float32;
  record.meta.mean = -std::numeric_limits<double>::infinity();
  record.meta.stddev = std::numeric_limits<double>::quiet_NaN();
  record.meta.max_value = 0.5;
  const std::string text = print_records({&record, 1});
  EXPECT_NE(text.find("\tmean = float(\"-inf\")\n\tstd = float(\"nan\")\n\tmax_val = 0.5\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace passnet::dataset::official
