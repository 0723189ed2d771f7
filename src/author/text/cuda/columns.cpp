#include <fmt/format.h>

#include "author/text/cuda/kernel.h"

namespace passnet::author {

/// The item of a thread, and its steps. All threads of a block take part in every fold.
void CudaKernel::open_columns() {
  const bool over_row = part_.own.over_row;
  line("// DOWN threads of a block share a column; those past the last column take no step.");
  line("constexpr int columns = thread_count / DOWN;");
  line("const int64_t column = int64_t(task_index()) * columns + thread_index() % columns;");
  line(fmt::format("const bool is_there = column < {}{};", item_count(), over_row ? " * PARTS" : ""));
  line("const int thread = thread_index() / columns;");
  if (over_row) {
    line(fmt::format("const Divided<{}> place(is_there ? column : 0);", item_count()));
    line("const int64_t part = place.quotient, item = place.remainder;");
    open_share();
    if (const std::string inner = steps_of_inner_loops(); inner.empty())
      line("const int64_t first = is_there ? begin + thread : end;");
    else
      line(fmt::format("const int64_t last = end * {0}, first = is_there ? begin * {0} + thread : last;", inner));
  } else {
    line("const int64_t item = is_there ? column : 0;");
    if (!part_.is_split()) line(fmt::format("const int64_t first = is_there ? thread : {};", end_of_column()));
  }
  decode(kernel_.items, "item");
}

/// Returns the steps of the inner loops of a split row for each step of the first, which is shared out; empty: there
/// are no others.
std::string CudaKernel::steps_of_inner_loops() const {
  const std::vector<Loop>& loops = part_.split->loops;
  return loops.size() == 1 ? "" : sizes_.kernel_text(loop_steps(sizes_, {loops.begin() + 1, loops.end()}));
}

/// Returns the end of the steps of a column.
std::string CudaKernel::end_of_column() const {
  if (!part_.own.over_row) return sizes_.kernel_text(*facts_.column);
  return part_.split->loops.size() == 1 ? "end" : "last";
}

std::string CudaKernel::is_first() const { return facts_.column ? "is_there && thread == 0" : ""; }

std::string CudaKernel::ends_block(const std::vector<Loop>& loops) {
  if (!facts_.column) return KernelWriter::ends_block(loops);
  return fmt::format("{0} / DOWN % {1} == {1} - 1 || {0} >= {2} - DOWN", step_, block_length(), end_of_column());
}

void CudaKernel::after_steps(const Expr& reduction, const std::string& total) {
  if (facts_.column) fold_over("column", "DOWN", reduction, total);
}

}  // namespace passnet::author
