"""Talks to passnet-worker as docs/protocol.md says: frames over a socket pair, tensors in memfds."""
import json
import math
import mmap
import os
import socket
import struct
import subprocess

import numpy as np

DTYPES = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": np.uint16, "int8": np.int8,
          "int16": np.int16, "int32": np.int32, "int64": np.int64, "uint8": np.uint8, "bool": np.bool_,
          "complex64": np.complex64, "complex128": np.complex128}


class WorkerError(Exception):
    """A reply with "ok": false."""

    def __init__(self, reply):
        at = reply.get("at")
        where = f"{at['file']}:{at['line']}:{at['column']}: " if at else ""
        super().__init__(where + reply["error"] + (f" ({reply['hint']})" if reply.get("hint") else ""))
        self.kind, self.reply = reply["kind"], reply


def records(text):
    """The records of a meta file's text as the worker takes them: RECORD of docs/protocol.md."""
    classes = {}
    exec(text, {"inf": math.inf, "nan": math.nan, "__name__": "meta"}, classes)
    return [_record(name, {key: value for key, value in vars(made).items() if not key.startswith("__")})
            for name, made in classes.items()]


def _record(class_name, fields):
    dtype = fields["dtype"].removeprefix("torch.")
    record = {"class": class_name, "name": fields["name"], "shape": list(fields["shape"]), "dtype": dtype}
    for key in ("mean", "std", "min_val", "max_val"):
        if fields.get(key) is not None:
            record[key] = _number(fields[key])
    record |= {f"has_{key}": True for key in ("mean", "std") if key in fields}
    if fields.get("data") is not None:
        floating = dtype.startswith(("float", "bfloat"))
        record["float_data" if floating else "int_data"] = [_number(float(one)) if floating else int(one) for one in fields["data"]]
    return record


def _number(value):
    return value if math.isfinite(value) else str(value)


class Worker:
    def __init__(self, binary, role="reference", threads=2, timeout_s=120, environment=None, more_flags=()):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket = ours
        self.socket.settimeout(timeout_s)
        fd = theirs.fileno()
        self.process = subprocess.Popen([binary, "--role", role, "--threads", str(threads), "--socket", str(fd), *more_flags],
                                        pass_fds=[fd], env={"LC_ALL": "C", **(environment or {})})
        theirs.close()

    def ask(self, do, fds=(), **fields):
        """The reply's fields and the descriptors that came with it. Raises WorkerError, or EOFError when it is gone."""
        text = json.dumps({"do": do, **fields}).encode()
        socket.send_fds(self.socket, [struct.pack("<I", len(text))], list(fds))
        self.socket.sendall(text)
        return self.receive()

    def receive(self):
        """The next reply, as ask gives it."""
        head, got = self._receive(4)
        body, more = self._receive(struct.unpack("<I", head)[0])
        reply = json.loads(body)
        if not reply["ok"]:
            raise WorkerError(reply)
        return reply, got + more

    def _receive(self, size):
        data, fds = b"", []
        while len(data) < size:
            part, new, _, _ = socket.recv_fds(self.socket, size - len(data), 16)
            if not part:
                raise EOFError("the worker is gone")
            data, fds = data + part, fds + list(new)
        return data, fds

    def close(self):
        self.socket.close()
        self.process.wait(10)


def read_bundle(entries, fd):
    """{name: (dtype name, array)}; bfloat16 as the bits in uint16. Closes fd."""
    size = os.fstat(fd).st_size
    memory = mmap.mmap(fd, size, access=mmap.ACCESS_READ) if size else b""
    os.close(fd)
    tensors = {}
    for entry in entries:
        count = int(np.prod(entry["shape"], dtype=np.int64))
        array = np.frombuffer(memory, DTYPES[entry["dtype"]], count, entry["offset"]) if count else np.zeros(0, DTYPES[entry["dtype"]])
        tensors[entry["name"]] = entry["dtype"], array.reshape(entry["shape"]).copy()
    return tensors


def write_bundle(tensors):
    """The BUNDLE list and descriptor of {name: (dtype name, array)}."""
    entries, end = [], 0
    for name, (dtype, array) in tensors.items():
        entries.append({"name": name, "dtype": dtype, "shape": list(array.shape), "offset": (end + 63) // 64 * 64})
        end = entries[-1]["offset"] + array.nbytes
    fd = os.memfd_create("inputs")
    os.ftruncate(fd, end)
    for entry, (_, array) in zip(entries, tensors.values()):
        os.pwrite(fd, np.ascontiguousarray(array).tobytes(), entry["offset"])
    return entries, fd
