// The threads that PyTorch's operators share on the CPU.
#pragma once

namespace passnet::runtime {

/// Ends the helpers of PyTorch's operators; the next operator that wants some starts them again, in some 50 us for each.
/// For milliseconds after an operator they spin on their processors, where kernels of passes are to run. Nothing happens
/// with an OpenMP that cannot do it.
void end_operator_threads();

}  // namespace passnet::runtime
