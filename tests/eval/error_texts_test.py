"""The exact texts of errors that a command line reaches before anything is measured: a row each.

Commands run in a directory with the files of `setUp`, so that paths in messages are short and the same everywhere.
"""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from passnet_case import BINARY, KERNEL, META, MODEL, PASS, RIGHT_BODY
from recorded_run import copy_recorded, load_records

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])


LISTED = "graphs/x/fusible_subgraphs/float32/9/samples/torchvision/alexnet/_decomposed/alexnet_start0_end2_0\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class ErrorTexts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="passnet-errors-")
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name).resolve()
        cls.write_samples()
        cls.write_runs()

    @classmethod
    def write_samples(cls):
        root = cls.root
        metas = "\n".join(META.format(name=name, shape="40, 50") for name in ("in_0", "in_1"))
        for sample in ("one", "two/one"):
            write(root / sample / "graphs" / "small" / "model.py", MODEL)
            write(root / sample / "graphs" / "small" / "weight_meta.py", metas)
            write(root / sample / "graph_list.txt", "small\n")
            write(root / sample / "pass_dir" / "add_relu.py", PASS)
            write(root / sample / "pass_dir" / "add_relu.cpp", KERNEL % RIGHT_BODY)
            write(root / sample / "pass_dir" / "sorted_output_pass_rule_names.json", '["add_relu"]')
        for name in ("object", "constrained", "listed", "nothing", "nokernel", "importing"):
            shutil.copytree(root / "one", root / name)
        write(root / "object" / "pass_dir" / "sorted_output_pass_rule_names.json", "{}")
        write(root / "listed" / "pass_dir" / "sorted_output_pass_rule_names.json", '["nope"]')
        (root / "nokernel" / "pass_dir" / "add_relu.cpp").unlink()
        for number in range(65):
            write(root / "importing" / "pass_dir" / f"m{number}.py", "v = 1\n")
        write(root / "importing" / "pass_dir" / "add_relu.py", "".join(f"import m{number}\n" for number in range(65)) + PASS)
        write(root / "nothing" / "pass_dir" / "add_relu.py", PASS.replace("return torch.nn.functional.relu(x + y)", "return ()"))
        write(root / "constrained" / "graphs" / "small" / "input_tensor_constraints.py",
              "from sympy import Symbol, Expr, Rel, Eq\n\ndynamic_dim_constraint_symbols = []\n\n"
              "dynamic_dim_constraint_symbol2example_value = {}\n\ndynamic_dim_constraint_relations = []\n\n"
              'dynamic_dim_constraint_input_shapes = [([40, 51], "in_0")]\n')
        write(root / "unlisted" / "model.py", MODEL.replace("in_0 + in_1", "torch.ops.aten.record_stream(in_0, in_1)"))
        write(root / "unlisted" / "weight_meta.py", metas)
        write(root / "unused" / "model.py", MODEL.replace("return (tmp_1,)", "return (tmp_0,)"))
        write(root / "unused" / "weight_meta.py", metas)
        (root / "empty").mkdir()
        os.mkfifo(root / "pipe")
        write(root / "hashes" / "g" / "model.py", MODEL)
        write(root / "hashes" / "g" / "graph_hash.txt", "\n")
        for file, text in {"full/x": "x", "lists/t.txt": "small\n", "key.py": "", "made/options.json": "{}",
                           "l1/t/graph_list.txt": LISTED, "l2/t/graph_list.txt": LISTED}.items():
            write(root / file, text)

    @classmethod
    def write_runs(cls):
        root = cls.root
        copy_recorded("three_graphs", root / "run")
        copy_recorded("three_graphs", root / "passnet-out" / "first")
        os.symlink("first", root / "passnet-out" / "latest")
        for file, text in {"prices.json": '{"m": {"input": -1, "output": 1}}', "trajectory.jsonl": "{}\n", "key": "a b\n",
                           "attempts/a/completions.jsonl": "{}\n",
                           "ended/a/completions.jsonl": "", "ended/a/trajectory.jsonl": '{"exit_reason": "agent"}',
                           "attempts/a/trajectory.jsonl": "{}\n"}.items():
            write(root / file, text)
        subprocess.run([BINARY, "dataset", "index", "one", "-o", "i.sqlite"], cwd=root, capture_output=True, check=True)
        # Of a version that wrote no chain.
        record = {**load_records(root / "run" / "sample" / "records.jsonl")[0], "graph": "other"}
        del record["chain"]
        write(root / "other" / "sample" / "records.jsonl", json.dumps(record) + "\n")
        with contextlib.closing(sqlite3.connect(root / "i.sqlite")) as index, index:
            index.execute("UPDATE graph SET ops = 'x'")

    def errors_of(self, *arguments):
        env = {**os.environ, "PASSNET_HOME": str(self.root / "home"), "OPENAI_API_KEY": "k"}
        done = subprocess.run([BINARY, *arguments], cwd=self.root, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=60)
        self.assertIn(done.returncode, (0, 1, 2, 3))
        return (done.stdout + done.stderr).strip()

    def check(self, rows):
        for command, expected in rows:
            with self.subTest(command):
                said = self.errors_of(*command.split("|" if "|" in command else " "))
                self.assertEqual(said.replace(str(SOURCE), "SOURCE"), expected)

    def test_runs(self):
        self.check([
            ("score nowhere",
             "error: 'nowhere' does not exist, expected a run's directory or a records.jsonl"),
            ("compare nowhere run",
             "error: 'nowhere' does not exist, expected a run's directory or a records.jsonl"),
            ("reproduce run#broken --sample one",
             "error: sample 'one' no longer lists graph 'broken'"),
            ("compare run other",
             "error: no graph is in both: 'run' holds 3 of 'sample', 'other' 1 of 'sample'\n"
             "hint: compare runs of the same samples"),
            ("leaderboard agree run other",
             "error: there is nothing to compare: no graph was run in both\n"
             "hint: evaluate the same submissions"),
            ("leaderboard agree empty empty",
             "error: no model has a run in both 'empty' and 'empty'\n"
             "hint: give two runs of 'passnet eval', or two OUT of 'passnet leaderboard score'"),
            ("eval one one",
             "error: two samples are named 'one': 'one' and 'one'\n"
             "hint: evaluate them in two runs with an --out each"),
            ("eval one two/one",
             "error: two samples are named 'one': 'one' and 'two/one'\n"
             "hint: evaluate them in two runs with an --out each"),
            ("eval key.py",
             "error: 'key.py' is a Python file, expected a sample directory, a graph directory or a list of them\n"
             "hint: a graph's file is called model.py; 'passnet pass check' takes passes"),
            ("eval one --resume",
             "error: the latest run, 'passnet-out/first', is of 'sample'\n"
             "hint: name the run to go on with by --out, or leave --resume away"),
            ("pass match one empty",
             "error: no model.py in or below 'empty'"),
            ("reward one two/one",
             "error: two samples are named 'one': 'one' and 'two/one'\n"
             "hint: give one of them at a time: what is kept of them goes by their names"),
        ])

    def test_graphs(self):
        self.check([
            ("run unlisted",
             "unlisted/model.py:6:17: error: operator 'torch.ops.aten.record_stream' is not run: it is about other "
             "devices, streams or processes (devices)\n"
             "hint: docs/operators.md says what a graph may call"),
            ("run prices.json",
             "error: 'prices.json' is a file, expected a graph directory or its model.py"),
            ("dataset show prices.json",
             "error: 'prices.json' is neither a directory nor a list, expected a sample directory, a graph directory "
             "or a list of them"),
            ("dataset show pipe",
             "error: 'pipe' is neither a directory nor a list, expected a sample directory, a graph directory or a "
             "list of them"),
            ("graph check constrained/graphs/small",
             "constrained/graphs/small/input_tensor_constraints.py:9:40: error: argument 'in_0' has the shape [40, "
             "51], expected [40, 50] as recorded\n"
             "1 graphs, 1 read, 1 printed and read back equal, 1 failed\n"
             "hashes: 0 equal, 0 not reproduced, 0 absent"),
            ("graph cut one/graphs/small --range 3:1 --out new",
             "error: range 3:1: expected a start before its end, and an end of at most 2, the number of nodes of "
             "'one/graphs/small'"),
            ("graph cut one/graphs/small --range 0:1 --out new --official 3",
             "error: PassBench's tables have no sizes for a model without symbols, expected variant 9 alone"),
            ("graph cut one/graphs/small --range 0:1 --out full",
             "error: 'full' exists already, expected a new directory"),
            ("graph cut unused --range 1:2 --out new",
             "error: nothing after the range uses a value that it makes"),
        ])

    def test_datasets(self):
        self.check([
            ("dataset find empty",
             "error: there is no index at 'empty/index.sqlite'\n"
             "hint: make it: passnet dataset index empty"),
            ("dataset find i.sqlite",
             "error: 'i.sqlite': ops and bytes of graph 'graphs/small' are no whole numbers\n"
             "hint: make the index again with 'passnet dataset index'"),
            ("dataset index one --list nowhere -o new",
             "error: found no list at 'nowhere', expected .txt files with a path per line"),
            ("dataset groups empty -o new",
             "error: no subgraph at or below 'empty' can be read\n"
             "hint: whole graphs are in no group: passnet dataset decompose cuts them"),
            ("dataset dedup hashes --by hash -o unique",
             "0 graphs in 1 trees: 0 added, 0 duplicates, 0 there already, 1 left out; in unique\n"
             "left out: g: hashes/g/graph_hash.txt: error: the file is empty, expected a hash"),
            ("dataset samples one -o made",
             "error: 'made' was made by other rules: made/options.json differs from this run's\n"
             "hint: give another --out, or the options that stand there"),
            ("dataset official empty --graphs empty -o new",
             "error: found no graph_list.txt at or below 'empty'"),
            ("dataset official l1 l2 --graphs empty -o new",
             "error: task 't' has two lists: in 'l1/t/graph_list.txt' and in 'l2/t/graph_list.txt'"),
        ])

    def test_agents(self):
        self.check([
            ("agent run one --model m -o full",
             "error: 'full' holds 'x', expected an empty or a new directory\n"
             "hint: --resume goes on with the run in it"),
            ("agent run one --model m -o new --base-url localhost:8000",
             "error: --base-url: expected http://… or https://…, found 'localhost:8000'\n"
             "hint: for example http://localhost:8000/v1"),
            ("agent run one --model m -o new --price-file prices.json",
             "error: 'prices.json': price of 'm': expected a number >= 0 as 'input'"),
            ("agent run one --model n -o new --price-file prices.json",
             "error: 'prices.json': expected an object with a price of 'n', found none\n"
             'hint: {"MODEL": {"input": 3, "cached": 0.3, "output": 15}}, in dollars per million tokens'),
            ("agent run one --model m -o new --key-file key",
             "error: --key-file: expected a key on one line, found spaces, line ends or other characters in it"),
            ("agent export nowhere",
             "error: 'nowhere' is no directory, expected the --out of 'agent run'"),
            ("agent export attempts",
             "attempts/a/trajectory.jsonl: error: no 'exit_reason', expected a trajectory of an attempt"),
            ("agent export ended",
             "ended/a/completions.jsonl:1:0: error: it does not begin with the facts of its attempt"),
            ("agent show trajectory.jsonl",
             "error: a trajectory: expected an object with 'trajectory_steps'"),
            ("agent replay trajectory.jsonl one",
             "error: a trajectory of sample '', which is not among those given\n"
             "note: in 'trajectory.jsonl', line 1"),
        ])

    def test_leaderboards(self):
        self.check([
            ("leaderboard score nowhere --samples one -o new",
             "error: 'nowhere' is no submission, expected a directory with one of passes per sample\n"
             "hint: its name is the model's, and the names in it are those of samples"),
            ("leaderboard score two --samples lists -o new",
             "error: 'lists' holds lists of graphs, but not the graphs\n"
             "hint: --graphs DIR says what their lines are below"),
            ("leaderboard score two --samples two --graphs empty -o new",
             "error: --graphs 'empty' is for a directory of SAMPLE.txt lists, and 'two' holds sample directories\n"
             "hint: leave --graphs away"),
            ("leaderboard score two two --samples two -o new",
             "error: two submissions are named 'two'"),
            ("leaderboard score two --samples empty -o new",
             "error: no sample in 'empty': found no directory with graph_list.txt or graphs/ below it, and no "
             "SAMPLE.txt in it"),
        ])

    def test_passes(self):
        self.check([
            ("pass new 1a empty",
             "error: a pass is named by an identifier (letters, digits, _), found '1a'"),
            ("pass new a object/pass_dir",
             "object/pass_dir/sorted_output_pass_rule_names.json: error: expected a JSON list of pass names"),
            ("pass match listed",
             "listed/pass_dir/sorted_output_pass_rule_names.json: error: pass 'nope' is listed, but 'nope.py' does not "
             "exist\n"
             "hint: listed/pass_dir holds 1 pass file"),
            ("pass match importing",
             "importing/pass_dir/add_relu.py: error: the pass imports more than 64 files"),
            ("pass build nokernel",
             "nokernel/small: nokernel/pass_dir/add_relu.py:11:5: error: pass 'add_relu' has no CUDA kernel: no file "
             "'add_relu.cu' beside 'add_relu.py'\n"
             "hint: write the kernel, or run on the CPU"),
            ("pass match nothing",
             "nothing/pass_dir/add_relu.py:4:12: error: the pattern returns nothing"),
            ("selftest --corpus empty",
             "error: 'empty' is no corpus: it has neither 'graphs.txt' nor a directory 'graphs'\n"
             "hint: docs/threat-model.md, 'selftest', says what a corpus holds"),
            ("selftest --filter absent",
             "error: no bundle of 'SOURCE/tests/adversarial' has 'absent' in its name\n"
             "hint: 'passnet selftest' lists them all"),
        ])


if __name__ == "__main__":
    unittest.main()
