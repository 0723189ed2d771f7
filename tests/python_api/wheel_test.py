"""A wheel of this build, installed into a fresh environment outside of the checkout."""

import pathlib
import re
import subprocess
import sys
import sysconfig
import time
import unittest
import zipfile

import package

SITE = pathlib.Path(sysconfig.get_path("purelib"))
MOST_MIB = 60


def readme_example():
    """The Python of README."""
    return re.search(r"```python\n(import torch, passnet.*?)```", (package.SOURCE / "README.md").read_text(), re.DOTALL)[1]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = package.new_directory(cls)
        done = subprocess.run([package.SOURCE / "scripts" / "wheel", "--no-build", cls.home / "dist"], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.wheel = next((cls.home / "dist").glob("*.whl"))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.home / "venv"], check=True)
        cls.site = next((cls.home / "venv" / "lib").glob("python*/site-packages"))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", cls.home / "venv" / "bin" / "python3"]
        start = time.monotonic()
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", cls.wheel], check=True)
        print(f"wheel: {cls.wheel.name}, {cls.wheel.stat().st_size / 2**20:.1f} MiB, installed in {time.monotonic() - start:.1f} s")

    def run_there(self, *command, **options):
        env = {"PATH": f"{self.home / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(self.home), "OMP_NUM_THREADS": "2"}
        return subprocess.run(command, capture_output=True, text=True, cwd=self.home, env=env, **options)

    def test_1_it_is_small_and_holds_all_parts(self):
        self.assertLess(self.wheel.stat().st_size, MOST_MIB << 20)
        self.assertRegex(self.wheel.name, r"^passnet-\d+\.\d+\.\d+-cp3\d+-cp3\d+-manylinux_2_\d+_x86_64\.whl$")
        names = set(zipfile.ZipFile(self.wheel).namelist())
        for part in ("bin/passnet", "bin/passnet-worker", "bin/passnet-cell", "bin/passnet-author", "include/passnet/kernel.h", "py.typed",
                     "share/passnet/python/passnet_triton/__main__.py", "share/passnet/samples/gpt2_gelu/graph_list.txt"):  # fmt: skip
            self.assertIn(f"passnet/{part}", names)
        self.assertEqual([name for name in names if re.search(r"lib(torch|c10|cuda)", name)], [])

    def test_2_without_pytorch_it_reads_graphs_and_says_what_the_rest_needs(self):
        sample = self.site / "passnet" / "share" / "passnet" / "samples" / "gpt2_gelu"
        for command in (["graph", "hash", sample / "graphs" / "b1_s1_float32"], ["--version"]):
            done = self.run_there("passnet", *command)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_there("passnet", "eval", sample)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"found no PyTorch in this environment, expected torch 2\.\d+\nhint: pip install")

    def test_3_beside_pytorch_it_runs_a_shipped_sample_and_the_example(self):
        (self.site / "torch").symlink_to(SITE / "torch")
        (self.site / "other_packages.pth").write_text(f"{SITE}\n")
        sample = self.site / "passnet" / "share" / "passnet" / "samples" / "gpt2_gelu"
        done = self.run_there("passnet", "run", sample / "graphs" / "b1_s1_float32", "--pass", sample)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.run_there("python3", "-c", readme_example())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("a graph runs by eager", done.stderr)
        run_path = self.run_there("sh", "-c", f"tr '\\0' '\\n' < {self.site}/passnet/bin/passnet-worker | grep -a -m 1 ORIGIN").stdout
        self.assertIn("$ORIGIN/../lib:$ORIGIN/../../torch/lib", run_path)


if __name__ == "__main__":
    if not package.FULL:
        print("3 checks skipped: packing and installing take 20 s of a processor; PASSNET_FULL=1 runs them")
        sys.exit(77)
    unittest.main(verbosity=2)
