#include "runtime/lower/channels_last.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>

#include "runtime/tensor/parallel.h"

namespace passnet::runtime {

namespace {

/// Transposes `images` matrices of `channels` rows into such of as many columns, by strips of columns that share cache lines.
template <class Bits>
void transpose(const void* from, void* to, int64_t images, int64_t channels, int64_t pixels) {
  constexpr int64_t kStrip = 16;
  const int64_t strips = (pixels + kStrip - 1) / kStrip;
  const int64_t length = std::max<int64_t>(1, kPartElements / (channels * std::min(pixels, kStrip)));
  for_each_range(images * strips, length, [=](int64_t first, int64_t last) {
    for (int64_t strip = first; strip < last; ++strip) {
      const int64_t image = strip / strips * channels * pixels, begin = strip % strips * kStrip;
      const Bits* const in = static_cast<const Bits*>(from) + image;
      Bits* const out = static_cast<Bits*>(to) + image;
      for (int64_t pixel = begin; pixel < std::min(begin + kStrip, pixels); ++pixel) {
        for (int64_t channel = 0; channel < channels; ++channel)
          out[pixel * channels + channel] = in[channel * pixels + pixel];
      }
    }
  });
}

}  // namespace

at::Tensor in_channels_last(const at::Tensor& tensor) {
  const bool quick = tensor.is_cpu() && tensor.dim() == 4 && tensor.is_contiguous() &&
                     tensor.numel() >= kPartElements && (tensor.element_size() == 2 || tensor.element_size() == 4);
  if (!quick || tensor.is_contiguous(at::MemoryFormat::ChannelsLast))
    return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor made = at::empty(tensor.sizes(), tensor.options().memory_format(at::MemoryFormat::ChannelsLast));
  const auto write = tensor.element_size() == 2 ? transpose<uint16_t> : transpose<uint32_t>;
  write(tensor.const_data_ptr(), made.mutable_data_ptr(), tensor.size(0), tensor.size(1),
        tensor.size(2) * tensor.size(3));
  return made;
}

}  // namespace passnet::runtime
