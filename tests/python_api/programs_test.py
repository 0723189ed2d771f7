"""The package without PyTorch: errors with their fields, results, versions that do not fit."""

import pickle
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import package
import passnet
from passnet import programs

SAMPLE = package.SOURCE / "samples" / "gpt2_gelu"
GRAPH = SAMPLE / "graphs" / "b1_s1_float32"


class Programs(unittest.TestCase):
    def test_importing_the_package_and_reading_a_graph_take_no_pytorch(self):
        code = f"import sys, passnet; print(passnet.load({str(GRAPH)!r}), passnet.__version__); assert 'torch' not in sys.modules"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(package.BUILD / "python"), "HOME": "/"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"<passnet.Graph b1_s1_float32: \d+ statements, [0-9a-f]{12}> \d+\.\d+\.\d+")

    def test_an_error_has_the_fields_of_the_program(self):
        model = package.new_directory(self) / "model.py"
        model.write_text("import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(y)\n")
        with self.assertRaises(passnet.BadInput) as caught:
            programs.run(["graph", "show", model], needs_torch=False, accept=(0,))
        error = caught.exception
        self.assertEqual((error.kind, error.exit_code), ("bad-input", 3))
        self.assertEqual(error.at, (str(model), 6, 27))
        self.assertEqual(error.message, "name 'y' is not defined")
        self.assertIn(f"{model}:6:27: error: name 'y' is not defined", str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.at, again.text), (type(error), error.at, error.text))

    def test_lines_of_progress_come_at_once_and_an_interrupt_ends_the_program(self):
        script = package.new_directory(self) / "program"
        script.write_text("#!/bin/sh\necho one >&2\necho two >&2\nexec sleep 100\n")
        script.chmod(0o700)
        said = []

        def watch(line):
            said.append(line)
            if line == "two":
                raise KeyboardInterrupt

        with mock.patch.object(programs, "path_of", return_value=script), self.assertRaises(KeyboardInterrupt):
            programs.run([], needs_torch=False, watch=watch)
        self.assertEqual(said, ["one", "two"])

    def test_a_directory_that_holds_nothing_of_ours_is_refused(self):
        empty = package.new_directory(self)
        for refused in (lambda: passnet.load(empty), lambda: passnet.Graph(empty)):
            with self.assertRaises(passnet.BadInput) as caught:
                refused()
            self.assertIn(str(empty), caught.exception.message)

    def test_another_pytorch_is_refused_with_versions_and_remedy(self):
        with mock.patch("importlib.metadata.version", return_value="2.12.1+cpu"):
            with self.assertRaises(passnet.ResourceError) as caught:
                programs.require_torch()
        minor = programs.minor_of(programs.TORCH)
        self.assertIn(f"found torch 2.12.1+cpu, expected torch {minor}", caught.exception.message)
        self.assertIn(f"pip install 'torch=={minor}.*'", caught.exception.hint)

    def test_the_command_refuses_another_pytorch_but_not_to_read_graphs(self):
        other = package.new_directory(self) / "torch-2.12.0.dist-info"
        other.mkdir()
        (other / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.12.0\n")
        env = {"PYTHONPATH": f"{other.parent}:{package.BUILD / 'python'}", "HOME": "/", "PATH": "/usr/bin:/bin"}

        def run(*arguments):
            return subprocess.run([sys.executable, "-m", "passnet", *arguments], capture_output=True, text=True, env=env)

        shown = run("graph", "hash", GRAPH)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        refused = run("eval", SAMPLE)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("found torch 2.12.0, expected torch", refused.stderr)

    def test_a_pytorch_in_another_place_than_the_wheel_is_refused(self):
        packages = package.new_directory(self) / "site-packages"
        (packages / "passnet").mkdir(parents=True)
        with mock.patch.object(programs, "HERE", packages / "passnet"), mock.patch("importlib.metadata.version", return_value=programs.TORCH):
            with self.assertRaisesRegex(passnet.errors.ResourceError, "expected it beside the package passnet"):
                programs.require_torch()
            (packages / "torch").mkdir()
            programs.require_torch()

    def test_a_result_is_computed_from_its_records(self):
        run = shutil.copytree(next((package.SOURCE / "tests" / "data" / "runs").iterdir()), package.new_directory(self) / "run")
        result = passnet.load(run)
        self.assertGreater(len(result.records), 0)
        self.assertIn("aggregated score", result.report())


if __name__ == "__main__":
    unittest.main(verbosity=2)
