#include <fmt/format.h>

#include "author/text/cuda_kernel.h"

namespace passnet::author {

/// The item of a thread, and the first of its steps. All threads of a block take part in every fold.
void CudaKernel::open_columns() {
  line("// DOWN threads of a block share a column; those past the last column take no step.");
  line("constexpr int columns = thread_count / DOWN;");
  line("const int64_t column = int64_t(task_index()) * columns + thread_index() % columns;");
  line(fmt::format("const bool is_there = column < {};", item_count()));
  line("const int64_t item = is_there ? column : 0;");
  line(fmt::format("const int64_t first = is_there ? thread_index() / columns : {};",
                   sizes_.kernel_text(*facts_.column)));
  decode(kernel_.items, "item");
}

std::string CudaKernel::is_first() const { return facts_.column ? "first == 0" : KernelWriter::is_first(); }

std::string CudaKernel::ends_block(const std::vector<Loop>& loops) const {
  if (!facts_.column) return KernelWriter::ends_block(loops);
  return fmt::format("{0} / DOWN % {1} == {2} || {0} >= {3} - DOWN", step_, kBlock, kBlock - 1,
                     sizes_.kernel_text(*facts_.column));
}

void CudaKernel::after_steps(const Expr& reduction, const std::string& total) {
  if (facts_.column) fold_over("column", "DOWN", reduction, total);
}

}  // namespace passnet::author
