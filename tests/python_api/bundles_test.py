"""Bundles: written, loaded and run from Python, the command line and C++, and refused by name."""

import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import package
import torch
from torch import nn

import passnet
from passnet import programs
from passnet.bundles import save_safetensors

PASSES = pathlib.Path(__file__).parent / "add_relu"  # relu(x + y) as one kernel


class AddRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.arange(256.0).reshape(8, 32) - 100)

    def forward(self, x):
        return torch.relu(x + self.bias)


def run(*words):
    done = subprocess.run([programs.path_of(), *map(str, words)], capture_output=True, text=True, env=programs.environment())
    return done.returncode, done.stdout, done.stderr


class Bundles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = package.new_directory(cls)
        cls.model, cls.x = AddRelu().eval(), torch.ones(8, 32)
        cls.expected = torch.relu(cls.x + cls.model.bias.detach())
        cache_dir = str(cls.home / "cache")
        passnet.trust(cls.model, (cls.x,), PASSES, cache_dir=cache_dir)
        cls.path = cls.home / "model.passnet"
        cls.bundle = passnet.bundle(cls.model, (cls.x,), cls.path, targets=["x86-64-v3"], cache_dir=cache_dir)
        passnet.capture(cls.model, (cls.x,), cls.home / "graph")

    def test_a_bundle_gives_what_the_model_gives(self):
        loaded = passnet.load(self.path)
        self.assertEqual((loaded.passes, loaded.sites, loaded.why, len(loaded.inputs)), (("add_relu",), 1, "", 1))
        self.assertEqual(len(loaded.weights), 1)
        with torch.no_grad():
            for x in (self.x, torch.randn(8, 32)):
                torch.testing.assert_close(loaded(x)[0], self.model(x), rtol=0, atol=0)
            # Inputs that the passes were not made for: the same without passes.
            torch.testing.assert_close(loaded(self.x.double())[0], self.model(self.x.double()))

    def test_passes_of_a_model_with_convolutions_are_found(self):
        # Its graph is rewritten before passes are written.
        class WithConvolution(AddRelu):
            def __init__(self):
                super().__init__()
                self.convolution = nn.Conv2d(3, 8, 3)

            def forward(self, x, image):
                return super().forward(x), self.convolution(image)

        model, args, cache_dir = WithConvolution().eval(), (self.x, torch.randn(1, 3, 9, 9)), str(self.home / "convolutions")
        passnet.trust(model, args, PASSES, cache_dir=cache_dir)
        loaded = passnet.bundle(model, args, self.home / "convolutions.passnet", cache_dir=cache_dir)
        self.assertEqual((loaded.passes, loaded.sites), (("add_relu",), 1))
        with torch.no_grad():
            for found, expected in zip(loaded(*args), model(*args), strict=True):
                torch.testing.assert_close(found, expected)

    def test_inputs_that_it_does_not_take_are_named(self):
        with self.assertRaisesRegex(passnet.Unsupported, "requires gradients, expected a tensor on the CPU without gradients"):
            self.bundle(self.x.clone().requires_grad_())
        with self.assertRaisesRegex(TypeError, "found 2 arguments, expected 1 tensors"):
            self.bundle(self.x, self.x)

    def test_the_same_source_gives_the_same_bytes(self):
        written = []
        for name in ("a", "b"):
            code, _, error = run("bundle", self.home / "graph", "--passes", PASSES, "--for", "x86-64-v3", "-o", self.home / name)
            self.assertEqual(code, 0, error)
            written.append((self.home / name).read_bytes())
        self.assertEqual(*written)
        loaded = passnet.load(self.home / "a")
        self.assertEqual((len(loaded.inputs), loaded.weights, loaded.sites), (2, (), 1))

    def test_the_command_line_runs_it_confined(self):
        names = passnet.load(self.path).inputs
        save_safetensors(self.home / "x.safetensors", {names[0]: self.x})
        code, out, error = run("run", self.path, "--inputs", self.home / "x.safetensors", "--out", self.home / "y.safetensors", "--json")
        self.assertEqual(code, 0, error)
        self.assertEqual(json.loads(out)["outputs"][0]["shape"], [8, 32])
        self.assertIn(self.expected.numpy().tobytes(), (self.home / "y.safetensors").read_bytes())
        code, _, error = run("run", self.path)
        self.assertEqual(code, 0, error)
        self.assertIn(": bundles run on the CPU alone", run("run", self.path, "--device", "cuda:0")[2])

    def test_a_program_in_cpp_runs_it(self):
        libraries = package.BUILD / "lib"
        torch_libraries = pathlib.Path(torch.__file__).parent / "lib"
        program = self.home / "program"
        subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", package.SOURCE / "apps" / "passnet_library" / "example.cpp", f"-I{package.SOURCE / 'include'}",
                        f"-L{libraries}", "-lpassnet", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{torch_libraries}", "-o", program], check=True)  # fmt: skip
        done = subprocess.run([program, self.path, "8", "32"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "1 inputs, passes at 1 places \nfloat32 0 0 0 0\n")
        done = subprocess.run([program, self.home / "graph" / "model.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("model.py: error: not a safetensors file", done.stderr)
        numbers = self.home / "numbers"
        shutil.copytree(self.home / "graph", numbers)
        text = (numbers / "model.py").read_text()
        (numbers / "model.py").write_text(re.sub(r"return \((\w+),\)", r"return (\1, 3)", text))
        self.assertEqual(run("bundle", numbers, "-o", self.home / "numbers.passnet")[0], 0)
        done = subprocess.run([program, self.home / "numbers.passnet", "8", "32"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "error: an output is of type Int, expected tensors\n"))

    def test_the_library_names_what_is_wrong_with_a_call(self):
        library = ctypes.CDLL(package.BUILD / "lib" / "libpassnet.so")
        library.passnet_bundle_load.restype, library.passnet_bundle_call.restype = ctypes.c_void_p, ctypes.c_char_p
        error = ctypes.c_char_p()
        loaded = ctypes.c_void_p(library.passnet_bundle_load(str(self.path).encode(), ctypes.byref(error)))
        self.assertIsNone(error.value)
        self.assertEqual(library.passnet_bundle_call(loaded, None, ctypes.c_size_t(0), None, None), b"error: found 0 inputs, expected 1 tensors")
        library.passnet_bundle_free(loaded)
        self.assertIsNone(library.passnet_bundle_load(b"/nonexistent", ctypes.byref(error)))
        self.assertIn(b"cannot open '/nonexistent'", error.value)

    def test_foreign_and_damaged_files_are_refused_by_name(self):
        damaged = bytearray(self.path.read_bytes())
        damaged[damaged.index(b"\x7fELF") + 64] ^= 1
        (self.home / "damaged.passnet").write_bytes(damaged)
        save_safetensors(self.home / "foreign.passnet", {"x": self.x})
        for name, message in {"damaged.passnet": "the bundle is damaged: the part 'kernels/", "foreign.passnet": "expected a bundle of PassNet"}.items():
            with self.assertRaises(passnet.BadInput) as raised:
                passnet.load(self.home / name)
            self.assertIn(message, raised.exception.message)
            self.assertEqual(raised.exception.at.file, str(self.home / name))
            code, _, error = run("run", self.home / name)
            self.assertEqual(code, 3)
            self.assertIn(message, error)

    def test_sources_that_name_no_graph_are_refused(self):
        sample, recorded = package.SOURCE / "samples" / "gpt2_gelu", package.SOURCE / "tests" / "data" / "runs" / "three_graphs" / "sample"
        names = passnet.load(self.path).inputs
        save_safetensors(self.home / "narrow.safetensors", {names[0]: self.x[:, :4]})
        for words, message in {
            (sample,): "graphs, expected one\nhint: choose one with --graph: ",
            (sample, "--graph", "b9"): "has no graph 'b9'",
            (self.home / "graph", "--for", "avx2"): "target 'avx2', expected 'cpu', 'x86-64-v3', 'x86-64-v4', or a GPU such as 'sm_90'",
            (self.home / "graph", "--weights", self.path): ", which is no input of the graph",
            (self.home / "graph", "--weights", self.home / "narrow.safetensors"): "' is float32[8, 4], expected float32[8, 32]",
            (recorded,): "has records of 3 graphs, expected one\nhint: choose one with --graph NAME",
            (recorded, "--graph", "small"): " was made from the sample '",
        }.items():
            code, _, error = run("bundle", *words, "-o", self.home / "none")
            self.assertEqual(code, 3)
            self.assertIn(message, error)
        self.assertFalse((self.home / "none").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
