// The parameter types of a kernel as text, "const float*,float*,int64_t": kept in the compiled kernel, so that a launch
// can be checked against them.
#pragma once

#include <passnet/gpu/elements.h>

namespace passnet::detail {

template <class P>
struct Parameter {
  static_assert(sizeof(P) < 0, "a kernel parameter is a pointer to elements, an integer, a float, a double or a bool");
};
#define PASSNET_PARAMETER_(type, text)                                               \
  template <>                                                                        \
  struct Parameter<type> {                                                           \
    PASSNET_INLINE static constexpr const char* name() { return text; }              \
  };                                                                                 \
  template <>                                                                        \
  struct Parameter<type*> {                                                          \
    PASSNET_INLINE static constexpr const char* name() { return text "*"; }          \
  };                                                                                 \
  template <>                                                                        \
  struct Parameter<const type*> {                                                    \
    PASSNET_INLINE static constexpr const char* name() { return "const " text "*"; } \
  };
PASSNET_PARAMETER_(float, "float")
PASSNET_PARAMETER_(double, "double")
PASSNET_PARAMETER_(float16, "float16")
PASSNET_PARAMETER_(bfloat16, "bfloat16")
PASSNET_PARAMETER_(int8_t, "int8_t")
PASSNET_PARAMETER_(int16_t, "int16_t")
PASSNET_PARAMETER_(int32_t, "int32_t")
PASSNET_PARAMETER_(int64_t, "int64_t")
PASSNET_PARAMETER_(long long, "int64_t")
PASSNET_PARAMETER_(uint8_t, "uint8_t")
PASSNET_PARAMETER_(bool, "bool")
#undef PASSNET_PARAMETER_

struct ParameterText {
  char text[1024];
};

PASSNET_INLINE constexpr void append(ParameterText& out, size_t& used, const char* text) {
  while (*text) out.text[used++] = *text++;
}

template <class... P>
PASSNET_INLINE constexpr ParameterText parameter_text(void (*)(P...)) {
  ParameterText out{};
  size_t used = 0;
  ((append(out, used, used == 0 ? "" : ","), append(out, used, Parameter<P>::name())), ...);
  return out;
}

}  // namespace passnet::detail
