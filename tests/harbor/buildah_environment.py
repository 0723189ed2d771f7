"""An environment of Harbor without a container engine: images by `buildah build`, commands by `buildah run`, both in a chroot."""

import asyncio
import os
import shutil
import uuid
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode


class BuildahEnvironment(BaseEnvironment):
    """Needs root. Commands share the machine's processes; without network they run in a network namespace of their own."""

    container = image = ""

    @staticmethod
    def type() -> str:
        return "buildah"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(cpu_request=True, memory_request=True)

    def _validate_definition(self):
        if not (self.environment_dir / "Dockerfile").exists():
            raise FileNotFoundError(f"{self.environment_dir} has no Dockerfile")

    async def _run(self, *command, timeout_sec=None) -> ExecResult:
        # Python of another root runs this: its settings are not for the machine's programs.
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
        process = await asyncio.create_subprocess_exec(*map(str, command), env=env, stdin=asyncio.subprocess.DEVNULL,
                                                       stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)  # fmt: skip
        out, err = await asyncio.wait_for(process.communicate(), timeout_sec)
        return ExecResult(stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace"), return_code=process.returncode)

    async def _must(self, *command) -> str:
        done = await self._run(*command)
        if done.return_code:
            raise RuntimeError(f"{command}: {done.stderr}")
        return done.stdout.strip()

    async def start(self, force_build: bool) -> None:
        self.image = f"localhost/harbor-{uuid.uuid4().hex[:12]}"
        await self._must("buildah", "build", "--quiet", "--isolation", "chroot", "--format", "docker", "--pull=never", "--tag", self.image, self.environment_dir)
        self.container = await self._must("buildah", "from", "--pull=never", self.image)
        self.root = Path(await self._must("buildah", "mount", self.container))
        for mount in self._mounts:
            (self.root / mount["target"].lstrip("/")).mkdir(parents=True, exist_ok=True)
        await self.ensure_dirs(self._mount_targets(writable_only=True) or ["/logs/agent", "/logs/verifier", "/logs/artifacts"])

    async def stop(self, delete: bool):
        await self._run("buildah", "rm", self.container)
        await self._run("buildah", "rmi", self.image)

    def _inside(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    async def upload_file(self, source_path, target_path):
        self._inside(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self._inside(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self._inside(target_dir), symlinks=True, dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self._inside(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self._inside(source_dir), target_dir, symlinks=True, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        options = [f"--env={name}={value}" for name, value in (self._merge_env(env) or {}).items()]
        user = self._resolve_user(user)
        options += [f"--user={user}"] if user is not None else []
        options += [f"--workingdir={cwd}"] if cwd else []
        alone = ["unshare", "--net"] if self._network_policy.network_mode == NetworkMode.NO_NETWORK else []
        return await self._run(*alone, "buildah", "run", "--isolation", "chroot", *options, self.container, "--", "bash", "-c", command, timeout_sec=timeout_sec)
