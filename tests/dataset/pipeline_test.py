"""From a whole graph to samples: passnet dataset decompose, dedup, samples, split, groups, index, find and stats."""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
PASSNET = pathlib.Path(os.environ["PASSNET_BINARY_DIR"]) / "bin/passnet"

# Two equal blocks, a mask that is computed, a size that is no tensor.
BODY = """\
        rows = l_x_.size(0)
        h = torch.nn.functional.linear(l_x_, l_self_w_, l_self_b_)
        h_0 = h.view(rows, 8)
        h_1 = torch.nn.functional.layer_norm(h_0, (8,), l_self_b_, l_self_b_, 1e-05)
        h_2 = torch.nn.functional.gelu(h_1)
        keep = h_2 > 0.5
        h_3 = torch.nn.functional.linear(h_2, l_self_w_, l_self_b_)
        h_4 = torch.nn.functional.layer_norm(h_3, (8,), l_self_b_, l_self_b_, 1e-05)
        h_5 = torch.nn.functional.gelu(h_4)
        h_6 = h_5.masked_fill(keep, 0.0)
        h_7 = h_6.view(-1, 2, 4)
        h_8 = torch.nn.functional.softmax(h_7, dim=-1)
        return (h_8,)
"""
META = """\
class Program_weight_tensor_meta_{name}:
    name = "{name}"
    shape = {shape}
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.1
    std = {std}


"""


def write_whole(path, rows, body=BODY):
    path.mkdir(parents=True)
    arguments = {"L_x_": ([rows, 8], 5.0), "L_self_w_": ([8, 8], 2.0), "L_self_b_": ([8], 1.5)}
    signature = ", ".join(f"{name} : torch.Tensor" for name in arguments)
    aliases = "".join(f"        {name.lower()} = {name}\n" for name in arguments)
    text = f"import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, {signature}):\n{aliases}{body}"
    (path / "model.py").write_text(text)
    metas = (META.format(name=name, shape=shape, std=std) for name, (shape, std) in arguments.items())
    (path / "weight_meta.py").write_text("".join(metas))
    facts = {"framework": "torch", "model_name": "toy", "source": "test", "shape": f"b{rows}", "licence": "mit"}
    (path / "graph_net.json").write_text(json.dumps(facts))


# The directories that tests share, and the outcomes of the runs that wrote them.
KEPT_DIRECTORY = tempfile.TemporaryDirectory()
KEPT = pathlib.Path(KEPT_DIRECTORY.name)
OUTCOMES = {}


class PipelineCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        write_whole(self.root / "full/toy/b4", 4)
        write_whole(self.root / "full/toy/b6", 6)

    def passnet(self, *arguments, expected=0):
        done = subprocess.run([PASSNET, "dataset", *arguments], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done

    def decompose(self, *flags, expected=0):
        return self.passnet("decompose", self.root / "full", "--out", self.root / "subgraphs", "--jobs", "2", *flags, expected=expected)

    def decomposed(self, *flags):
        """The same, but one run serves all tests: its directory is copied, as it stands."""
        self.copied(("decompose", *flags), self.root / "subgraphs", lambda: self.decompose(*flags))

    @staticmethod
    def copied(key, directory, make):
        """The outcome of make, which writes the directory: a copy where an earlier test made it."""
        kept = KEPT / "_".join(key)
        if not kept.exists():
            OUTCOMES[key] = make()
            shutil.copytree(directory, kept)
        else:
            shutil.copytree(kept, directory)
        return OUTCOMES[key]

    def graphs(self, kind):
        return sorted(path.parent for path in (self.root / "subgraphs" / kind).rglob("model.py"))


class Decompose(PipelineCase):
    def test_equal_pieces_are_written_once_with_all_their_sources(self):
        totals = json.loads(self.decompose("--json").stdout)
        self.assertEqual(totals["failed"], 0)
        self.assertEqual(totals["pieces"]["sole_op"], 24)
        # layer_norm occurs twice in each of two graphs; those of other shapes are kept beside it.
        norms = [path for path in self.graphs("sole_op") if "layer_norm" in (path / "model.py").read_text()]
        self.assertEqual([path.relative_to(self.root / "subgraphs/sole_op").parts[:2] for path in norms], [("toy", "b4"), ("toy", "b6")])
        self.assertEqual(json.loads((norms[0] / "subgraph_sources.json").read_text()), {"toy/b4": [[3, 4], [7, 8]]})
        facts = json.loads((norms[0] / "graph_net.json").read_text())
        self.assertEqual((facts["kind"], facts["source"], facts["licence"]), ("sole_op", "test", "mit"))

    def test_fusible_ranges_leave_products_out(self):
        self.decompose("--kind", "fusible")
        names = [path.name for path in self.graphs("fusible")]
        self.assertEqual(names, ["b4_start3_end6_1", "b4_start7_end12_2", "b6_start3_end6_1", "b6_start7_end12_2"])
        for path in self.graphs("fusible"):
            self.assertNotIn("linear", (path / "model.py").read_text())

    def test_values_in_between_are_measured_on_a_run(self):
        self.decompose("--kind", "sole_op")
        (masked,) = [path for path in self.graphs("sole_op") if "masked_fill" in (path / "model.py").read_text() and "/b4/" in str(path)]
        meta = (masked / "weight_meta.py").read_text()
        self.assertIn('dtype = "torch.bool"', meta)
        self.assertRegex(meta, r"data = \[(True|False)")
        self.assertIn('original_name = "keep"', meta)
        # Without a run it is not known what the mask holds.
        totals = json.loads(self.passnet("decompose", self.root / "full", "--out", self.root / "typed", "--no-run", "--json").stdout)
        self.assertGreater(totals["left_out"]["an input's values are not known"], 0)

    def test_a_size_is_no_input(self):
        totals = json.loads(self.decompose("--json").stdout)
        self.assertGreater(totals["left_out"]["an input is no tensor"], 0)

    def test_a_second_run_changes_nothing(self):
        self.decomposed()
        before = {path: path.stat().st_mtime_ns for path in (self.root / "subgraphs").rglob("model.py")}
        self.decompose()
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in (self.root / "subgraphs").rglob("model.py")})

    def tree(self):
        return {path.relative_to(self.root): path.read_text() for path in (self.root / "subgraphs").rglob("*.*") if path.name != "decompose.jsonl"}

    def test_a_run_that_was_killed_is_gone_on_with(self):
        write_whole(self.root / "full/toy/b8", 8, BODY.replace("gelu", "relu"))
        self.decompose()
        whole = self.tree()
        journal = self.root / "subgraphs/decompose.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 3)
        journal.write_text(lines[0] + lines[1][:-20])  # killed in the second graph's line, some of its pieces are there
        shutil.rmtree(self.root / "subgraphs/fusible/toy/b6")
        first = self.root / "subgraphs/sole_op/toy/b4"
        times = {path: path.stat().st_mtime_ns for path in first.rglob("model.py")}
        self.decompose()
        self.assertEqual(self.tree(), whole)
        self.assertEqual(len(journal.read_text().splitlines()), 3)
        self.assertEqual({path: path.stat().st_mtime_ns for path in first.rglob("model.py")}, times)

    def test_a_piece_that_is_gone_is_made_again(self):
        self.decomposed()
        whole = self.tree()
        shutil.rmtree(self.graphs("fusible")[0])
        self.decompose()
        self.assertEqual(self.tree(), whole)

    def test_a_graph_that_changed_is_cut_again(self):
        self.decomposed("--kind", "fusible")
        shutil.rmtree(self.root / "full/toy/b6")
        write_whole(self.root / "full/toy/b6", 6, BODY.replace("gelu", "relu"))
        self.decompose("--kind", "fusible")
        for path in self.graphs("fusible"):
            self.assertEqual("gelu" in (path / "model.py").read_text(), path.name.startswith("b4"), path)

    def test_two_runs_do_not_write_to_one_place(self):
        self.decomposed()
        with open(self.root / "subgraphs/decompose.jsonl") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = self.decompose(expected=4)
        self.assertIn("is being written by another run", done.stderr)

    def test_a_graph_that_cannot_be_read_is_reported_and_the_rest_is_done(self):
        write_whole(self.root / "full/bad/b4", 4, "        y = torch.relu(l_x_\n        return (y,)\n")
        done = self.decompose("--json")
        self.assertEqual(json.loads(done.stdout)["failed"], 1)
        self.assertIn("bad/b4: ", done.stderr)
        journal = [json.loads(line) for line in (self.root / "subgraphs/decompose.jsonl").read_text().splitlines()]
        self.assertEqual([line["graph"] for line in journal if "error" in line], ["bad/b4"])

    def test_errors_say_what_to_do(self):
        done = self.passnet("decompose", self.root / "nothing", "--out", self.root / "x", expected=3)
        self.assertIn("does not exist", done.stderr)
        self.assertIn("passnet dataset capture", done.stderr)
        done = self.decompose("--kind", "fusable", expected=2)
        self.assertIn("--kind: found 'fusable', expected sole_op, fusible or typical", done.stderr)


