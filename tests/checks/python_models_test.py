"""benchmarks/python_models.py: which rows are measured again, and kinds of kernels."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "benchmarks"))
import python_models as models  # noqa: E402
import python_models_kernels as kernels  # noqa: E402

CASE = {"device": "cuda", "model": "m", "batch": "1", "dtype": "float32"}


class PythonModelsTests(unittest.TestCase):
    def test_rows_with_a_problem_are_measured_again(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "models.csv"
            for side, facts in (("eager", {"host_us": 1}), ("compile", {"problem": "timeout"}), ("passnet", {"problem": "timeout"}), ("passnet", {"host_us": 2})):
                models.append_row(path, {**CASE, "side": side, **facts})
            self.assertEqual(models.missing_sides(path, tuple(CASE.values()), ["eager", "compile", "passnet", "passnet tuned"]), ["compile", "passnet tuned"])

    def test_kind_of_a_kernel(self):
        for name, kind in {
            "triton_poi_fused_convolution_relu_0": "fused by Inductor",
            "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>": "layout",
            "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4": "convolution",
            "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_64x64_32x5_nhwc>": "convolution",
            "aten::conv_transpose2d": "convolution",
            "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8": "product",
            "void at::native::batch_norm_transform_input_kernel<float, float, float, false, int>": "norm",
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>": "elements and rows",
            "Memcpy DtoD (Device -> Device)": "copy",
            "nvjet_tst_64x8_64x16_1x4_h_bz_TNT": "product",
            "batch_norm_relu_kernel": "passes",
            "Torch-Compiled Region: 0/0": "other",
        }.items():
            self.assertEqual(kernels.kind_of(name), kind, name)

    def test_table_of_kernels(self):
        row = {**CASE, "side": "eager", "kernel": "k"}
        lines = kernels.table([{**row, "kind": "layout", "calls": 2, "us": 3}, {**row, "kind": "convolution", "calls": 1, "us": 9}, {**row, "kind": "layout", "calls": 1, "us": 2.5}])
        self.assertEqual([line.split() for line in lines], [
            "cuda m 1 float32 eager: 14 us in 4 kernels".split(), "9.0 us 1.0 convolution".split(), "5.5 us 3.0 layout".split()])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
