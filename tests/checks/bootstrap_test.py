"""scripts/bootstrap on machines that lack things: fake apt-get, dpkg-query, sudo and python3 stand in for them.

Nothing is installed and no network is used: the fake pip records what it was asked for and lays down the files that a
PyTorch wheel would.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
TORCH_FILES = ("lib/libc10.so", "include/ATen/ATen.h", "include/c10/core/Device.h")

# A python3: `-m venv` and `-m pip` are recorded and imitated, all else is the real Python without its packages.
# What it finds in FAKE_SITE (a directory beside it) are its packages.
FAKE_PYTHON = """\
#!/bin/bash
here=$(dirname "$(readlink -f "$0")")
if [[ "$*" == "-m venv "* ]]; then
  echo "venv $3" >>{log}; mkdir -p "$3/bin"; cp "$0" "$3/bin/python3"
elif [[ "$*" == "-m pip "* ]]; then
  echo "pip ${{*:3}}" >>{log}; [[ ! -e {home}/pip_is_killed ]] || {{ rm {home}/pip_is_killed; kill -9 $PPID; exit 1; }}
  "{real}" "{wheel}" "$here/site" 2.11.0
elif [[ "$*" == *"ctypes.CDLL"* ]]; then
  echo "loads ${{*: -1}}" >>{log}
elif [[ "$*" == "--version" ]]; then
  echo "Python {version}"
elif [[ "$*" == *"version_info < (3, 11)"* ]]; then
  exit {too_old}
else
  PYTHONPATH="$here/site" exec "{real}" -S "$@"
fi
"""

WHEEL = """\
import pathlib, sys
site, version = pathlib.Path(sys.argv[1]), sys.argv[2]
for name in {files!r} + ("lib/libtorch_cpu.so", "__init__.py"):
    path = site / "torch" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
