// Elementwise operators, reductions, indexing and Fourier transforms. Where another operator has the same
// shape function, it is called: its result is a meta tensor with the right strides.
#include "runtime/infer/meta_kernels.h"

#include <ATen/TensorIterator.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/sgn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sub.h>
#include <torch/library.h>

namespace passnet::runtime::meta {

at::Tensor make(at::IntArrayRef sizes, const at::TensorOptions& like, std::optional<at::MemoryFormat> format) {
  return at::empty(sizes, like.device(at::kMeta), format);
}

int64_t& size_at(std::vector<int64_t>& sizes, int64_t dim) {
  constexpr bool kWrapScalar = false;
  return sizes[static_cast<size_t>(at::maybe_wrap_dim(dim, static_cast<int64_t>(sizes.size()), kWrapScalar))];
}

std::vector<int64_t> reduced_sizes(const at::Tensor& tensor, at::OptionalIntArrayRef dims, bool keepdim) {
  const int64_t rank = tensor.dim();
  std::vector<bool> reduced(static_cast<size_t>(rank), !dims.has_value() || dims->empty());
  if (dims.has_value() && rank > 0) {
    for (const int64_t dim : *dims) reduced[static_cast<size_t>(at::maybe_wrap_dim(dim, rank))] = true;
  }
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < rank; ++i) {
    if (!reduced[static_cast<size_t>(i)]) {
      sizes.push_back(tensor.size(i));
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

namespace {

using at::Scalar;
using at::Tensor;
using OptionalDtype = std::optional<at::ScalarType>;

Tensor scalar_like(const Tensor& tensor) { return make({}, tensor.options()); }
at::ScalarType summed_type(const Tensor& tensor, OptionalDtype dtype = std::nullopt) {
  return dtype.value_or(at::isIntegralType(tensor.scalar_type(), true) ? at::kLong : tensor.scalar_type());
}
at::ScalarType real_type(const Tensor& tensor) { return c10::toRealValueType(tensor.scalar_type()); }

// --- elementwise ------------------------------------------------------------------------------------------

Tensor relu(const Tensor& self) { return at::clamp_min(self, 0); }
Tensor hardswish(const Tensor& self) { return at::silu(self); }
Tensor hardtanh(const Tensor& self, const Scalar&, const Scalar&) { return at::clamp_min(self, 0); }
Tensor logit(const Tensor& self, std::optional<double>) { return at::sigmoid(self); }
Tensor isnan(const Tensor& self) { return at::ne(self, self); }
Tensor angle(const Tensor& self) {
  return self.is_complex() ? make(self.sizes(), self.options().dtype(real_type(self))) : at::sigmoid(self);
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return at::sub(other, self, alpha); }
Tensor floor_divide(const Tensor& self, const Tensor& other) { return at::div(self, other, "floor"); }
Tensor remainder(const Scalar& self, const Tensor& other) { return at::mul(other, self); }
Tensor shift(const Tensor& self, const Tensor& other) { return at::mul(self, other); }
Tensor shift_by_scalar(const Tensor& self, const Scalar& other) { return at::mul(self, other); }
Tensor prelu(const Tensor& self, const Tensor& weight) { return at::mul(self, weight); }
Tensor masked_softmax(const Tensor& self, const Tensor&, std::optional<int64_t>, std::optional<int64_t>) {
  return at::empty_like(self);
}
Tensor poisson(const Tensor& self, std::optional<at::Generator>) { return at::empty_like(self); }
Tensor bernoulli_p(const Tensor& self, double, std::optional<at::Generator>) { return at::empty_like(self); }
Tensor rrelu(const Tensor& self, Tensor&, const Scalar&, const Scalar&, bool, std::optional<at::Generator>) {
  return at::empty_like(self);
}
std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  return {at::empty_like(self), make({0}, self.options())};
}
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double, std::optional<bool>) {
  return {at::empty_like(input), at::empty_like(input, input.options().dtype(at::kBool))};
}
Tensor select(const Tensor& condition, const Tensor& self, const Tensor& other) {
  Tensor result = make({0}, self.options().dtype(at::result_type(self, other)));
  return at::TensorIteratorConfig()
      .check_all_same_dtype(false)
      .add_output(result)
      .add_const_input(condition)
      .add_const_input(self)
      .add_const_input(other)
      .build()
      .output();
}
Tensor& select_out(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  out.resize_(select(condition, self, other).sizes());
  return out;
}
Tensor& unary_out(const Tensor& self, Tensor& out) {
  if (self.is_complex() == out.is_complex()) return at::sgn_out(out, self);
  out.resize_(self.sizes());
  return out;
}
Tensor& logical_not_out(const Tensor& self, Tensor& out) { return at::eq_out(out, self, 0); }
Tensor& logical_out(const Tensor& self, const Tensor& other, Tensor& out) { return at::ne_out(out, self, other); }
Tensor& complex_out(const Tensor& real, const Tensor& other, Tensor& out) {
  out.resize_(at::mul(real, other).sizes());
  return out;
}
Tensor& bernoulli_out(const Tensor& self, std::optional<at::Generator>, Tensor& out) { return unary_out(self, out); }
Tensor& nan_to_num_out(const Tensor& self, std::optional<double>, std::optional<double>, std::optional<double>,
                       Tensor& out) {
  return unary_out(self, out);
}
Tensor logcumsumexp(const Tensor& self, int64_t) { return at::empty_like(self, at::MemoryFormat::Contiguous); }
Tensor& logcumsumexp_out(const Tensor& self, int64_t, Tensor& out) { return unary_out(self, out); }

// --- reductions -------------------------------------------------------------------------------------------

Tensor reduced(const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, at::ScalarType dtype) {
  return make(reduced_sizes(self, dims, keepdim), self.options().dtype(dtype));
}
Tensor variance(const Tensor& self, at::OptionalIntArrayRef dims, const std::optional<Scalar>&, bool keepdim) {
  return reduced(self, dims, keepdim, real_type(self));
}
Tensor& variance_out(const Tensor& self, at::OptionalIntArrayRef dims, const std::optional<Scalar>&, bool keepdim,
                     Tensor& out) {
  out.resize_(reduced_sizes(self, dims, keepdim));
  return out;
}
std::tuple<Tensor, Tensor> variance_mean(const Tensor& self, at::OptionalIntArrayRef dims, const std::optional<Scalar>&,
                                         bool keepdim) {
  return {reduced(self, dims, keepdim, real_type(self)), reduced(self, dims, keepdim, self.scalar_type())};
}
Tensor prod(const Tensor& self, OptionalDtype dtype) {
  return reduced(self, std::nullopt, false, summed_type(self, dtype));
}
Tensor nansum(const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  return reduced(self, dims, keepdim, summed_type(self, dtype));
}
Tensor& nansum_out(const Tensor& self, at::OptionalIntArrayRef dims, bool keepdim, OptionalDtype, Tensor& out) {
  out.resize_(reduced_sizes(self, dims, keepdim));
  return out;
}
Tensor count_nonzero(const Tensor& self, at::IntArrayRef dims) { return reduced(self, dims, false, at::kLong); }
Tensor trace(const Tensor& self) { return make({}, self.options().dtype(summed_type(self))); }
Tensor dot(const Tensor& self, const Tensor&) { return scalar_like(self); }
std::tuple<Tensor, Tensor> aminmax(const Tensor& self) { return {scalar_like(self), scalar_like(self)}; }
std::tuple<Tensor&, Tensor&> along_dim_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                                           Tensor& indices) {
  const std::vector<int64_t> sizes = reduced_sizes(self, at::IntArrayRef(dim), keepdim);
  values.resize_(sizes);
  indices.resize_(sizes);
  return {values, indices};
}
std::tuple<Tensor&, Tensor&> kthvalue_out(const Tensor& self, c10::SymInt, int64_t dim, bool keepdim, Tensor& values,
                                          Tensor& indices) {
  return along_dim_out(self, dim, keepdim, values, indices);
}
std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  return {reduced(self, at::IntArrayRef(dim), keepdim, self.scalar_type()),
          reduced(self, at::IntArrayRef(dim), keepdim, at::kLong)};
}

