"""`passnet doctor`: what is missing is noticed, named with its fix, and told by the exit code."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PASSNET = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin" / "passnet"


def examine(*arguments, **environment):
    return subprocess.run([PASSNET, "doctor", *arguments], env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


def findings(**environment):
    """Exit code, whether evaluating works, and the findings by topic."""
    done = examine("--json", **environment)
    report = json.loads(done.stdout)
    return done.returncode, report["evaluate_on_cpu"], {finding["topic"]: finding for finding in report["findings"]}


@functools.cache  # an examination compiles kernels
def findings_here():
    return findings()


class Doctor(unittest.TestCase):
    def test_a_machine_that_was_set_up_can_evaluate(self):
        code, works, found = findings_here()
        self.assertEqual((code, works), (0, True), found)
        self.assertEqual([topic for topic, finding in found.items() if finding["required"] and finding["mark"] == "missing"], [])
        self.assertRegex(found["compiler"]["found"], r"^g\+\+ \d+\.\d+\.\d+; compiled a kernel in \d+\.\d\d s$")
        self.assertRegex(found["worker"]["found"],
                         r"^starts in \d+\.\d\d s with PyTorch \d+\.\d+\.\d+ \(/.*/libtorch_cpu\.so\)$")
        self.assertRegex(found["triton"]["found"], r"^(triton \d\S+, ptxas \d\S+, [0-9a-f]{12}; compiled a @triton\.jit kernel in "
                                                   r"\d+\.\d\d s|@triton\.jit kernels cannot be compiled: .+)$")
        self.assertRegex(found["sandbox"]["found"], "^kernels run with .*no new privileges")
        self.assertEqual(list(found), ["processor", "memory", "disk", "clock", "shared memory", "compiler", "worker",
                                       "sandbox", "python", "triton", "gpu"])

    def test_the_text_has_a_line_for_each_finding_and_its_fix(self):
        done = examine()
        lines = done.stdout.splitlines()
        _, _, found = findings_here()
        for topic, finding in found.items():
            line = next(line for line in lines if line[9:].startswith(topic))
            self.assertEqual(line.split()[0], finding["mark"])
            if finding["fix"]:
                self.assertIn("-> " + finding["fix"], done.stdout)
        self.assertEqual(lines[-1], "Evaluating passes on the CPU works here.")

    def test_a_missing_compiler_is_an_exit_code_and_a_command(self):
        with tempfile.TemporaryDirectory() as empty:
            code, works, found = findings(PATH=empty)
            text = examine(PATH=empty).stdout
        self.assertEqual((code, works), (4, False))
        self.assertEqual(found["compiler"], {"topic": "compiler", "mark": "missing", "required": True, "fix": "apt-get install g++",
                                             "found": "g++ was not found: CPU kernels cannot be compiled"})
        self.assertTrue(text.endswith("\nEvaluating passes on the CPU does not work here: see what is missing above.\n"))

    def test_without_python_it_still_evaluates(self):
        with tempfile.TemporaryDirectory() as tools:
            for tool in ("g++", "as", "ld", "env"):
                os.symlink(f"/usr/bin/{tool}", f"{tools}/{tool}")
            code, works, found = findings(PATH=tools)
        self.assertEqual((code, works), (0, True), found)
        self.assertEqual((found["python"]["mark"], found["python"]["fix"]), ("warn", "apt-get install python3 python3-venv"))

    def test_a_python_that_cannot_import_its_pytorch_is_not_ok(self):
        with tempfile.TemporaryDirectory() as packages, tempfile.TemporaryDirectory() as home:
            torch = pathlib.Path(packages) / "torch"
            (pathlib.Path(packages) / "torch-2.11.0.dist-info").mkdir()
            (pathlib.Path(packages) / "torch-2.11.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0\n")
            torch.mkdir()
            (torch / "__init__.py").write_text("import typing_extensions_of_nobody\n")
            _, works, found = findings(PYTHONPATH=packages, PASSNET_HOME=home)
            self.assertTrue(works)
            self.assertEqual(found["python"]["mark"], "warn")
            self.assertIn("which it cannot import: No module named 'typing_extensions_of_nobody'", found["python"]["found"])
            self.assertTrue(found["python"]["fix"].startswith("make setup-capture"))
            (torch / "__init__.py").write_text("")
            self.assertEqual(findings(PYTHONPATH=packages, PASSNET_HOME=home)[2]["python"]["mark"], "ok")

    def test_a_home_that_cannot_be_written_is_named(self):
        code, works, found = findings(PASSNET_HOME="/proc/nowhere")
        self.assertEqual((code, works), (4, False))
        self.assertEqual(found["disk"]["found"], "'/proc/nowhere' (environments and compiled kernels) cannot be written")
        self.assertEqual(found["disk"]["fix"], "export PASSNET_HOME=DIR  with a directory that can be written")

    def test_a_missing_worker_is_named_with_the_command_that_builds_it(self):
        with tempfile.TemporaryDirectory() as directory:
            lonely = pathlib.Path(directory) / "passnet"
            shutil.copy(PASSNET, lonely)
            done = subprocess.run([lonely, "doctor", "--json"], capture_output=True, text=True, timeout=120)
        worker = next(finding for finding in json.loads(done.stdout)["findings"] if finding["topic"] == "worker")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(worker["found"], f"'{directory}/passnet-worker' is missing")
        self.assertEqual(worker["fix"], "run 'make build'; it leaves all programs in build/bin")


if __name__ == "__main__":
    unittest.main()