(site / "torch" / "version.py").write_text(f"__version__ = '{{version}}'\\n")
info = site / f"torch-{{version}}.dist-info"
info.mkdir(exist_ok=True)
(info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: torch\\nVersion: {{version}}\\n")
"""


class Machine(unittest.TestCase):
    """A checkout, a home and a PATH of their own for each test."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="passnet_bootstrap_"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.home, self.tools, self.log = self.directory / "home", self.directory / "tools", self.directory / "log"
        (self.directory / "checkout").mkdir()
        shutil.copytree(SOURCE / "scripts", self.directory / "checkout" / "scripts")
        self.home.mkdir()
        self.tools.mkdir()
        self.wheel = self.directory / "wheel.py"
        self.wheel.write_text(WHEEL.format(files=TORCH_FILES))
        self.make_python("3.12.3")
        self.install_package_tools(missing=())
        # What an ordinary user's set-up asks for the rights that root's has.
        self.tool("sudo", '#!/bin/bash\n[[ $1 != -n ]] || shift\nexec "$@"\n')

    def tool(self, name, text):
        path = self.tools / name
        path.write_text(text)
        path.chmod(0o755)

    def make_python(self, version, too_old=0):
        self.tool("python3", FAKE_PYTHON.format(log=self.log, home=self.home, real=sys.executable, wheel=self.wheel,
                                                version=version, too_old=too_old))

    def install_package_tools(self, missing):
        """dpkg-query knows every package but `missing`; apt-get installs what it is asked for."""
        installed = self.directory / "installed"
        installed.write_text("")
        self.tool("dpkg-query", textwrap.dedent(f"""\
            #!/bin/bash
            for name in "${{@:4}}"; do
              [[ " {' '.join(missing)} " == *" $name "* ]] && ! grep -qx "$name" {installed} || echo "ii  $name"
            done
            """))
        self.tool("apt-get", textwrap.dedent(f"""\
            #!/bin/bash
            echo "apt-get $*" >>{self.log}
            [[ "$*" != *" install "* ]] || printf '%s\\n' "$@" >>{installed}
            """))

    def run_bootstrap(self, *arguments, **environment):
        return subprocess.run(
            [self.directory / "checkout" / "scripts" / "bootstrap", *(arguments or ["demo"])],
            env={"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.home), **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def logged(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def environment(self):
        """build/environment, as the build reads it."""
        lines = (self.directory / "checkout" / "build" / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


class Bootstrap(Machine):
    def test_a_bare_machine_gets_what_is_missing_and_the_next_run_is_silent(self):
        self.install_package_tools(missing=("cmake", "libfmt-dev"))
        done = self.run_bootstrap()
        self.assertEqual(done.returncode, 0, done.stderr)
        venv = self.home / ".cache" / "passnet" / "venv"
        self.assertEqual(done.stderr.splitlines(), [
            "setup: installing 2 packages of the distribution that the build needs: cmake libfmt-dev",
            f"setup: installing PyTorch without its Python dependencies into {venv}: torch==2.11.0 "
            "nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85 nvidia-cuda-crt==13.0.88 (530 MB, about 20 s)",
            f"setup: ready: PyTorch 2.11.0 in {venv}/bin/site/torch",
        ])
        logged = self.logged()
        self.assertEqual(logged[0], "apt-get -o DPkg::Lock::Timeout=300 -qq update")
        self.assertEqual(logged[1], "apt-get -o DPkg::Lock::Timeout=300 -qq install --yes --no-install-recommends "
                                    "cmake libfmt-dev")
        self.assertEqual(logged[2], f"venv {venv}")
        self.assertTrue(logged[3].endswith("--no-deps --no-compile torch==2.11.0 nvidia-cuda-runtime==13.0.96 "
                                           "nvidia-cuda-cupti==13.0.85 nvidia-cuda-crt==13.0.88"), logged[3])
        self.assertEqual(logged[4], f"loads {venv}/bin/site/torch/lib/libtorch_cpu.so")
        self.assertEqual(self.environment()["PASSNET_TORCH_DIR"], f"{venv}/bin/site/torch")

        again = self.run_bootstrap()
        self.assertEqual((again.returncode, again.stderr, self.logged()), (0, "", []))

    def test_packages_alone_leave_pytorch_for_a_second_run(self):
        self.install_package_tools(missing=("cmake",))
        done = self.run_bootstrap("demo", "packages")
        self.assertEqual((done.returncode, done.stderr.splitlines()),
                         (0, ["setup: installing 1 packages of the distribution that the build needs: cmake"]))
        self.assertFalse(any("venv" in line or "pip" in line for line in self.logged()))
        self.assertIn("setup: ready: PyTorch 2.11.0", self.run_bootstrap().stderr)

    def test_what_capturing_needs_is_installed_without_what_tests_need(self):
        self.install_package_tools(missing=("libgtest-dev",))
        modules = self.directory / "modules"
        for name in ("torchvision", "numpy", "safetensors", "timm", "transformers"):
            (modules / name).mkdir(parents=True)
            (modules / name / "__init__.py").touch()
        wheel = self.wheel.read_text() + f"import shutil\nshutil.copytree({str(modules)!r}, site, dirs_exist_ok=True)\n"
        self.wheel.write_text(wheel)
        done = self.run_bootstrap("capture")
        self.assertEqual(done.returncode, 0, done.stderr)
        installs = [line for line in self.logged() if line.startswith("pip install") or "apt-get" in line]
        self.assertEqual(len(installs), 1, installs)
        for wanted in ("torch==2.11.0", "torchvision==", "numpy", "timm", "transformers>="):
            self.assertIn(wanted, installs[0])
        for other in ("trl", "mcp", "clang-format", "["):
            self.assertNotIn(other, installs[0])
        self.assertEqual(self.environment()["PASSNET_MODE"], "capture")
        # The environment for capturing also serves the build of the demo, and is not made again.
        for mode in ("demo", "capture"):
            again = self.run_bootstrap(mode)
            self.assertEqual((again.returncode, again.stderr, self.logged()), (0, "", []))

    def test_passnet_home_holds_the_environment_and_later_checkouts_share_it(self):
        elsewhere = str(self.directory / "elsewhere")
        self.assertEqual(self.run_bootstrap(PASSNET_HOME=elsewhere).returncode, 0)
        self.assertEqual(self.environment()["PASSNET_PYTHON"], f"{elsewhere}/venv/bin/python3")
        self.logged()
        shutil.rmtree(self.directory / "checkout" / "build")
        self.assertEqual(self.run_bootstrap(PASSNET_HOME=elsewhere).returncode, 0)
        self.assertEqual(self.logged(), [])

    def test_a_pytorch_of_python3_is_taken(self):
        subprocess.run([sys.executable, self.wheel, self.tools / "site", "2.9.1"], check=True)
        done = self.run_bootstrap()
        self.assertEqual(done.stderr, f"setup: ready: PyTorch 2.9.1 in {self.tools}/site/torch\n")
        self.assertEqual(self.environment()["PASSNET_PYTHON"], str(self.tools / "python3"))
        self.assertEqual(self.logged(), [])

    def test_a_pytorch_that_is_too_old_or_has_no_headers_is_not_taken(self):
        subprocess.run([sys.executable, self.wheel, self.tools / "site", "2.8.0"], check=True)
        self.assertIn("setup: installing PyTorch", self.run_bootstrap().stderr)
        shutil.rmtree(self.tools / "site")
        shutil.rmtree(self.directory / "checkout" / "build")
        subprocess.run([sys.executable, self.wheel, self.tools / "site", "2.11.0"], check=True)
        (self.tools / "site/torch/include/ATen/ATen.h").unlink()
        self.assertIn("/venv/bin/site/torch", self.run_bootstrap().stderr)

    def test_an_interrupted_set_up_is_started_anew(self):
        (self.home / "pip_is_killed").touch()
        self.assertNotEqual(self.run_bootstrap().returncode, 0)
        leftover = self.home / ".cache/passnet/venv/bin/half_written"
        leftover.touch()
        self.logged()
        done = self.run_bootstrap()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("setup: an earlier set-up was interrupted; starting the environment", done.stderr)
        self.assertFalse(leftover.exists())
        self.assertEqual(self.run_bootstrap().stderr, "")

    def test_a_lost_pytorch_is_noticed(self):
        self.run_bootstrap()
        venv = self.home / ".cache/passnet/venv"
        shutil.rmtree(venv / "bin/site")
        done = self.run_bootstrap()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"setup: the environment {venv} has lost its PyTorch; starting it anew\n", done.stderr)

    def test_two_runs_at_once_install_once(self):
        runs = [subprocess.Popen([self.directory / "checkout/scripts/bootstrap", "demo"], stderr=subprocess.DEVNULL,
                                 env={"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.home)}) for _ in range(2)]
        self.assertEqual([run.wait(timeout=120) for run in runs], [0, 0])
        self.assertEqual(len([line for line in self.logged() if line.startswith("pip install")]), 1)

    def test_an_old_python_is_refused(self):
        self.make_python("3.10.12", too_old=1)
        done = self.run_bootstrap()
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, f"setup: error: '{self.tools}/python3' is Python 3.10.12, "
                                      "expected Python 3.11 or newer\n")

    def test_an_unknown_mode_prints_the_usage(self):
        done = self.run_bootstrap("everything")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Usage: scripts/bootstrap demo|full [packages]", done.stderr)


class WithoutRoot(Machine):
    def run_as_nobody(self):
        """The set-up of a machine without ninja-build, by a user who is not root, with no sudo but one of ours."""
        self.install_package_tools(missing=("ninja-build",))
        self.directory.chmod(0o755)
        programs = self.directory / "bin"
        programs.mkdir()
        for program in pathlib.Path("/usr/bin").iterdir():
            if program.name != "sudo":
                (programs / program.name).symlink_to(program)
        return subprocess.run(
            [self.directory / "checkout" / "scripts" / "bootstrap", "demo"],
            env={"PATH": f"{self.tools}:{programs}", "HOME": str(self.home)}, user=None if os.geteuid() else 65534,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def test_without_sudo_it_says_what_to_run(self):
        (self.tools / "sudo").unlink()
        done = self.run_as_nobody()
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "setup: error: these packages are missing: ninja-build\n"
                                      "setup: error: installing them needs root, and there is no sudo; run as root: "
                                      "apt-get update && apt-get install ninja-build\n")

    def test_with_a_sudo_that_asks_it_says_what_to_run(self):
        self.tool("sudo", "#!/bin/bash\nexit 1\n")
        done = self.run_as_nobody()
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, "setup: error: these packages are missing: ninja-build\n"
                                      "setup: error: sudo asks for a password and there is no terminal; run: "
                                      "sudo apt-get update && sudo apt-get install ninja-build\n")


if __name__ == "__main__":
    unittest.main()
