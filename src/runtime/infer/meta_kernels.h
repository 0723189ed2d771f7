// Shape functions of operators for which PyTorch has none in C++ (it registers them from Python). Internal to
// runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torch {
class Library;
}

namespace passnet::runtime::meta {

/// Adds the shape functions to PyTorch's dispatcher, under its Meta key. Later calls do nothing.
void register_kernels();
/// Those of meta_layers.cpp.
void register_layers(torch::Library& library);

/// An uninitialised meta tensor.
at::Tensor make(at::IntArrayRef sizes, const at::TensorOptions& like,
                std::optional<at::MemoryFormat> format = std::nullopt);
/// The size of dimension `dim`, from the end when negative. Throws c10::IndexError when there is no such dimension.
int64_t& size_at(std::vector<int64_t>& sizes, int64_t dim);
/// `sizes` without the dimensions `dims` (none or empty: all), which become 1 with keepdim.
std::vector<int64_t> reduced_sizes(const at::Tensor& tensor, at::OptionalIntArrayRef dims, bool keepdim);

}  // namespace passnet::runtime::meta
