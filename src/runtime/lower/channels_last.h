// Layouts of images and of the weights of convolutions. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

namespace passnet::runtime {

/// Returns tensor.contiguous(at::MemoryFormat::ChannelsLast), on a CPU several times as fast for a large contiguous tensor.
/// Errors: as at::Tensor::contiguous.
at::Tensor in_channels_last(const at::Tensor& tensor);

}  // namespace passnet::runtime
