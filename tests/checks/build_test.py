"""scripts/build on a bare machine: what needs no PyTorch is built while PyTorch is set up; failures of either end both.

cmake and ninja are fakes that write down what they were asked for; nothing is compiled.
"""

import pathlib
import subprocess
import textwrap
import time
import unittest

import bootstrap_test


class Build(bootstrap_test.Machine):
    def setUp(self):
        super().setUp()
        self.checkout = self.directory / "checkout"
        self.tool("cmake", textwrap.dedent(f"""\
            #!/bin/bash
            echo "cmake $(grep -o 'PASSNET_WITH_TORCH=[A-Z]*' <<<"$*") $(grep -o 'PASSNET_TORCH_DIR=.*/torch' <<<"$*")" >>{self.log}
            touch {self.checkout}/build/build.ninja
            """))
        self.make_ninja("echo '[1/1] Building'")

    def make_ninja(self, action):
        self.tool("ninja", textwrap.dedent(f"""\
            #!/bin/bash
            [[ "$*" != *" -n"* ]] || exit 0
            echo "ninja ${{*:5}}" >>{self.log}
            {action}
            """))

    def run_build(self, *arguments):
        return subprocess.run(
            [self.checkout / "scripts" / "build", *arguments], env={"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.home)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def test_the_first_build_needs_pytorch_only_for_the_worker(self):
        done = self.run_build("demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        built = [line for line in self.logged() if line.startswith(("cmake", "ninja"))]
        torch = f"{self.home}/.cache/passnet/venv/bin/site/torch"
        self.assertEqual(built, ["cmake PASSNET_WITH_TORCH=OFF ", "ninja passnet",
                                 f"cmake PASSNET_WITH_TORCH=ON PASSNET_TORCH_DIR={torch}", "ninja passnet passnet-worker"])
        self.assertIn("setup: ready: PyTorch 2.11.0 in", done.stderr)

        self.assertIn("build 1 of 2: 1 steps in 0:0", done.stderr)
        self.assertIn("build 2 of 2: 1 steps in 0:0", done.stderr)

        again = self.run_build("demo")
        self.assertEqual(again.returncode, 0)
        self.assertEqual(self.logged(), ["ninja passnet passnet-worker"])
        self.assertIn("build: 1 steps in 0:0", again.stderr)

    def test_a_failed_set_up_is_shown_and_ends_the_build(self):
        self.make_python("3.10.12", too_old=1)
        done = self.run_build("demo")
        self.assertEqual(done.returncode, 4)
        self.assertIn("expected Python 3.11 or newer", done.stderr)

        self.make_python("3.12.3")
        (self.home / "pip_is_killed").touch()
        done = self.run_build("demo")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("setup: installing PyTorch without its Python dependencies", done.stderr)
        self.assertNotIn("cmake PASSNET_WITH_TORCH=ON", " ".join(self.logged()))

    def test_a_failed_build_ends_the_set_up(self):
        python = self.tools / "python3"
        python.write_text(python.read_text().replace('echo "pip', f'echo $$ >{self.directory}/pip_pid; sleep 300; echo "pip'))
        self.make_ninja(f"while [[ ! -s {self.directory}/pip_pid ]]; do sleep 0.05; done; exit 1")
        done = self.run_build("demo")
        self.assertEqual(done.returncode, 1, done.stderr)
        pid = int((self.directory / "pip_pid").read_text())
        given_up = time.monotonic() + 60
        while is_running(pid) and time.monotonic() < given_up:
            time.sleep(0.05)
        self.assertFalse(is_running(pid), "the set-up goes on after the build has failed")


def is_running(pid):
    """False, too, for one that has ended and that nobody has asked about yet."""
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    unittest.main()
