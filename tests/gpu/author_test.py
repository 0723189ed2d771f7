"""Schedules of authored kernels on a GPU: rows that several blocks share, transposes through shared memory, norms of few long
rows, windows that a thread takes in bands, products in tiles. Prints how fast each graph is beside PyTorch. Skipped where there is no GPU."""

import json
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests" / "author"), str(SOURCE / "tests" / "gpu")]
from authored_case import PRODUCTS, AuthoredCase, F  # noqa: E402
from gpu_main import main  # noqa: E402

# name: statements, results, shapes of the inputs by graph
SCHEDULES = {
    "means_of_long_rows": (["t = a.mean(-1)"], "t", [[(1, 200001)], [(3, 131077)], [(8, 200000)], [(8, 65537)]]),
    "extremes_of_long_rows": (["t = a.amax(-1, keepdim = True)", "u = a - t"], "u", [[(1, 200001)], [(3, 65539)], [(8, 131072)]]),
    "sums_over_two_loops": (["t = a.sum((0, 2))"], "t", [[(64, 3, 12001)], [(9, 1, 40000)]]),
    "means_of_columns": (["t = a.mean(1)"], "t", [[(1, 197, 768)], [(8, 1025, 33)], [(1, 200003, 3)]]),
    "softmax_of_columns": ([f"t = {F}softmax(a, dim = 1)"], "t", [[(1, 4099, 17)], [(2, 1025, 64)]]),
    "columns_of_middling_height": (["t = a.mean(1)", "u = t.unsqueeze(1)", "v = a - u", "w = a.amax(1)", "x = a > 3.2", "y = x.any(1)"], "v, w, y", [[(2, 197, 768)], [(1, 49, 20)], [(3, 33, 1)], [(64, 700, 100)]]),
    "columns_of_pictures": (["t = a.mean((1, 2))", f"u = {F}softmax(t, dim = 0)"], "t, u", [[(2, 7, 7, 768)], [(1, 40, 50, 5)], [(3, 33, 2, 1)]]),
    "convolutions_of_whole_pictures": (["t = torch.conv2d(a, b, c, (1, 1), (0, 0), (1, 1), 1)", "u = torch.sigmoid(t)", "v = d * u"], "v",
                                       [[(4, 240, 1, 1), (960, 240, 1, 1), (960,), (4, 960, 14, 14)], [(3, 8, 3, 3), (5, 8, 3, 3), (5,), (3, 5, 4, 4)]]),
    "products_of_few_rows": ([f"t = {F}linear(a, b, c)", f"u = {F}gelu(t)"], "u", [[(12, 768), (1000, 768), (1000,)], [(3, 41), (100, 41), (100,)]]),
    "another_shape_of_a_sum": (["t = a + b", "u = t.reshape($n, -1, 96)", f"v = {F}layer_norm(u, (96,), c, None, 1e-05)"], "u, v",
                               [[(4, 56, 56, 96), (4, 56, 56, 96), (96,), {"n": 4}], [(1, 5, 1, 96), (1, 5, 1, 96), (96,), {"n": 1}]]),
    "layer_norms": (["t = a + b", f"u = {F}layer_norm(t, (131077,), c, None, 1e-05)"], "t, u", [[(n, 131077), (n, 131077), (131077,)] for n in (1, 3, 8)]),
    "group_norms": ([f"t = {F}group_norm(a, 2, b, c, 1e-05)", f"u = {F}silu(t)"], "u", [[(1, 64, 97, 97), (64,), (64,)], [(2, 64, 128, 128), (64,), (64,)]]),
    "softmax_of_long_rows": ([f"t = {F}softmax(a, -1)"], "t", [[(1, 200001)], [(3, 131072)], [(8, 65537)]]),
    "transposes": (["t = a.transpose(1, 2)", "u = t.contiguous()", f"v = {F}gelu(u)"], "v", [[(8, 197, 768)], [(3, 1023, 333)], [(1, 31, 33)], [(64, 32, 32)]]),
    "channels_last": (["t = a.permute(0, 2, 3, 1)", "u = t.contiguous()", "v = u * b", "w = v + c"], "w", [[(4, 96, 57, 57), (96,), (4, 57, 57, 96)], [(1, 33, 129, 65), (33,), (1, 129, 65, 33)]]),
    "norms_across_channels": (["t = a.permute(0, 2, 3, 1)", f"u = {F}layer_norm(t, (96,), b, c, 1e-05)"], "u", [[(8, 96, 57, 57), (96,), (96,)], [(1, 96, 7, 7), (96,), (96,)]]),
    "keys": (["t = a.view(2, 129, 8, 64)", "u = t.permute(0, 2, 3, 1)", "v = u.contiguous()", "w = v * 0.125"], "w", [[(2, 129, 512)]]),
    "means_of_windows": ([f"t = {F}relu(a, inplace = False)", f"u = {F}avg_pool2d(t, 3, 1, 1, False, False)", "v = u - t"], "v", [[(16, 48, 57, 57)], [(8, 48, 30, 31)], [(1, 3, 2, 5)]]),
    "largest_of_windows": ([f"t = {F}max_pool2d(a, 3, 2, 1, 1, ceil_mode = False, return_indices = False)"], "t", [[(16, 48, 113, 113)], [(64, 64, 16, 15)]]),
    "windows_of_weights": (["t = torch.conv2d(a, b, None, (1, 1), (2, 2), (1, 1), 48)", "u = t * c"], "u", [[(16, 48, 57, 57), (48, 1, 5, 5), (48, 1, 1)], [(8, 48, 31, 30), (48, 1, 5, 5), (48, 1, 1)]]),
    "windows_beside_others": ([f"t = {F}max_pool2d(a, 2, 2, 0, 1, ceil_mode = False, return_indices = False)", "u = torch.cat([b, t], 1)", f"v = {F}relu(u, inplace = False)"], "v", [[(16, 48, 114, 114), (16, 16, 57, 57)], [(16, 48, 60, 62), (16, 16, 30, 31)]]),
    "one_of_two": (["t = torch.cat([a, b], 1)", f"u = {F}relu(t, inplace = False)"], "u", [[(8, 48, 56, 56), (8, 16, 56, 56)], [(3, 5, 7, 9), (3, 2, 7, 9)]]),
    "one_of_three": ([f"t = {F}interpolate(a, None, 2.0, 'nearest', None)", "u = b + c", "v = torch.cat([t, u, c], 1)"], "v", [[(8, 16, 56, 56), (8, 16, 112, 112), (8, 16, 112, 112)], [(3, 2, 7, 9), (3, 2, 14, 18), (3, 2, 14, 18)]]),
    "rows_of_two": (["t = torch.cat([a, b], 1)", f"u = {F}layer_norm(t, (768,), c, None, 1e-06)"], "t, u", [[(8, 1, 768), (8, 196, 768), (768,)]]),
    "products": (*PRODUCTS["linear"], [[(8, 197, 384), (96, 384), (96,)], [(1, 33, 101), (65, 101), (65,)], [(64, 128, 768), (256, 768), (256,)]]),
    "products_of_batches": (*PRODUCTS["attention"], [[(2, 3, 197, 64), (2, 3, 197, 64)], [(1, 8, 257, 40), (1, 8, 257, 40)]]),
    "products_of_columns": (*PRODUCTS["columns"], [[(4, 64, 96), (4, 64, 100), (4, 96, 100)], [(1, 33, 17), (1, 33, 19), (1, 17, 19)]]),
    "products_of_channels": (*PRODUCTS["channels"], [[(4, 64, 56, 56), (128, 64, 1, 1), (128,), (4, 128, 56, 56)], [(1, 36, 7, 9), (21, 36, 1, 1), (21,), (1, 21, 7, 9)]]),
    "windows_put_together": (["t = a.reshape($n, 8, 8, 7, 7, 64)", "u = t.permute(0, 5, 1, 3, 2, 4)", "v = u.reshape($n, 64, 56, 56)", "w = v * 2.0"], "w", [[(4, 64, 49, 64), {"n": 4}], [(1, 64, 49, 64), {"n": 1}]]),
    "products_of_patches": (["t = torch.conv2d(a, b, c, (16, 16), (0, 0), (1, 1), 1)", "u = t.flatten(2)", "v = u.transpose(1, 2)", "w = v + d"], "w", [[(2, 3, 224, 224), (192, 3, 16, 16), (192,), (1, 196, 192)]]),
    "products_of_windows": (["t = torch.conv2d(a, b, None, (1, 1), (1, 1), (1, 1), 1)", f"u = {F}relu(t, inplace = False)"], "u", [[(2, 32, 28, 28), (64, 32, 3, 3)], [(1, 48, 9, 13), (33, 48, 3, 3)], [(1, 256, 16, 16), (128, 256, 3, 3)]]),
    "products_of_every_other_window": (["t = torch.conv2d(a, b, c, (2, 2), (2, 2), (2, 2), 1)", "u = t + d"], "u", [[(3, 16, 17, 23), (40, 16, 3, 3), (40,), (3, 40, 9, 12)], [(4, 64, 40, 40), (64, 64, 3, 3), (64,), (4, 64, 20, 20)]]),
    "products_of_lines": (["t = torch.conv1d(a, b, None, (1,), (3,), (1,), 1)", f"u = {F}silu(t, inplace = False)"], "u", [[(2, 64, 99), (96, 64, 7)], [(1, 16, 33), (16, 16, 7)]]),
    "products_of_groups": (["t = torch.conv2d(a, b, None, (1, 1), (1, 1), (1, 1), 2)", f"u = {F}relu(t, inplace = False)", "v = u.view(-1, 2, 32, 28, 28)", "w = v.sum(1)"], "v, w", [[(2, 64, 28, 28), (64, 32, 3, 3)], [(4, 64, 28, 28), (64, 32, 3, 3)]]),
    "products_of_points_of_groups": (["t = torch.conv2d(a, b, c, 1, 0, 1, 3)", f"u = {F}gelu(t)"], "u", [[(2, 60, 17, 19), (54, 20, 1, 1), (54,)], [(3, 72, 30, 31), (96, 24, 1, 1), (96,)]]),
    "products_laid_out": (["t = torch.conv_transpose2d(a, b, c, (2, 2), (0, 0), (0, 0), 1, (1, 1))", "u = t.permute(0, 2, 3, 1)", f"v = {F}layer_norm(u, (32,), c, c, 1e-06)", "w = v.permute(0, 3, 1, 2)", f"x = {F}gelu(w)"], "x", [[(2, 128, 33, 31), (128, 32, 2, 2), (32,)], [(4, 96, 64, 64), (96, 32, 2, 2), (32,)]]),
    "products_of_steps": (*PRODUCTS["every_other_channel"], [[(4, 32, 28, 28), (96, 32, 1, 1)], [(1, 20, 9, 13), (33, 20, 1, 1)]]),
    "odd_rows": ([f"t = {F}relu(a, inplace = False)", "u = b * t", "v = u + c", f"w = {F}pad(v, (0, 1, 0, 1), 'constant', None)"], "w", [[(32, 16, 128, 128), (1,), (16, 1, 1)], [(8, 6, 56, 56), (1,), (6, 1, 1)], [(3, 5, 8, 10), (1,), (5, 1, 1)]]),
    "parts_of_odd_rows": (["t = torch.cat([a, b, a], -1)", f"u = {F}gelu(t)", "v = u * c"], "v", [[(64, 48, 56, 9), (64, 48, 56, 39), (48, 1, 1)], [(2, 3, 4, 2), (2, 3, 4, 3), (3, 1, 1)]]),
    "scales_of_small_pictures": (["t = a * b", "u = t + c"], "u", [[(128, 512, 7, 7), (128, 512, 1, 1), (128, 512, 7, 7)], [(2, 3, 3, 3), (2, 3, 1, 1), (2, 3, 3, 3)]]),
    "running_sums": (["t = a > 0.5", "u = t.to(torch.int64)", "v = u.cumsum(-1)", "w = v - 1", "x = w.masked_fill(t, 1)", "y = x.max(-1, keepdim = True)", "z = y[0]"], "x, z", [[(8, 1025)], [(3, 200)], [(64, 31)], [(1, 100003)]]),
    "running_sums_of_columns": (["t = a.cumsum(1)", "u = t * 0.5", "v = a > 0.5", "w = v.to(torch.int64)", "x = w.cumsum(1)", "y = x - 3", "z = y.amin(1)"], "u, y, z", [[(4, 97, 65)], [(1, 33, 4099)], [(2, 300, 3)]]),
    "softmax_in_place": (["t = a.div_(2.0)", f"u = {F}softmax(t, dim = -1)"], "u", [[(3, 333, 4096)], [(5, 7, 33)], [(2, 40, 8000)]]),
    "choices_of_rows": (["t = a > 2.0", "u = t.any(-1)", "v = a > -2.0", "w = v.all(-1)", "x = a * 10.0", "y = x.to(torch.int64)", "z = y.amin(-1)"], "u, w, z", [[(64, 31)], [(5, 1000)], [(33, 2)]]),
    "conditions": (["t = a > 0.5", "u = t.transpose(0, 1)", "v = torch.where(u, b, 0.0)"], "v", [[(1025, 333), (333, 1025)]]),
}


