"""One kernel compiled: PTX with what its launch must know, or what is wrong with it and where."""

import inspect
import json

from . import causes, modules


def of(kernel: dict, texts: list[dict]) -> bytes:
    """kernel, texts: as in request.json. Returns: the bytes of INDEX.out."""
    try:
        ptx, facts = _compile(kernel, [texts[index] for index in kernel["modules"]])
        return json.dumps({"ptx": True, **facts}).encode() + b"\n" + ptx.encode()
    except MemoryError:
        return json.dumps({"memory": True}).encode()
    except BaseException as error:  # SystemExit of a module's text too
        return json.dumps({"error": causes.describe(error)}).encode()


def _compile(kernel: dict, texts: list[dict]) -> tuple[str, dict]:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import ptx_get_version
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    function = _find(kernel, modules.load(texts))
    parameters = kernel["parameters"]
    if [parameter["name"] for parameter in parameters] != function.arg_names:
        raise causes.PassError(f"kernel '{kernel['kernel']}' takes ({', '.join(function.arg_names)})")
    function.cache_key  # looks at the names that it uses, as a launch from Python does first
    signature = {parameter["name"]: parameter["type"] or "constexpr" for parameter in parameters}
    constants = {(i,): _constant(*p["constant"]) for i, p in enumerate(parameters) if "constant" in p}
    attributes = {(i,): [["tt.divisibility", 16]] for i, p in enumerate(parameters) if p["divisible"]}
    source = ASTSource(function, signature, constants, attributes)

    target = GPUTarget("cuda", kernel["capability"], 32)
    backend = make_backend(target)
    options = backend.parse_options(
        {**kernel["options"], "debug": function.debug, "ptx_version": ptx_get_version(kernel["cuda_version"])})  # fmt: skip
    stages: dict = {}
    # Triton 3.3 knows one language, and 3.4 takes no target to make its IR.
    backend.add_stages(stages, options, *([source.language] if hasattr(source, "language") else []))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    metadata = dict(options.__dict__)
    for_target = [target] if "target" in inspect.signature(source.make_ir).parameters else []
    value = source.make_ir(
        *for_target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)  # fmt: skip
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        value = stages[stage](value, metadata)
    return value, {
        "entry": metadata["name"],
        "warps": metadata["num_warps"],
        "cluster": metadata["num_ctas"],
        "shared_bytes": metadata["shared"],
        "tensor_columns": metadata.get("tmem_size") or 0,
        # In the order of the pointers that stand behind the arguments.
        "scratch": [
            {"bytes": metadata.get(f"{kind}_scratch_size") or 0, "align": metadata.get(f"{kind}_scratch_align") or 1}
            for kind in ("global", "profile")
        ],
    }


def _find(kernel: dict, module):
    from triton.runtime import JITFunction

    function = getattr(module, kernel["kernel"], None)
    if not isinstance(function, JITFunction):
        raise causes.PassError(f"no @triton.jit function '{kernel['kernel']}' here")
    return function


def _constant(kind: str, value):
    import triton.language as tl

    if kind == "dtype":
        return tl.int1 if value == "bool" else getattr(tl, value)
    return {"none": lambda _: None, "int": int, "float": float, "bool": bool, "str": str}[kind](value)
