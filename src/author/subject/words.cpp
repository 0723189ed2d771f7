#include "author/subject/words.h"

#include <vector>

#include "base/text/strings.h"

namespace passnet::author {

namespace {

std::set<std::string_view> set_of(std::string_view words) {
  const std::vector<std::string_view> all = split(words, ' ');
  return {all.begin(), all.end()};
}

}  // namespace

const std::set<std::string_view>& kernel_words() {
  static const std::set<std::string_view> words = set_of(
      "a abs at b batch_normalized before begin below block_barrier blocks bottom break ceil_div chunk clamp "
      "column_sum columns computed convolved copy cos count cover_blocks cover_strips divide each end erf exp expm1 "
      "first floats floor_divide floor_remainder fma for_blocks from_float gather gelu gelu_tanh global_index "
      "group_norm_moments groups hardsigmoid hardswish i in_memory inside instance_variance item lane lanes last "
      "layer_norm_moments load load_every_fourth load_every_other load_inside log log1p mask max max_of maximum min "
      "min_of minimum multiply next one pad_planes pad_row part parts place product_tile product_tiles read_tile relu "
      "relu_before_rounding repeat_lanes repeat_last rounded rounded_on_cpu rounded_on_gpu root_by_pow row_max "
      "row_min row_running_sum row_sum rows rsqrt select share short sigmoid silu sin softplus sqrt start step stop "
      "store store_planes strip sum_of tanh task task_index thread thread_count thread_index threads tile to_float "
      "top truncated turn turn_of_lanes turn_planes turn_rows turn_tile vec");
  return words;
}

const std::set<std::string_view>& language_words() {
  static const std::set<std::string_view> words = set_of(
      "T alignas alignof all and and_eq any asm atan auto batch best bfloat16 bitand bitor bool broadcast c case "
      "catch cdiv ceil channels char char16_t char32_t char8_t class co_await co_return co_yield column compl concept "
      "const const_cast consteval constexpr constinit continue d decltype def default delete device div do double "
      "dynamic_cast element else enum enumerate explicit export extern false first_channel first_lanes float float16 "
      "floor fma for found friend from goto grid group height if import in index inf inline inner int int64_t is "
      "is_there j k lambda largest least left len length list long m math mean middle moments mutable n namespace nan "
      "new noexcept norm normal not not_eq nullptr offset operator or or_eq outer pass pattern pow private protected "
      "public range register reinterpret_cast remainder replacement_args replacement_func requires rest return "
      "reversed right round row scale shape shift signed size sizeof source spatial squares stack static "
      "static_assert static_cast stride struct sum switch tan template this thread_local throw torch total triton "
      "true trunc try tuple typedef typeid typename union unsigned using virtual void volatile wchar_t where while "
      "width with xor xor_eq y yield z zip");
  return words;
}

}  // namespace passnet::author