// --- indexing and order -----------------------------------------------------------------------------------

std::vector<int64_t> selected_sizes(const Tensor& self, int64_t dim, const Tensor& index) {
  TORCH_CHECK(index.dim() <= 1, "index_select(): Index is supposed to be a vector, found ", index.dim(), " dimensions");
  std::vector<int64_t> sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[static_cast<size_t>(at::maybe_wrap_dim(dim, self.dim()))] = index.numel();
  return sizes;
}
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return make(selected_sizes(self, dim, index), self.options());
}
Tensor& index_select_out(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  out.resize_(selected_sizes(self, dim, index));
  return out;
}
Tensor take(const Tensor& self, const Tensor& index) { return make(index.sizes(), self.options()); }
Tensor& index_put(Tensor& self, const c10::List<std::optional<Tensor>>&, const Tensor&, bool, bool) { return self; }
Tensor flip(const Tensor& self, at::IntArrayRef) { return at::empty_like(self); }
Tensor roll(const Tensor& self, c10::SymIntArrayRef shifts, at::IntArrayRef dims) {
  if (self.numel() == 0 || dims.empty()) return at::empty_like(self);
  TORCH_CHECK(shifts.size() == dims.size(), "roll: ", shifts.size(), " shifts, expected one for each of ", dims.size(),
              " dimensions");
  Tensor result = self;
  for (const int64_t dim : dims) {
    const int64_t half = result.size(dim) / 2;  // where it is cut does not matter for the type
    result = at::cat({result.narrow(dim, 0, half), result.narrow(dim, half, result.size(dim) - half)}, dim);
  }
  return result;
}
Tensor channel_shuffle(const Tensor& self, c10::SymInt) { return at::empty_like(self, at::MemoryFormat::Contiguous); }
Tensor repeat_interleave(const Tensor& repeats, std::optional<c10::SymInt> output_size) {
  TORCH_CHECK_NOT_IMPLEMENTED(output_size.has_value(),
                              "the size of repeat_interleave's result is the sum of 'repeats'");
  return make({output_size->expect_int()}, repeats.options().dtype(at::kLong));
}
Tensor search_result(const Tensor& like, at::IntArrayRef sizes, bool narrow) {
  return make(sizes, like.options().dtype(narrow ? at::kInt : at::kLong));
}
Tensor bucketize(const Tensor& self, const Tensor&, bool narrow, bool) {
  return search_result(self, self.sizes(), narrow);
}
Tensor bucketize_scalar(const Scalar&, const Tensor& boundaries, bool narrow, bool) {
  return search_result(boundaries, {}, narrow);
}
Tensor searchsorted(const Tensor&, const Tensor& self, bool narrow, bool, std::optional<c10::string_view>,
                    const std::optional<Tensor>&) {
  return search_result(self, self.sizes(), narrow);
}
Tensor searchsorted_scalar(const Tensor& sequence, const Scalar&, bool narrow, bool, std::optional<c10::string_view>,
                           const std::optional<Tensor>&) {
  return search_result(sequence, {}, narrow);
}
Tensor multinomial(const Tensor& self, c10::SymInt samples, bool, std::optional<at::Generator>) {
  std::vector<int64_t> sizes = self.sizes().vec();
  size_at(sizes, -1) = samples.expect_int();
  return make(sizes, self.options().dtype(at::kLong));
}
Tensor histc(const Tensor& self, int64_t bins, const Scalar&, const Scalar&) { return make({bins}, self.options()); }

