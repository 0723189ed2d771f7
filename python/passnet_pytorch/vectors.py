"""The vector instructions that Inductor compiles for: those that PyTorch finds in this processor, without a trial of each.

A trial compiles a file and starts a Python that loads it with PyTorch. A process makes four of them on a processor with
AVX-512, which take seconds, for what every compiler that PassNet takes can do.
"""

from torch._inductor import cpu_vec_isa


def skip_trials():
    cpu_vec_isa.VecISA.check_build = lambda instructions, code: True