# As a model is captured at two shapes: tokens with positions and a class token, then windows of four of them.
TOKENS = """\
        positions = torch.arange({s})
        token = l_self_t_.expand({b}, -1, -1)
        added = l_x_ + positions.view(1, {s}, 1)
        heads = added.view({b}, {s}, 2, 4).transpose(1, 2)
        scores = heads @ heads.transpose(2, 3)
        mask = torch.zeros(({s}, {s}))
        attended = (scores + mask) @ heads
        merged = attended.transpose(1, 2).reshape({b}, {s}, 8)
        windows = merged.view({b}, {windows}, 4, 8)
        rows = windows.reshape({rows}, 4, 8) @ l_self_w_
        back = rows.view({b}, {s}, 8)
        table = l_self_p_[(slice(None, None, None), slice(None, {s}, None))]
        placed = back + table
        whole = torch.cat([token, placed], dim = 1)
        return (whole,)
"""


def write_tokens(path, batch, length):
    body = TOKENS.format(b=batch, s=length, windows=length // 4, rows=batch * (length // 4))
    path.mkdir(parents=True)
    arguments = {"L_x_": [batch, length, 8], "L_self_t_": [1, 1, 8], "L_self_w_": [8, 8], "L_self_p_": [1, 40, 8]}
    signature = ", ".join(f"{name} : torch.Tensor" for name in arguments)
    aliases = "".join(f"        {name.lower()} = {name}\n" for name in arguments)
    (path / "model.py").write_text(f"import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, {signature}):\n{aliases}{body}")
    (path / "weight_meta.py").write_text("".join(META.format(name=name, shape=shape, std=1.0) for name, shape in arguments.items()))
    facts = {"framework": "torch", "model_name": "tokens", "shape": f"b{batch}_s{length}", "input_shapes": {"x": arguments["L_x_"]}}
    (path / "graph_net.json").write_text(json.dumps(facts))


class Generalize(PipelineCase):
    def setUp(self):
        super().setUp()
        write_tokens(self.root / "tokens/b1_s16", 1, 16)

    def generalize(self, *flags):
        done = self.passnet("generalize", self.root / "tokens", "--out", self.root / "more", "--json", *flags)
        (report,) = [json.loads(line) for line in (self.root / "more/generalize.jsonl").read_text().splitlines()]
        return json.loads(done.stdout), report

    def statements(self, path):
        return [line.split(";")[0].strip() for line in (path / "model.py").read_text().splitlines() if "= None" not in line]

    def test_makes_the_other_captures_from_the_first_alone(self):
        write_tokens(self.root / "tokens/b2_s24", 2, 24)
        write_tokens(self.root / "tokens/b3_s32", 3, 32)
        totals, report = self.generalize("--check")
        self.assertEqual(totals["compared"], {"different": 0, "exact": 2, "refused": 0}, report)
        self.assertEqual(list((self.root / "more").rglob("model.py")), [])

    def test_a_capture_that_is_not_what_follows_is_told(self):
        write_tokens(self.root / "tokens/b2_s24", 2, 24)
        model = self.root / "tokens/b2_s24/model.py"
        model.write_text(model.read_text().replace("torch.zeros((24, 24))", "torch.zeros((1, 24))"))
        totals, report = self.generalize("--check")
        self.assertEqual(totals["compared"]["different"], 1)
        self.assertIn("captured: mask = torch.zeros((1, 24))", report["compared"]["b2_s24"])

    def test_writes_graphs_that_run(self):
        totals, report = self.generalize()
        self.assertEqual(report["symbols"], {"S0": 1, "S1": 16}, report)
        self.assertEqual(report["written"], ["b4_s16", "b16_s16", "b256_s16"])
        self.assertTrue(any(skipped.startswith("b1_s256: ") for skipped in report["skipped"]), report)
        self.assertTrue(any(dropped.startswith("8: ") for dropped in report["dropped"]), report)
        write_tokens(self.root / "expected", 4, 16)
        path = self.root / "more/b4_s16"
        done = subprocess.run([PASSNET, "graph", "check", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.statements(path)[-3:], self.statements(self.root / "expected")[-3:])
        facts = json.loads((path / "graph_net.json").read_text())
        self.assertEqual((facts["shape"], facts["generalized_from"], facts["symbols"]), ("b4_s16", "b1_s16", {"S0": 4, "S1": 16}))
        self.assertEqual(facts["input_shapes"], {"x": [4, 16, 8]})
        self.assertIn("{S0: 4, S1: 16}", (path / "input_tensor_constraints.py").read_text())
        pieces = json.loads(self.passnet("decompose", self.root / "more", "--out", self.root / "pieces", "--kind", "fusible", "--json").stdout)
        self.assertEqual((pieces["graphs"], pieces["failed"], pieces["not_measured"]), (3, 0, 0))

    def test_what_a_run_refuses_is_not_written(self):
        shutil.rmtree(self.root / "tokens")
        path = self.root / "tokens/n16"
        path.mkdir(parents=True)
        (path / "model.py").write_text(
            "import torch\n\n\nclass GraphModule(torch.nn.Module):\n"
            "    def forward(self, L_x_ : torch.Tensor, L_i_ : torch.Tensor):\n        l_x_ = L_x_\n        l_i_ = L_i_\n"
            "        y = torch.index_select(l_x_, 0, l_i_)\n        return (y,)\n"
        )
        index = META.format(name="L_i_", shape=[16], std=1.0).replace("float32", "int64").replace("mean = 0.1", f"data = {list(range(15, -1, -1))}")
        (path / "weight_meta.py").write_text(META.format(name="L_x_", shape=[16, 4], std=1.0) + index.replace("    std = 1.0\n", ""))
        (path / "graph_net.json").write_text(json.dumps({"shape": "n16"}))
        _, report = self.generalize()
        # Fewer rows than the largest index needs.
        self.assertEqual(report["written"], ["s0_16_s1_16", "s0_256_s1_16", "s0_16_s1_256"])
        self.assertEqual([line.split(": ")[0] for line in report["skipped"]], [f"s0_{rows}_s1_{columns}" for columns in (16, 256) for rows in (1, 4)] + ["s0_1_s1_4096"])
        self.assertIn("s0_1_s1_16: it does not run: bad-input: 'torch.index_select': index out of range in self", report["skipped"])
        self.assertEqual(len(list((self.root / "more").rglob("model.py"))), 3)
        self.generalize_all("--no-run")
        self.assertEqual(len(list((self.root / "more").glob("*_s1_*/model.py"))), 3)
        self.assertTrue((self.root / "more/s0_1_s1_16").exists())

    def test_captures_side_by_side_decide_what_one_leaves_open(self):
        for batch, length in ((1, 16), (2, 24)):
            path = self.root / f"tokens/b{batch}_s{length}"
            if batch == 2:
                write_tokens(path, batch, length)
            (path / "model.py").write_text((path / "model.py").read_text().replace(f"zeros(({length}, {length}))", f"zeros((1, {length}))"))
        _, report = self.generalize("--max-shapes", "1")
        self.assertEqual(report["written"], ["b4_s16"], report)
        self.assertIn("torch.zeros((1, 16))", (self.root / "more/b4_s16/model.py").read_text())

    def test_a_second_run_changes_nothing(self):
        totals, _ = self.generalize("--max-shapes", "1")
        model, journal = self.root / "more/b4_s16/model.py", self.root / "more/generalize.jsonl"
        before = (model.stat().st_mtime_ns, journal.read_text())
        self.assertEqual(self.generalize("--max-shapes", "1")[0], totals)
        self.assertEqual((model.stat().st_mtime_ns, journal.read_text()), before)

    def more(self):
        return {path.relative_to(self.root): path.read_text() for path in (self.root / "more").rglob("*.*") if path.name != "generalize.jsonl"}

    def generalize_all(self, *flags, expected=0):
        return self.passnet("generalize", self.root / "tokens", "--out", self.root / "more", "--jobs", "2", *flags, expected=expected)

    def test_a_run_that_was_killed_is_gone_on_with(self):
        for name in ("second", "third"):
            write_tokens(self.root / "tokens" / name / "b1_s16", 1, 16)
        self.generalize_all()
        whole = self.more()
        journal = self.root / "more/generalize.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        self.assertEqual([json.loads(line)["graph"] for line in lines], ["b1_s16", "second/b1_s16", "third/b1_s16"])
        journal.write_text(lines[0] + lines[1][:-20])  # killed in the second model's line, some of its graphs are there
        shutil.rmtree(self.root / "more/second/b16_s16")
        shutil.rmtree(self.root / "more/third")
        first = self.root / "more/b4_s16/model.py"
        time_of_first = first.stat().st_mtime_ns
        self.generalize_all()
        self.assertEqual(self.more(), whole)
        self.assertEqual(len(journal.read_text().splitlines()), 3)
        self.assertEqual(first.stat().st_mtime_ns, time_of_first)
        shutil.rmtree(self.root / "more/third/b4_s16")  # one that is gone is made again
        self.generalize_all()
        self.assertEqual(self.more(), whole)

    def test_other_options_replace_what_was_written(self):
        self.generalize()
        self.generalize_all("--max-shapes", "1")
        self.assertEqual([path.parent.name for path in (self.root / "more").rglob("model.py")], ["b4_s16"])

    def test_two_runs_do_not_write_to_one_place(self):
        self.generalize("--max-shapes", "1")
        with open(self.root / "more/generalize.jsonl") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            done = self.generalize_all(expected=4)
        self.assertIn("is being written by another run", done.stderr)

    def test_a_search_that_takes_too_long_ends(self):
        _, report = self.generalize("--time-limit", "0.1")
        self.assertIn(" not settled within 0.1 s", "".join(report["dropped"]), report)
        self.assertLess(len(report["symbols"]), 2)

    def test_values_that_are_too_large_are_skipped(self):
        _, report = self.generalize("--max-bytes", "10000")
        self.assertTrue(report["skipped"])
        self.assertIn("at most 10000 are wanted (--max-bytes)", "".join(report["skipped"]))

    def test_errors_say_what_to_do(self):
        done = self.passnet("generalize", self.root / "nothing", "--out", self.root / "x", expected=3)
        self.assertIn("passnet dataset capture", done.stderr)


class Samples(PipelineCase):
    def setUp(self):
        super().setUp()
        self.decomposed("--kind", "fusible")
        self.dataset = self.root / "dataset"

    def made(self, *flags):
        """The same as make, but one run serves all tests."""
        return self.copied(("samples", *flags), self.dataset, lambda: self.make(*flags))

    def make(self, *flags):
        return json.loads(self.passnet("samples", self.root / "subgraphs/fusible", "--out", self.dataset, "--json", *flags).stdout)

    def test_a_sample_has_each_shape_at_each_element_type(self):
        totals = self.made()
        self.assertGreater(totals["samples"], 0, totals)
        self.assertEqual(totals["graphs"], 6 * totals["samples"], totals)
        self.assertEqual(list(self.dataset.rglob(".*")), [])
        for sample in self.dataset.glob("samples/*"):
            names = (sample / "graph_list.txt").read_text().split()
            self.assertEqual(names, [f"{shape}_{dtype}" for shape in (0, 1) for dtype in ("float32", "float16", "bfloat16")])
            self.assertTrue(os.access(sample / "entry.sh", os.X_OK))
            self.assertEqual(json.loads((sample / "pass_dir/sorted_output_pass_rule_names.json").read_text()), [])

    def test_a_sample_is_called_by_its_operators_and_known_by_its_hash(self):
        self.made()
        reports = [json.loads(line) for line in (self.dataset / "samples.jsonl").read_text().splitlines()]
        for report in reports:
            self.assertRegex(report["path"], r"^samples/[a-z]\w{1,50}_" + report["sample"][:8] + "$")
            self.assertTrue((self.dataset / report["path"] / "graph_list.txt").exists())
        self.assertEqual({report["path"] for report in reports}, {f"samples/{path.name}" for path in self.dataset.glob("samples/*")})
        self.assertTrue([report for report in reports if "masked_fill_softmax" in report["path"]], reports)

    def test_two_samples_never_share_a_name(self):
        self.made()
        first = json.loads((self.dataset / "samples.jsonl").read_text().splitlines()[0])
        self.dataset = self.root / "other"
        self.dataset.mkdir()
        (self.dataset / "samples.jsonl").write_text(json.dumps({**first, "sample": "f" * 64}) + "\n")
        self.make()
        reports = [json.loads(line) for line in (self.dataset / "samples.jsonl").read_text().splitlines()]
        (longer,) = [report["path"] for report in reports if report["sample"] == first["sample"]]
        self.assertEqual(longer, first["path"] + first["sample"][8:16])
        self.assertTrue((self.dataset / longer / "graph_list.txt").exists())

    def test_lists_hold_each_sample_once_and_families_do_not_mix(self):
        self.made("--eval-share", "0.5")
        lists = {name: (self.dataset / f"lists/{name}.txt").read_text().split() for name in ("all", "train", "eval")}
        self.assertEqual(sorted(lists["train"] + lists["eval"]), sorted(lists["all"]))
        for line in lists["all"]:
            self.assertTrue((self.dataset / "lists" / line / "graph_list.txt").exists())

    def test_split_gives_the_lists_that_samples_gave(self):
        self.made("--eval-share", "0.5")
        self.passnet("split", self.dataset, "--eval-share", "0.5", "--out", self.dataset / "again", "--jobs", "2")
        for name in ("all.txt", "all.csv", "train.txt", "train.csv", "eval.txt", "eval.csv"):
            self.assertEqual((self.dataset / "again" / name).read_text(), (self.dataset / "lists" / name).read_text(), name)

    def test_push_writes_rows_that_duckdb_reads(self):
        self.made("--eval-share", "0.5")
        hub = self.root / "hub"
        told = json.loads(self.passnet("push", self.dataset, "me/toy", "--out", hub, "--json").stdout)
        rows = {split: [json.loads(line) for line in (hub / f"data/{split}.jsonl").read_text().splitlines()] for split in ("train", "eval")}
        self.assertEqual(told["splits"], {split: len(of_split) for split, of_split in rows.items()})
        self.assertEqual(told["licences"], {"mit": len(rows["train"]) + len(rows["eval"])})
        self.assertTrue(rows["train"] and rows["eval"])
        try:
            import duckdb
        except ImportError:
            self.skipTest("no duckdb in this Python")
        database = duckdb.connect()
        os.chdir(hub)
        self.addCleanup(os.chdir, SOURCE)
        database.execute((hub / "parquet.sql").read_text())
        for split, expected in rows.items():
            kept = database.execute(f"SELECT model_py FROM 'data/{split}.parquet'").fetchall()
            self.assertEqual(sorted(text for (text,) in kept), sorted(row["model_py"] for row in expected))

    def test_keep_wins_over_the_seed(self):
        self.made("--eval-share", "0")
        kept = (self.dataset / "lists/all.txt").read_text().split()[0].removeprefix("../")
        (self.root / "upstream_eval.txt").write_text(f"workspace/dataset/{kept}\nworkspace/dataset/gone\n")
        done = self.passnet("split", self.dataset, "--eval-share", "0", "--keep", self.root / "upstream_eval.txt", "--json")
        self.assertEqual(json.loads(done.stdout)["families_kept"], 1)
        self.assertIn("1 lines name nothing in", done.stderr)
        self.assertIn(f"../{kept}", (self.dataset / "lists/eval.txt").read_text().split())
        # Graphs at other element types are of one family: no dtype variant of what is kept is left for training.
        trees = self.root / "variants"
        for graph in self.dataset.glob(f"{kept}/graphs/*"):
            shutil.copytree(graph, trees / graph.name.split("_")[1] / graph.name)
        (self.root / "upstream_eval.txt").write_text("float16/0_float16\n")
        done = self.passnet("split", trees, "--eval-share", "0", "--keep", self.root / "upstream_eval.txt", "--json")
        self.assertEqual((trees / "lists/train.txt").read_text(), "", done.stdout)

    def test_groups_hold_one_operator_sequence_at_its_shapes_and_element_types(self):
        self.made()
        out = self.root / "groups.jsonl"
        report = json.loads(self.passnet("groups", self.dataset, "--out", out, "--jobs", "2", "--json").stdout)
        groups = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(report["sequences"], len(list(self.dataset.rglob("graph_list.txt"))))
        members = [member for group in groups for member in group["members"]]
        self.assertEqual(len(members), len(set(members)))
        for group in groups:
            self.assertEqual(group["type"], "fusible")
            self.assertEqual(len({member.split("/graphs/")[0] for member in group["members"]}), 1, group)
        (pick,) = [group for group in groups if group["rule"] == 4 and "softmax" in group["ops"]]
        self.assertGreaterEqual(len({member.split("_")[-1] for member in pick["members"]}), 2)
        table = self.root / "groups.csv"
        self.passnet("groups", self.dataset, "--out", table)
        rows = [line.split(",") for line in table.read_text().splitlines()]
        self.assertEqual(rows[0], ["id", "type", "rule", "policy", "members"])
        self.assertEqual({row[0]: row[3] for row in rows[1:]}, {group["id"]: group["policy"] for group in groups})

    def test_samples_can_be_evaluated(self):
        self.made("--dtype", "float32")
        out = self.root / "run"
        done = subprocess.run([PASSNET, "eval", self.dataset / "lists/all.txt", "--sides", "eager", "--trials", "2", "--warmup", "0", "--out", out],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_graphs_run_in_pytorch(self):
        import torch

        self.made()
        count = 0
        for model in self.dataset.rglob("model.py"):
            names, metas = {}, {}
            exec(model.read_text(), names)
            exec((model.parent / "weight_meta.py").read_text(), metas)
            records = {record.name: record for record in metas.values() if hasattr(record, "shape")}
            module = names["GraphModule"]()
            code = module.forward.__func__.__code__
            inputs = []
            for argument in code.co_varnames[1 : code.co_argcount]:
                record = records[argument]
                dtype = getattr(torch, record.dtype.removeprefix("torch."))
                if getattr(record, "data", None) is not None:
                    inputs.append(torch.tensor(record.data).to(dtype).reshape(record.shape))
                else:
                    inputs.append(torch.randn(record.shape).to(dtype))
            self.assertTrue(all(isinstance(output, torch.Tensor) for output in module(*inputs)))
            count += 1
        self.assertGreaterEqual(count, 6)

    def test_index_finds_and_counts(self):
        self.made("--eval-share", "0")
        self.assertIn("graphs", self.passnet("index", self.dataset).stdout)
        found = [json.loads(line) for line in self.passnet("find", self.dataset, "--contains", "softmax", "--dtype", "float16", "--json").stdout.splitlines()]
        self.assertTrue(found)
        for graph in found:
            self.assertEqual((graph["kind"], graph["dtype"], graph["source"], graph["split"]), ("fusible", "float16", "test", "train"))
            self.assertIn("softmax", (self.dataset / graph["path"] / "model.py").read_text())
        self.assertEqual(self.passnet("find", self.dataset, "--min-bytes", "1MB").stdout, "")
        stats = json.loads(self.passnet("stats", self.dataset, "--json").stdout)
        self.assertEqual(sum(count for _, count in stats["by"]["dtype"]), stats["graphs"])
        self.assertEqual(stats["by"]["kind"], [["fusible", stats["graphs"]]])

    def test_a_run_that_was_killed_is_gone_on_with(self):
        totals = self.made()
        lists, journal = (self.dataset / "lists/all.csv").read_text(), self.dataset / "samples.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        self.assertGreater(len(lines), 1)
        journal.write_text("".join(lines[:-1]) + lines[-1][:30])
        shutil.rmtree(self.dataset / "lists")
        shutil.rmtree(self.dataset / json.loads(lines[-1])["path"])
        made = next(self.dataset.glob("samples/*"))
        (made / "pass_dir/mine.py").write_text("")  # what a user put there stays
        self.assertEqual(self.make(), totals)
        self.assertTrue((made / "pass_dir/mine.py").exists())
        self.assertEqual((self.dataset / "lists/all.csv").read_text(), lists)
        self.assertEqual(sorted(journal.read_text().splitlines(keepends=True)), sorted(lines))

    def test_one_directory_has_one_set_of_rules(self):
        self.made()
        done = self.passnet("samples", self.root / "subgraphs/fusible", "--out", self.dataset, "--max-shapes", "1", expected=3)
        self.assertIn("was made by other rules", done.stderr)

    def test_a_graph_that_cannot_be_read_is_left_out(self):
        write_whole(self.root / "subgraphs/fusible/bad/b4", 4, "        y = torch.relu(l_x_\n        return (y,)\n")
        done = self.passnet("samples", self.root / "subgraphs/fusible", "--out", self.dataset)
        self.assertIn("left out: ", done.stderr)
        self.assertIn("bad/b4/model.py", done.stderr)
        done = self.passnet("samples", self.root / "subgraphs/fusible", "--out", self.root / "none", "--max-bytes", "1", expected=3)
        self.assertIn("can be in a sample", done.stderr)
        self.assertIn("--max-bytes", done.stderr)

    def test_a_card_says_what_a_task_is(self):
        self.made()
        sample = next(path.parent for path in self.dataset.rglob("graph_list.txt") if "softmax" in next(path.parent.rglob("model.py")).read_text())
        card = self.passnet("show", sample).stdout
        for words in ("5 operators:", "masked_fill", "0_bfloat16", "toy", "licence", "softmax", "float32[4, 8]"):
            self.assertIn(words, card)
        cards = [json.loads(line) for line in self.passnet("show", sample, "--json").stdout.splitlines()]
        self.assertEqual(len(cards), 6)
        small = cards[0]
        self.assertEqual(small["bytes_out"], 4 * 8 * 4)
        self.assertEqual(small["facts"]["model_name"], "toy")
        self.assertGreater(small["roofline_us"], 0)

    def test_errors_say_what_to_do(self):
        done = self.passnet("stats", self.root, expected=3)
        self.assertIn("passnet dataset index", done.stderr)
        done = self.passnet("samples", self.root / "subgraphs", "--out", self.dataset, "--dtype", "int8", expected=2)
        self.assertIn("found 'int8', expected floating types", done.stderr)
        (self.root / "empty").mkdir()
        done = self.passnet("index", self.root / "empty", expected=3)
        self.assertIn("no graph at or below", done.stderr)


class Build(PipelineCase):
    def test_it_does_what_the_stages_do(self):
        whole, staged = self.root / "whole", self.root / "staged"
        self.passnet("build", self.root / "full", "--out", whole)
        self.passnet("decompose", self.root / "full", "--out", staged / "subgraphs")
        self.passnet("samples", staged / "subgraphs/fusible", "--out", staged)
        texts = [{path.relative_to(root): path.read_text() for path in root.rglob("*.*") if path.suffix in (".py", ".txt", ".csv", ".json")}
                 for root in (whole, staged)]
        self.assertGreater(len(texts[0]), 100)
        self.assertEqual(*texts)
        stats = json.loads(self.passnet("stats", whole, "--json").stdout)
        self.assertEqual({kind for kind, _ in stats["by"]["kind"]}, {"sole_op", "fusible", "typical"})
        again = self.passnet("build", self.root / "full", "--out", whole)
        self.assertEqual(again.stdout, self.passnet("build", self.root / "full", "--out", whole).stdout)


class Dedup(PipelineCase):
    def test_our_subgraphs_and_a_tree_of_upstream_become_one(self):
        self.decompose("--kind", "fusible", "--no-run")
        ours, upstream = self.root / "subgraphs/fusible", self.root / "fusible_subgraphs/7/samples"
        for graph in self.graphs("fusible"):
            shutil.copytree(graph, upstream / "models" / graph.relative_to(ours))
        for sources in upstream.rglob("subgraph_sources.json"):
            sources.write_text(json.dumps({f"samples/models/{graph}": ranges for graph, ranges in json.loads(sources.read_text()).items()}))
        before = {path: path.read_bytes() for tree in (ours, upstream) for path in tree.rglob("*") if path.is_file()}
        out = self.root / "unique"
        done = self.passnet("dedup", ours, upstream, "--out", out, "--jobs", "2", "--json")
        count = len(self.graphs("fusible"))
        self.assertEqual(json.loads(done.stdout), {"graphs": 2 * count, "added": count, "renamed": 0, "duplicates": count, "there": 0, "failed": []})
        said = self.passnet("dedup", ours, upstream, "--out", self.root / "said").stdout
        self.assertIn(f"{count} added, {count} duplicates", said)
        self.assertEqual(before, {path: path.read_bytes() for path in before})
        for graph in self.graphs("fusible"):
            kept = out / graph.relative_to(ours)
            for file in graph.iterdir():
                if file.name != "subgraph_sources.json":
                    self.assertEqual((kept / file.name).read_bytes(), file.read_bytes(), file)
            own = json.loads((graph / "subgraph_sources.json").read_text())
            merged = {**own, **{f"samples/models/{whole}": ranges for whole, ranges in own.items()}}
            self.assertEqual(json.loads((kept / "subgraph_sources.json").read_text()), merged)
        journal = [json.loads(line) for line in (out / "dedup.jsonl").read_text().splitlines()]
        self.assertEqual({line["tree"] for line in journal}, {str(upstream)})
        self.assertEqual(len(journal), count)
        again = json.loads(self.passnet("dedup", ours, upstream, "--out", out, "--json").stdout)
        self.assertEqual((again["added"], again["duplicates"], again["there"]), (0, 0, 2 * count))

    def test_errors_say_what_to_do(self):
        (self.root / "mine").mkdir()
        (self.root / "mine/notes.txt").write_text("")
        done = self.passnet("dedup", self.root / "full", "--out", self.root / "mine", expected=3)
        self.assertIn("give an empty or new directory with --out", done.stderr)
        done = subprocess.run([PASSNET, "dataset", "dedup", ".", "--out", "new"], cwd=self.root, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("OUT 'new' and the input '.' lie within each other", done.stderr)
        self.passnet("dedup", self.root / "full", "--out", self.root / "x", "--by", "name", expected=2)
        done = self.passnet("groups", self.root / "full", "--out", self.root / "x.csv", expected=3)
        self.assertIn("whole graphs are in no group", done.stderr)


class Capture(unittest.TestCase):
    def test_says_what_a_python_without_pytorch_lacks(self):
        environment = {**os.environ, "PASSNET_PYTHON": "/usr/bin/python3"}
        done = subprocess.run([PASSNET, "dataset", "capture", "--from", "timm", "--out", "x"], env=environment, capture_output=True, text=True)
        if done.returncode == 1:
            self.skipTest("the system's Python has PyTorch")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot import PyTorch", done.stderr)
        self.assertIn("PASSNET_PYTHON", done.stderr)


class Interrupted(PipelineCase):
    def test_a_merge_that_was_stopped_goes_on(self):
        for i in range(400):
            write_whole(self.root / f"many/m{i}", i + 1)
        out = self.root / "unique"
        command = [PASSNET, "dataset", "dedup", self.root / "many", "--out", out]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (out / "m0").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(timeout=60), (0, 130))
        for directory in out.glob("m*"):
            self.assertEqual(len(list(directory.iterdir())), 3, directory)
        self.assertFalse((out / ".partial").exists())
        self.passnet("dedup", self.root / "many", "--out", out)
        self.assertEqual(len(list(out.glob("m*"))), 400)

    def test_nothing_half_written_stays(self):
        process = subprocess.Popen([PASSNET, "dataset", "decompose", self.root / "full", "--out", self.root / "subgraphs"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (self.root / "subgraphs/sole_op/toy/b4").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(timeout=60), (0, 130))
        for directory in (self.root / "subgraphs").rglob("*_start*"):
            if directory.is_dir():
                self.assertFalse(directory.name.startswith("."))
                self.assertTrue((directory / "graph_net.json").exists())


if __name__ == "__main__":
    sys.exit(unittest.main())
