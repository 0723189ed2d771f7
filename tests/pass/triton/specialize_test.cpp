// What a kernel from Triton is compiled for: the table of Triton 3.6 itself.
#include "pass/triton/specialize.h"

#include <gtest/gtest.h>

namespace passnet::pass {
namespace {

/// "i32 D", "constexpr", or the error.
std::string words(const TritonDeclaration& parameter, const TritonArgument& argument) {
  const auto specialized = specialize(parameter, argument);
  if (!specialized) return to_string(specialized.error());
  if (specialized->constant) return "constexpr";
  return specialized->type + (specialized->divisible_by_16 ? " D" : "");
}
std::string annotated(const char* annotation, const TritonArgument& argument) {
  return words({"n", annotation}, argument);
}

TEST(TritonSpecialize, ArgumentsByTheirValue) {
  EXPECT_EQ(annotated("", std::monostate{}), "constexpr");
  EXPECT_EQ(annotated("", true), "u1");
  EXPECT_EQ(annotated("", int64_t{0}), "i32 D");
  EXPECT_EQ(annotated("", int64_t{1}), "constexpr");
  EXPECT_EQ(annotated("", int64_t{-16}), "i32 D");
  EXPECT_EQ(annotated("", int64_t{17}), "i32");
  EXPECT_EQ(annotated("", int64_t{INT32_MAX}), "i32");
  EXPECT_EQ(annotated("", int64_t{INT32_MAX} + 1), "i64 D");
  EXPECT_EQ(annotated("", int64_t{INT32_MIN} - 1), "i64");
  EXPECT_EQ(annotated("", 1.0), "fp32");
  EXPECT_EQ(annotated("", TritonPointer{ir::DType::BFloat16, true}), "*bf16 D");
  EXPECT_EQ(annotated("", TritonPointer{ir::DType::Bool, false}), "*u1");
}

TEST(TritonSpecialize, WhatIsNotSpecializedStays) {
  EXPECT_EQ(words({"n", "", false}, int64_t{1}), "i32");
  EXPECT_EQ(words({"n", "", false}, int64_t{16}), "i32");
  EXPECT_EQ(words({"n", "", false}, TritonPointer{ir::DType::Float32, true}), "*fp32");
  EXPECT_EQ(words({"n", "", true, false}, int64_t{16}), "i32");
  EXPECT_EQ(words({"n", "", true, false}, int64_t{1}), "constexpr");
  EXPECT_EQ(words({"n", "", false}, std::monostate{}), "constexpr");
}

TEST(TritonSpecialize, AnnotationsSayTheType) {
  for (const char* annotation : {"tl.constexpr", "\"tl.constexpr\"", "triton.language.constexpr", "constexpr"})
    EXPECT_EQ(annotated(annotation, std::string("relu")), "constexpr") << annotation;
  EXPECT_EQ(annotated("tl.constexpr", ir::DType::Float16), "constexpr");
  EXPECT_EQ(annotated("tl.int32", int64_t{1}), "i32");
  EXPECT_EQ(annotated("int", int64_t{16}), "i32 D");
  EXPECT_EQ(annotated("'i64'", int64_t{16}), "i64 D");
  EXPECT_EQ(annotated("tl.float32", int64_t{16}), "fp32");
  EXPECT_EQ(annotated("float", 0.5), "fp32");
  EXPECT_EQ(annotated("torch.Tensor", TritonPointer{ir::DType::Float16, true}), "*fp16 D");
  EXPECT_EQ(annotated("tl.const", TritonPointer{ir::DType::Float16, true}), "*kfp16 D");
  EXPECT_EQ(annotated("\"*fp32\"", TritonPointer{ir::DType::Float32, true}), "*fp32 D");
  EXPECT_EQ(annotated("tl.pointer_type(tl.float32)", TritonPointer{ir::DType::Float32, false}), "*fp32");
}

TEST(TritonSpecialize, RefusesWhatTritonDoes) {
  EXPECT_EQ(annotated("", std::string("relu")), "error: parameter 'n' is the string 'relu': write 'n: tl.constexpr'");
  EXPECT_EQ(annotated("", ir::DType::Float16), "error: parameter 'n' is the dtype float16: write 'n: tl.constexpr'");
  EXPECT_EQ(annotated("tl.constexpr", TritonPointer{}), "error: parameter 'n' is tl.constexpr, but gets a tensor");
  EXPECT_EQ(annotated("tl.int32", TritonPointer{}), "error: parameter 'n' is a tensor, expected 'i32'");
  EXPECT_EQ(annotated("tl.int32", 0.5), "error: parameter 'n' is the float 0.5, expected 'i32'");
  EXPECT_EQ(annotated("\"*fp32\"", int64_t{3}), "error: parameter 'n' is 3, expected a tensor");
  EXPECT_EQ(annotated("int", std::monostate{}), "error: parameter 'n' is None, expected 'i32'");
  EXPECT_EQ(annotated("", TritonPointer{ir::DType::Complex64, true}),
            "error: the dtype complex64 is one that Triton does not have");
}

}  // namespace
}  // namespace passnet::pass
