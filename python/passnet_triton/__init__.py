"""Turns @triton.jit functions into PTX ahead of time, without a GPU: what `passnet` runs in its compile jail."""
