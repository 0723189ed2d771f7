"""The workers in Python read the requests that src/protocol/messages.h declares, with the same defaults, and reply with fields that it declares."""

import ast
import pathlib
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = SourceFileLoader("reference", str(SOURCE / "scripts/reference"))
reference = module_from_spec(spec_from_loader("reference", loader))
loader.exec_module(reference)

MESSAGES = reference.messages()
REQUESTS = {message.request: message for message in MESSAGES.values() if message.request}
REPLIES = {message.request: MESSAGES[message.reply or f"{struct}::Reply"] for struct, message in MESSAGES.items() if message.request}
DEFAULTS = {"": None, "{}": None, "true": True, "false": False, "0": 0, "1": 1}


def default_of(field):
    declared, default, _ = field
    return DEFAULTS[default] if default in DEFAULTS else default.strip('"')


def constant(node):
    return node.value if isinstance(node, ast.Constant) else None


def functions(path, prefix):
    """{request: function} of a worker's methods do_REQUEST."""
    tree = ast.parse((SOURCE / path).read_text())
    return {node.name.removeprefix(prefix): node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith(prefix)}


def reads(function):
    """(field, default or None) of each look at the function's `request`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "request":
            yield constant(node.slice), None
        elif isinstance(node, ast.Compare) and getattr(node.comparators[0], "id", "") == "request":
            yield constant(node.left), None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "request" and node.func.attr == "get":
            yield constant(node.args[0]), constant(node.args[1]) if len(node.args) > 1 else None


def reply_keys(function):
    """Keys of the dictionaries that the function returns, where they stand in it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and isinstance(node.value.elts[0], ast.Dict):
            yield from (constant(key) for key in node.value.elts[0].keys if key is not None)


WORKERS = ("python/passnet_candidate/requests.py", "benchmarks/pytorch_worker.py")
# Functions that workers hand a request on to.
HELPERS = (("python/passnet_pytorch/replaced.py", "take", "set_inputs"), ("python/passnet_candidate/calls.py", "set_call_seed", "set_inputs"),
           ("python/passnet_capture/serve.py", "answer", "source"), ("python/passnet_capture/serve.py", "capture", "capture"))


class Protocol(unittest.TestCase):
    def check_reads(self, function, request):
        fields = REQUESTS[request].fields
        for name, default in reads(function):
            with self.subTest(request=request, field=name):
                if name is None or name == "do":
                    continue
                self.assertIn(name, fields, "expected a field of the request")
                if default is not None:
                    self.assertEqual(default, default_of(fields[name]), "expected the default of src/protocol/messages.h")

    def test_workers_read_fields_of_requests(self):
        for path in WORKERS:
            found = functions(path, "do_")
            self.assertGreater(len(found), 4, path)
            for request, function in found.items():
                self.assertIn(request, REQUESTS, path)
                self.check_reads(function, request)
        for path, name, request in HELPERS:
            self.check_reads(functions(path, name)[""], request)

    def test_workers_reply_with_fields_of_replies(self):
        for path in WORKERS:
            for request, function in functions(path, "do_").items():
                for key in reply_keys(function):
                    with self.subTest(path, request=request):
                        known = {name for name, (declared, _, _) in REPLIES[request].fields.items() if declared != "CallTimes"}
                        self.assertIn(key, known | MESSAGES["CallTimes"].fields.keys() if request.startswith("time") else known)


if __name__ == "__main__":
    unittest.main()
