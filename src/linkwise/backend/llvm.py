"""Programs compiled by LLVM into machine code, and loaded."""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from linkwise.backend import ir
from linkwise.backend.target import Target
from linkwise.graph.program import Program

CHUNK = 500  # operations in a function: more of them spill more, fewer pass more through memory
CHUNKS_IN_MODULE = 16

_engines: list[Any] = []  # code must outlive every function that points to it


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host() -> tuple[str, str, str]:
    """Triple, processor and features of this machine."""
    llvm = _llvm()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def target() -> Target:
    """Lanes and instructions of this machine."""
    features = set(host()[2].split(","))
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    arm = platform.machine().lower() in ("arm64", "aarch64")
    lanes = 8 if "+avx512f" in features else 4 if "+avx" in features else 2
    return Target(lanes, arm or "+fma" in features, x86)


def identity() -> str:
    """What, besides the program, decides the machine code."""
    return repr((_llvm().llvm_version_info, host(), target(), CHUNK, CHUNKS_IN_MODULE, _generator()))


@cache
def _generator() -> str:
    """A hash of the modules that write the code, so that an edit of them is not answered by the cache."""
    total = hashlib.sha256()
    for module in ("ir", "layout", "loop", "tile", "target", "llvm"):
        try:
            total.update(Path(str(sys.modules[f"linkwise.backend.{module}"].__file__)).read_bytes())
        except OSError:  # not in a file of its own: the version decides
            continue
    return total.hexdigest()


def machine(opt: int) -> Any:
    """A code generator for this machine."""
    llvm = _llvm()
    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small", jit=True
    )


def compile_objects(program: Program) -> list[bytes]:
    """Object files of a program; the first has the function `loop`."""
    llvm = _llvm()
    objects = []
    for k, text in enumerate(ir.modules(program, target(), CHUNK, CHUNKS_IN_MODULE)):
        module = llvm.parse_assembly(text)
        tm = machine(2 if k == 0 else 1)
        if k == 0:  # the loop gains by LLVM's passes; straight-line chunks run faster without them
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.slp_vectorization = options.loop_vectorization = False
            builder = llvm.create_pass_builder(tm, options)
            builder.getModulePassManager().run(module, builder)
        objects.append(tm.emit_object(module))
    return objects


def load_objects(objects: list[bytes]) -> int:
    """The address of `loop` in the loaded code."""
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine(1))
    for data in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("loop"))