# Rows that threads have as those of PyTorch's kernels do: of any length for softmax and groups, of fours for layer norms.
EQUAL = {
    "equal_layer_norms": (["t = a + b", f"u = {F}layer_norm(t, ($n,), c, d, 1e-05)"], "t, u",
                          [[(rows, n), (rows, n), (n,), (n,), {"n": n}] for rows, n in ((64, 768), (7, 100), (33, 20), (1025, 64), (300, 1536), (5, 4096), (40, 1000))]),
    "equal_layer_norms_stored_across": (["t = a + b", f"u = {F}layer_norm(t, (256,), c, d, 1e-05)", "v = u.reshape($n, 7, 7, -1)", "w = v.permute(0, 3, 1, 2)", "x = w.contiguous()"], "x", [[(n, 49, 256), (n, 49, 256), (256,), (256,), {"n": n}] for n in (1, 4)]),
    "equal_layer_norms_across_channels": (["t = a.flatten(2)", "u = t.transpose(1, 2)", f"v = {F}layer_norm(u, (96,), b, c, 1e-05)"], "v", [[(2, 96, 14, 14), (96,), (96,)], [(8, 96, 7, 9), (96,), (96,)]]),
    "equal_group_norms": ([f"t = {F}group_norm(a, 8, b, c, 1e-05)", f"u = {F}silu(t)"], "u", [[(2, 64, 14, 14), (64,), (64,)], [(3, 32, 5, 7), (32,), (32,)], [(4, 320, 16, 16), (320,), (320,)]]),
    "equal_norms_of_one_group": ([f"t = {F}group_norm(a, 1, b, c, 1e-05)"], "t", [[(4, 96, 7, 7), (96,), (96,)], [(2, 24, 5, 4), (24,), (24,)], [(3, 256, 9, 9), (256,), (256,)]]),
    "equal_softmax": (["t = a * 0.5", "u = t + b", f"v = {F}softmax(u, -1)"], "v", [[(40, n), (40, n)] for n in (16, 50, 197, 512, 1500, 2048)]),
    "equal_batch_norms": ([f"t = {F}batch_norm(a, b, c, d, e, False, 0.1, 1e-05)", f"u = {F}relu(t, inplace = False)"], "u", [[(4, 96, 14, 15), (96,), (96,), (96,), (96,)]]),
    "equal_batch_norms_of_rows": ([f"t = {F}batch_norm(a, b, c, d, e, False, 0.1, 1e-05)"], "t", [[(785, 768), (768,), (768,), (768,), (768,)]]),
    "equal_operators": (["t = a * b", "u = t + a", "v = 0.3 * u", "w = v - b", "x = w * w", "y = x - t"], "u, y", [[(33, 129), (33, 129)]]),
}


