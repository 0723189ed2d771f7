// Which task of the grid this call is, and the trampoline from the C ABI (abi.h) to a kernel's own
// parameters.
//
// How a kernel learns its task: the trampoline points a reserved callee-saved register at a Task on its own
// stack. That costs nothing per task, needs no thread-local storage (of which glibc grants a loaded object
// only a little) and leaves the object without any writable data.
#pragma once

#include <passnet/abi.h>
#include <passnet/elements.h>

namespace passnet {

namespace detail {

struct Task {
  int64_t index;    // of all tasks
  int64_t axis[3];  // on each axis
  int64_t grid[3];
  int64_t count;
  int64_t threads;
  bool matrix_unit;
};

#if defined(__x86_64__) && !defined(__clang__)
register const Task* current_task asm("r15");
#else
static thread_local const Task* current_task;
#endif

}  // namespace detail

/// This task's number, 0 … task_count() - 1; x counts fastest.
inline int64_t task_index() { return detail::current_task->index; }
/// This task's number on one axis: 0 = x, 1 = y, 2 = z.
inline int64_t task_index(int axis) { return detail::current_task->axis[axis]; }
/// Tasks of the whole grid.
inline int64_t task_count() { return detail::current_task->count; }
/// Tasks on one axis; 1 for an axis that the launch does not give.
inline int64_t task_count(int axis) { return detail::current_task->grid[axis]; }

namespace detail {
/// Threads that share the tasks.
inline int64_t thread_count() { return current_task->threads; }
/// Whether this thread may use the processor's matrix unit.
inline bool has_matrix_unit() { return current_task->matrix_unit; }
}  // namespace detail

struct Range {
  int64_t first, last;  // first … last - 1
};

/// This task's part of `n` items when they are spread evenly over all tasks. Parts begin at multiples of
/// `granule`, so that no two tasks write one cache line; some may be empty (first == last).
inline Range chunk(int64_t n, int64_t granule = 64) {
  const int64_t granules = ceil_div(n, granule);
  const auto begin = [&](int64_t task) {
    const int64_t at = granules * task / task_count() * granule;
    return at < n ? at : n;
  };
  return {begin(task_index()), begin(task_index() + 1)};
}

namespace detail {

template <class P>
struct Parameter {
  static_assert(sizeof(P) < 0, "a kernel parameter is a pointer to elements, an integer, a float, a double or a bool");
};
#define PASSNET_PARAMETER_(type, text, value)                                                           \
  template <>                                                                                           \
  struct Parameter<type> {                                                                              \
    static constexpr const char* name = text;                                                           \
    static type unpack(const passnet_arg& arg) { return static_cast<type>(value); }                     \
  };                                                                                                    \
  template <>                                                                                           \
  struct Parameter<type*> {                                                                             \
    static constexpr const char* name = text "*";                                                       \
    static type* unpack(const passnet_arg& arg) { return static_cast<type*>(arg.pointer); }             \
  };                                                                                                    \
  template <>                                                                                           \
  struct Parameter<const type*> {                                                                       \
    static constexpr const char* name = "const " text "*";                                              \
    static const type* unpack(const passnet_arg& arg) { return static_cast<const type*>(arg.pointer); } \
  };
PASSNET_PARAMETER_(float, "float", arg.real)
PASSNET_PARAMETER_(double, "double", arg.real)
PASSNET_PARAMETER_(float16, "float16", arg.real)
PASSNET_PARAMETER_(bfloat16, "bfloat16", static_cast<float>(arg.real))
PASSNET_PARAMETER_(int8_t, "int8_t", arg.integer)
PASSNET_PARAMETER_(int16_t, "int16_t", arg.integer)
PASSNET_PARAMETER_(int32_t, "int32_t", arg.integer)
PASSNET_PARAMETER_(int64_t, "int64_t", arg.integer)
PASSNET_PARAMETER_(long long, "int64_t", arg.integer)
PASSNET_PARAMETER_(uint8_t, "uint8_t", arg.integer)
PASSNET_PARAMETER_(bool, "bool", arg.integer)
#undef PASSNET_PARAMETER_

template <size_t... slot>
struct Slots {};

/// The parameter types, comma separated, as a constant that lands in the object file.
struct ParameterText {
  char text[1024];
};

template <auto kernel>
struct Launcher;
template <class... P, void (*kernel)(P...)>
struct Launcher<kernel> {
  static constexpr ParameterText parameters() {
    ParameterText out{};
    size_t used = 0;
    const char* separator = "";
    const auto append = [&](const char* text) {
      while (*text) out.text[used++] = *text++;
    };
    ((append(separator), append(Parameter<P>::name), separator = ","), ...);
    return out;
  }

  template <size_t... slot>
  [[gnu::always_inline]] static void call(const passnet_arg* args, Slots<slot...>) {
    kernel(Parameter<P>::unpack(args[slot])...);
  }

  static void run(const passnet_launch* launch, int64_t first, int64_t last) {
    const Task* const caller = current_task;
    const int64_t* const grid = launch->grid;
    Task task{first,
              {first % grid[0], first / grid[0] % grid[1], first / grid[0] / grid[1]},
              {grid[0], grid[1], grid[2]},
              grid[0] * grid[1] * grid[2],
              launch->threads,
              launch->matrix_unit != 0};
    current_task = &task;
    while (task.index < last) {
      call(launch->args, Slots<__integer_pack(sizeof...(P))...>{});
      ++task.index;
      if (++task.axis[0] < grid[0]) continue;
      task.axis[0] = 0;
      if (++task.axis[1] < grid[1]) continue;
      task.axis[1] = 0;
      ++task.axis[2];
    }
    current_task = caller;
  }
};

}  // namespace detail
}  // namespace passnet