// --- Fourier transforms -----------------------------------------------------------------------------------

Tensor fft_r2c(const Tensor& self, at::IntArrayRef dims, int64_t, bool onesided) {
  std::vector<int64_t> sizes = self.sizes().vec();
  TORCH_CHECK(!dims.empty(), "a Fourier transform without dimensions");
  int64_t& last = size_at(sizes, dims.back());
  if (onesided) last = last / 2 + 1;
  return make(sizes, self.options().dtype(c10::toComplexType(self.scalar_type())));
}
Tensor fft_c2r(const Tensor& self, at::IntArrayRef dims, int64_t, c10::SymInt last_size) {
  std::vector<int64_t> sizes = self.sizes().vec();
  TORCH_CHECK(!dims.empty(), "a Fourier transform without dimensions");
  size_at(sizes, dims.back()) = last_size.expect_int();
  return make(sizes, self.options().dtype(real_type(self)));
}
Tensor fft_c2c(const Tensor& self, c10::SymIntArrayRef, int64_t, bool) { return at::empty_like(self); }

// --- losses and distances ---------------------------------------------------------------------------------

Tensor loss(const Tensor& elements, int64_t reduction) {
  return reduction == at::Reduction::None ? at::empty_like(elements) : scalar_like(elements);
}
Tensor binary_cross_entropy(const Tensor& self, const Tensor&, const std::optional<Tensor>&, int64_t reduction) {
  return loss(self, reduction);
}
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double) {
  return loss(at::mul(self, target), reduction);
}
std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self, const Tensor& target, const std::optional<Tensor>&,
                                              int64_t reduction, c10::SymInt) {
  const bool none = reduction == at::Reduction::None;
  return {make(none ? target.sizes() : at::IntArrayRef{}, self.options()), scalar_like(self)};
}
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar&, const Scalar&,
                         const std::optional<Tensor>&, int64_t reduction) {
  const bool none = reduction == at::Reduction::None;
  return make(none ? target.sizes() : at::IntArrayRef{}, self.options());
}
std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  const bool rows = reduction == at::Reduction::None && target.dim() == 2;
  return {make(rows ? target.sizes().slice(0, 1) : at::IntArrayRef{}, self.options()),
          make(target.sizes(), self.options())};
}
Tensor cdist_forward(const Tensor& a, const Tensor& b, double, std::optional<int64_t>) {
  // [batch…, P, features] and [batch…, R, features] give [batch…, P, R].
  return at::mul(a.select(-1, 0).unsqueeze(-1), b.select(-1, 0).unsqueeze(-2));
}
Tensor pdist_forward(const Tensor& self, double) {
  return make({self.size(0) * (self.size(0) - 1) / 2}, self.options());
}
Tensor int_mm(const Tensor& a, const Tensor& b) { return make({a.size(0), b.size(1)}, a.options().dtype(at::kInt)); }
Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar&, const Scalar&) {
  return make({a.size(1), b.size(2)}, self.options());
}