class Author(AuthoredCase):
    def authored(self, constructs):
        """Samples of these, each with its passes."""
        samples = [self.sample_of(name, *construct) for name, construct in constructs.items()]
        written = self.passnet("author", *samples, "--write-only", "--device", "cuda", "-o", self.out / "written")
        self.assertEqual(written.returncode, 0, written.stderr)
        for sample in samples:
            (self.out / "written" / sample.name / "pass_dir").rename(sample / "pass_dir")
        return samples

    def test_norms_and_operators_are_pytorchs_bit_by_bit(self):
        samples = self.authored(EQUAL)
        done = self.passnet("eval", *samples, "--device", "cuda", "--out", self.out / "evaluated", "--force", "--trials", 5)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        records = [json.loads(line) for path in (self.out / "evaluated").rglob("records.jsonl") for line in path.read_text().splitlines()]
        self.assertEqual(len(records), sum(len((sample / "graph_list.txt").read_text().split()) for sample in samples))
        for record in records:
            with self.subTest(sample=record["sample"], graph=record["graph"]):
                self.assertTrue(record["outputs"], record["error"])
                self.assertEqual({output["max_abs_diff"] for output in record["outputs"]}, {0.0})

    def test_schedules_are_right_and_what_they_gain(self):
        samples = self.authored(SCHEDULES)
        done = self.passnet("eval", *samples, "--device", "cuda", "--out", self.out / "evaluated", "--force", "--trials", 50, "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        graphs = json.loads(done.stdout)["graphs"]
        self.assertEqual(len(graphs), sum(len((sample / "graph_list.txt").read_text().split()) for sample in samples))
        for one in graphs:
            speedup = "not timed" if one.get("speedup") is None else f"{one['speedup']:.2f}x"
            print(f"{one['sample']}/{one['graph']}: {one['verdict']}, {speedup}", flush=True)
            with self.subTest(graph=f"{one['sample']}/{one['graph']}"):
                self.assertIn(one["verdict"], ("correct", "unranked"), json.dumps(one, indent=1)[:3000])
                self.assertGreater(one["sites"], 0)


if __name__ == "__main__":
    main()
