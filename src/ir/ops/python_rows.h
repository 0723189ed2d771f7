// Calls of Python functions that are no operator of ATen with the same arguments: what src/runtime/lower has a function
// or a call of operators for, where the operator table (table_rows.h) has no row with these parameters.
#pragma once

#include <string_view>

namespace passnet::ir {

struct PythonRow {
  std::string_view spellings;  // separated by blanks; `F.` stands for torch.nn.functional, `Tensor.` for a method
  std::string_view signature;  // signature.h
};

inline constexpr PythonRow kPythonRows[] = {
    // torch.nn.functional
    {"F.normalize", "input, p=2.0, dim=1, eps=1e-12, out=None"},
    {"F.upsample", "input, size=None, scale_factor=None, mode='nearest', align_corners=None"},
    {"F.upsample_nearest F.upsample_bilinear", "input, size=None, scale_factor=None"},
    {"F.affine_grid", "theta, size, align_corners=False"},
    {"F.grouped_mm", "mat_a, mat_b, offs=None, bias=None, out_dtype=None"},
    // losses
    {"F.poisson_nll_loss",
     "input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'"},
    {"F.gaussian_nll_loss", "input, target, var, full=False, eps=1e-06, reduction='mean'"},
    {"F.ctc_loss", "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False"},
    {"F.margin_ranking_loss F.cosine_embedding_loss",
     "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'"},
    {"F.hinge_embedding_loss", "input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'"},
    {"F.multilabel_margin_loss F.soft_margin_loss", "input, target, size_average=None, reduce=None, reduction='mean'"},
    {"F.multilabel_soft_margin_loss", "input, target, weight=None, size_average=None, reduce=None, reduction='mean'"},
    {"F.multi_margin_loss",
     "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'"},
    {"F.triplet_margin_loss",
     "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, "
     "reduction='mean'"},
    // pooling
    {"F.max_pool1d_with_indices F.max_pool2d_with_indices F.max_pool3d_with_indices",
     "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False"},
    {"F.adaptive_max_pool1d_with_indices F.adaptive_max_pool2d_with_indices F.adaptive_max_pool3d_with_indices",
     "input, output_size, return_indices=False"},
    {"F.lp_pool1d F.lp_pool2d F.lp_pool3d", "input, norm_type, kernel_size, stride=None, ceil_mode=False"},
    {"F.max_unpool1d F.max_unpool2d F.max_unpool3d",
     "input, indices, kernel_size, stride=None, padding=0, output_size=None"},
    {"F.fractional_max_pool2d F.fractional_max_pool3d F.fractional_max_pool2d_with_indices "
     "F.fractional_max_pool3d_with_indices",
     "input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None"},
    // functions of torch
    {"torch.functional.unique_consecutive Tensor.unique_consecutive",
     "input, return_inverse=False, return_counts=False, dim=None"},
    {"torch.functional.stft Tensor.stft",
     "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, "
     "onesided=None, return_complex=None, align_to_window=None"},
    {"torch.functional.broadcast_shapes", "*shapes"},
    {"torch.functional.unravel_index", "indices, shape"},
    {"torch.functional.lu", "A, pivot=True, get_infos=False, out=None"},
    {"Tensor.lu", "A, pivot=True, get_infos=False"},
    {"torch.nonzero", "input, out=None, as_tuple=False"},
    {"torch.functional.norm", "input, p='fro', dim=None, keepdim=False, out=None, dtype=None"},
    {"torch.functional.einsum", "*args"},
    {"torch.functional.block_diag torch.functional.cartesian_prod torch.functional.chain_matmul "
     "torch.functional.atleast_1d torch.functional.atleast_2d torch.functional.atleast_3d",
     "*tensors"},
    {"torch.ops.transformers.grouped_mm_fallback", "input, weight, offs"},
    {"torch.functional.tensordot", "a, b, dims=2, out=None"},
    // methods, and what belongs to Python or to tracing
    {"Tensor.to",
     "input, *args, dtype=None, device=None, other=None, non_blocking=False, copy=None, memory_format=None"},
    {"Tensor.type", "input, dtype=None, non_blocking=False"},
    {"Tensor.cfloat", "input, *, memory_format=None, !dtype=torch.complex64"},
    {"Tensor.cdouble", "input, *, memory_format=None, !dtype=torch.complex128"},
    {"Tensor.cpu Tensor.stride Tensor.nelement Tensor.is_contiguous Tensor.element_size Tensor.get_device "
     "Tensor.__len__ Tensor.__bool__ Tensor.__int__ Tensor.__index__ Tensor.__float__",
     "input"},
    {"Tensor.cuda", "input, device=None"},
    {"Tensor.__rdiv__ Tensor.__rfloordiv__ Tensor.__rmod__ Tensor.__rpow__ Tensor.__rmatmul__ Tensor.__rlshift__ "
     "Tensor.__rrshift__",
     "input, other"},
    {"Tensor.split", "tensor, split_size_or_sections, dim=0"},
    {"torch.Size", "sizes=()"},
    {"torch.manual_seed", "seed"},
    {"torch.ops.prims.convert_element_type.default", "input, dtype"},
    {"torch._C._set_grad_enabled torch.set_grad_enabled", "mode"},
    // constructors
    {"torch.asarray", "data, dtype=None, device=None, copy=None, requires_grad=False"},
    // numbers and assertions
    {"torch.sym_int torch.sym_fresh_size torch.sym_float torch.sym_not torch.sym_sqrt torch._sym_sqrt math.sqrt "
     "math.exp math.log math.log2 math.log10 math.sin math.cos math.tan math.tanh math.atan math.fabs math.floor "
     "math.ceil math.trunc",
     "x"},
    {"torch.sym_ite", "b, t, f"},
    {"math.pow math.fmod math.atan2 math.gcd", "a, b"},
    {"torch.ops.aten.sym_size torch.ops.aten.sym_size.default torch.ops.aten.sym_numel "
     "torch.ops.aten.sym_numel.default torch.ops.aten.sym_storage_offset.default Tensor.storage_offset",
     "input"},
    {"torch.ops.aten.sym_size.int torch.ops.aten.sym_stride.int", "input, dim"},
    {"torch.ops.aten._assert_scalar.default torch._assert_scalar torch._assert", "condition, message"},
    {"torch._check torch._check_value torch._check_index torch._check_type torch._check_not_implemented "
     "torch._check_tensor_all",
     "condition, message=None"},
    // autocast
    {"torch.amp.autocast_mode._enter_autocast", "device_type, dtype=None, enabled=True, cache_enabled=None"},
};

}  // namespace passnet::ir