/// A table: a line an operator.
void register_elementwise(torch::Library& library) {
  library.impl("relu", relu);
  library.impl("hardswish", hardswish);
  library.impl("hardtanh", hardtanh);
  library.impl("logit", logit);
  library.impl("isnan", isnan);
  library.impl("angle", angle);
  library.impl("rsub.Tensor", rsub);
  library.impl("floor_divide", floor_divide);
  library.impl("remainder.Scalar_Tensor", remainder);
  library.impl("__lshift__.Tensor", shift);
  library.impl("__rshift__.Tensor", shift);
  library.impl("__lshift__.Scalar", shift_by_scalar);
  library.impl("__rshift__.Scalar", shift_by_scalar);
  library.impl("_prelu_kernel", prelu);
  library.impl("_masked_softmax", masked_softmax);
  library.impl("poisson", poisson);
  library.impl("bernoulli.p", bernoulli_p);
  library.impl("rrelu_with_noise", rrelu);
  library.impl("log_sigmoid_forward", log_sigmoid_forward);
  library.impl("native_dropout", native_dropout);
  library.impl("where.self", select);
  library.impl("where.self_out", select_out);
  for (const char* name : {"abs.out", "conj_physical.out", "angle.out"}) library.impl(name, unary_out);
  library.impl("nan_to_num.out", nan_to_num_out);
  library.impl("bernoulli.out", bernoulli_out);
  library.impl("logical_not.out", logical_not_out);
  for (const char* name : {"logical_and.out", "logical_or.out", "logical_xor.out"}) library.impl(name, logical_out);
  for (const char* name : {"polar.out", "complex.out"}) library.impl(name, complex_out);
  library.impl("_logcumsumexp", logcumsumexp);
  library.impl("_logcumsumexp.out", logcumsumexp_out);

  for (const char* name : {"var.correction", "std.correction"}) library.impl(name, variance);
  for (const char* name : {"var.correction_out", "std.correction_out"}) library.impl(name, variance_out);
  for (const char* name : {"var_mean.correction", "std_mean.correction"}) library.impl(name, variance_mean);
  library.impl("prod", prod);
  library.impl("nansum", nansum);
  library.impl("nansum.out", nansum_out);
  library.impl("count_nonzero.dim_IntList", count_nonzero);
  for (const char* name : {"max", "min", "median", "nanmedian"}) library.impl(name, scalar_like);
  library.impl("trace", trace);
  for (const char* name : {"dot", "vdot"}) library.impl(name, dot);
  library.impl("_aminmax", aminmax);
  for (const char* name : {"median.dim_values", "nanmedian.dim_values"}) library.impl(name, along_dim_out);
  library.impl("kthvalue.values", kthvalue_out);
  library.impl("mode", mode);

  library.impl("index_select", index_select);
  library.impl("index_select.out", index_select_out);
  library.impl("take", take);
  library.impl("_index_put_impl_", index_put);
  library.impl("flip", flip);
  library.impl("roll", roll);
  library.impl("channel_shuffle", channel_shuffle);
  library.impl("repeat_interleave.Tensor", repeat_interleave);
  library.impl("bucketize.Tensor", bucketize);
  library.impl("bucketize.Scalar", bucketize_scalar);
  library.impl("searchsorted.Tensor", searchsorted);
  library.impl("searchsorted.Scalar", searchsorted_scalar);
  library.impl("multinomial", multinomial);
  library.impl("histc", histc);

  library.impl("_fft_r2c", fft_r2c);
  library.impl("_fft_c2r", fft_c2r);
  library.impl("_fft_c2c", fft_c2c);

  library.impl("binary_cross_entropy", binary_cross_entropy);
  library.impl("huber_loss", huber_loss);
  library.impl("nll_loss2d_forward", nll_loss2d_forward);
  library.impl("multi_margin_loss", multi_margin_loss);
  library.impl("multilabel_margin_loss_forward", multilabel_margin_loss_forward);
  library.impl("_cdist_forward", cdist_forward);
  library.impl("_pdist_forward", pdist_forward);
  library.impl("_int_mm", int_mm);
  library.impl("addbmm", addbmm);
}

}  // namespace

void register_kernels() {
  static const torch::Library registered = [] {
    torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
    register_elementwise(library);
    register_layers(library);
    return library;
  }();
}

}  // namespace passnet::runtime::meta
