"""Modules of `passnet export --inductor`: the same results from Inductor, by our kernel."""

import importlib.util
import logging
import os
import pathlib
import shutil
import subprocess
import unittest

import package
import torch

import passnet
from passnet import programs

PASSES = pathlib.Path(__file__).parent / "add_relu"  # relu(x + y) as one kernel


def add_relu(x, y):
    return torch.relu(x + y)


def export(home, name, *samples, target="cpu"):
    """The module of these samples."""
    path = home / f"{name}.py"
    subprocess.run([programs.path_of(), "export", *samples, "--inductor", "--for", target, "-o", path], check=True, env=programs.environment())
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = package.new_directory(cls)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cls.home / "inductor")
        cls.sample = cls.home / "sample"
        cls.x, cls.y = torch.randn(8, 32), torch.randn(8, 32)
        passnet.capture(add_relu, (cls.x, cls.y), cls.sample / "graphs" / "g")
        shutil.copytree(PASSES, cls.sample / "pass_dir")
        cls.module = export(cls.home, "exported", cls.sample)

    def setUp(self):
        torch._dynamo.reset()

    def compile(self, function):
        return torch.compile(function, options={"joint_custom_pre_pass": self.module.graph_pass})

    @torch.no_grad()
    def test_inductor_calls_our_kernel(self):
        pattern = self.module.graph_pass.patterns[0]
        before = pattern.calls
        torch.testing.assert_close(self.compile(add_relu)(self.x, self.y), add_relu(self.x, self.y), rtol=0, atol=0)
        self.assertEqual(pattern.calls, before + 1)

    @torch.no_grad()
    def test_other_shapes_stay_with_inductor(self):
        pattern = self.module.graph_pass.patterns[0]
        before = pattern.calls
        x, y = torch.randn(4, 16), torch.randn(4, 16)
        torch.testing.assert_close(torch.ops.passnet.__getattr__(self.operator_name())(x, y), add_relu(x, y))
        self.assertEqual(pattern.calls, before)
        self.assertIsNone(pattern.plan_for([x, y]))

    def operator_name(self):
        return f"add_relu_{self.module.graph_pass.uuid()[:12]}_0"

    def test_the_operator_is_one_that_pytorch_checks(self):
        torch.library.opcheck(torch.ops.passnet.__getattr__(self.operator_name()), (self.x, self.y), test_utils=("test_schema", "test_faketensor"))

    def test_its_identity_is_that_of_what_it_holds(self):
        self.assertEqual(len(self.module.graph_pass.uuid()), 64)
        again = (self.home / "exported.py").read_text()
        subprocess.run([programs.path_of(), "export", self.sample, "--inductor", "-o", self.home / "again.py"], check=True, env=programs.environment())
        self.assertEqual((self.home / "again.py").read_text(), again)

    def test_passes_that_have_no_such_form_are_refused(self):
        for text, by, message in (("return out", "return x", "pass 'add_relu' cannot be exported: it returns an input"),
                                  ("x + y", "x - y", "no pass applies to a graph of its sample")):  # fmt: skip
            sample = self.home / "refused"
            shutil.rmtree(sample, ignore_errors=True)
            shutil.copytree(self.sample, sample)
            source = sample / "pass_dir" / "add_relu.py"
            source.write_text(source.read_text().replace(text, by))
            done = subprocess.run([programs.path_of(), "export", sample, "--inductor", "-o", self.home / "none.py"], capture_output=True, text=True,
                                  env=programs.environment())  # fmt: skip
            self.assertEqual(done.returncode, 3)
            self.assertIn(message, done.stderr)

    def test_kernels_for_another_processor_are_not_used(self):
        text = (self.home / "exported.py").read_text().replace('\\"target\\":\\"cpu\\"', '\\"target\\":\\"sm_90\\"')
        (self.home / "other.py").write_text(text.replace(self.module.graph_pass.uuid(), "0" * 64))
        spec = importlib.util.spec_from_file_location("other", self.home / "other.py")
        with self.assertLogs("passnet", logging.WARNING) as said:
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        self.assertIn("pass 'add_relu' is not used: kernels are for sm_90, found no GPU", said.output[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
