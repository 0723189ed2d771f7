"""Samples on four nodes of a real Slurm on this machine: a node is killed, a worker hangs, the controller is restarted."""

import contextlib
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "eval"), str(SOURCE / "tests")]
from passnet_case import BINARY, QUICK, PassnetCase  # noqa: E402
from tiers import FULL  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")
NODES = ("node1", "node2", "node3", "node4")
SAMPLES = 200

CONFIGURATION = """\
ClusterName=passnet
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={root}/munge/socket
SlurmctldPort={port}
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdPidFile={root}/slurmd-%n.pid
SlurmdLogFile={root}/slurmd-%n.log
SlurmdSpoolDir={root}/spool-%n
StateSaveLocation={root}/state
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
JobRequeue=1
SchedulerParameters=sched_interval=2
MinJobAge=10
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def node_of(pid):
    """The node that started a process; empty: none, or it is gone."""
    try:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((one.split(b"=")[1].decode() for one in variables if one.startswith(b"SLURMD_NODENAME=")), "")


class Slurm:
    """A controller and four nodes below a directory."""

    def __init__(self, root):
        self.root = root
        self.processes = {}
        for name in ("munge", "state", *(f"spool-{node}" for node in NODES)):
            (root / name).mkdir()
        (root / "munge").chmod(0o711)
        key = root / "munge" / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        host = socket.gethostname()
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1 State=UNKNOWN" for node in NODES)
        self.configuration = root / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(host=host, user=user, root=root, port=free_port(), nodes=nodes))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        munge = root / "munge"
        self.start("munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}", f"--log-file={munge}/log",
                   f"--pid-file={munge}/pid", f"--seed-file={munge}/seed")
        self.start("slurmctld", "-D", "-f", self.configuration)
        for node in NODES:
            self.start("slurmd", "-D", "-N", node, "-f", self.configuration, name=node)

    def start(self, program, *arguments, name=None):
        with (self.root / f"{name or program}.out").open("ab") as output:
            self.processes[name or program] = subprocess.Popen([shutil.which(program), *map(str, arguments)], stdout=output, stderr=output,
                                                               stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True)

    def kill(self, name):
        """The program, and what it started on its node."""
        self.processes[name].kill()
        self.processes.pop(name).wait()
        for process in pathlib.Path("/proc").iterdir():
            if name in NODES and process.name.isdigit() and node_of(process.name) == name:
                try:
                    os.kill(int(process.name), signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def stop(self):
        for name in (*NODES, "slurmctld", "munged"):
            if name in self.processes:
                self.kill(name)

    def ask(self, *words):
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, env=self.environment, timeout=60)

    def await_nodes(self):
        for _ in range(120):
            states = self.ask("sinfo", "--noheader", "--Node", "--format=%T").stdout.split()
            if states == ["idle"] * len(NODES):
                return
            time.sleep(0.5)
        raise AssertionError(f"nodes are {states}: {(self.root / 'slurmctld.log').read_text()[-2000:]}")


class OnNodes(PassnetCase):
    def setUp(self):
        super().setUp()
        self.slurm = Slurm(self.root)
        self.addCleanup(self.slurm.stop)
        self.slurm.await_nodes()
        self.names = [f"relu_{i}" for i in range(SAMPLES)]
        for name in self.names:
            self.add_sample(name)
        self.list = self.root / "list.txt"
        self.list.write_text("".join(f"{self.root / name}\n" for name in self.names))

    def submit(self, *arguments):
        return subprocess.Popen([str(BINARY), "submit", "--slurm", "--tasks", str(len(NODES)), "--requeue", "-o", str(self.out), *map(str, arguments)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.slurm.environment, stdin=subprocess.DEVNULL)

    def assert_merged(self, process):
        output, errors = process.communicate(timeout=1200)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn(f"{SAMPLES} records of {SAMPLES} samples", output)
        merged = self.out / "merged"
        self.assertEqual(self.passnet("verify", merged).stdout.count("\nok "), SAMPLES)
        records = [json.loads(line) for name in self.names for line in (merged / name / "records.jsonl").read_text().splitlines()]
        self.assertEqual([(one["sample"], one["stage"]) for one in records], [(name, "done") for name in self.names])

    def status(self, queue):
        return json.loads(self.passnet("queue", "status", queue, "--json").stdout)

    def claim_of(self, queue, node):
        """The process of a worker on the node that has an item; waits for it."""
        for _ in range(600):
            for one in self.status(queue)["claimed"]:
                pid = int(one["worker"].split("-")[-2])
                if node_of(pid) == node:
                    return pid
            time.sleep(0.1)
        raise AssertionError(f"no worker on {node} took an item")

    def test_shards(self):
        self.assert_merged(self.submit("eval", self.list, "--sides", "eager", *QUICK))

    def test_nothing_is_lost_or_doubled_when_a_node_dies_a_worker_hangs_and_the_controller_restarts(self):
        queue = self.root / "queue"
        command = " ".join(map(str, ("eval", "--sides", "eager", *QUICK)))
        done = self.passnet("queue", "add", queue, self.list, "--command", command, "--lease", 8)
        self.assertEqual(done.returncode, 0, done.stderr)
        process = self.submit("work", queue)
        self.addCleanup(process.kill)
        hung = self.claim_of(queue, "node1")
        os.kill(hung, signal.SIGSTOP)
        self.claim_of(queue, "node2")
        self.slurm.kill("node2")
        self.slurm.kill("slurmctld")
        time.sleep(3)
        self.slurm.start("slurmctld", "-D", "-f", self.slurm.configuration)
        self.slurm.start("slurmd", "-D", "-N", "node2", "-f", self.slurm.configuration, name="node2")
        for _ in range(6000):
            if self.status(queue)["done"] == SAMPLES:
                break
            time.sleep(0.2)
        with contextlib.suppress(ProcessLookupError):  # Slurm may have ended it with the job
            os.kill(hung, signal.SIGCONT)
        self.assert_merged(process)
        status = self.status(queue)
        self.assertEqual((status["done"], status["failed"], status["claimed"]), (SAMPLES, 0, []))


if __name__ == "__main__":
    missing = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
    if missing or not FULL:
        why = f"{missing[0]} is missing (apt-get install slurmctld slurmd slurm-client munge)" if missing else "PASSNET_FULL=1 runs them"
        print(f"2 checks skipped: {why}")
        sys.exit(77)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    unittest.main()
