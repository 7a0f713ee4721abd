"""Programs compiled by LLVM into machine code, and loaded."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from linkwise.backend import ir
from linkwise.backend.target import Target
from linkwise.graph.program import Program
from linkwise.status import StatusLine

CHUNK = 500  # operations in a function: more of them spill more, fewer pass more through memory
CHUNKS_IN_MODULE = 5
WORKERS = 8  # threads that compile parts of one program
PATIENCE = 1.0  # seconds before a terminal is told

_engines: list[Any] = []  # code must outlive every function that points to it


@cache
def binding() -> Any:
    """LLVM's functions, made ready for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def host() -> tuple[str, str, str]:
    """Triple, processor and features of this machine."""
    llvm = binding()
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
    return repr((binding().llvm_version_info, host(), target(), CHUNK, CHUNKS_IN_MODULE, _generator()))


@cache
def _generator() -> str:
    """A hash of the modules that write the code, so that an edit of them is not answered by the cache."""
    total = hashlib.sha256()
    for module in ("ir", "layout", "loop", "repeats", "tile", "target", "llvm"):
        try:
            total.update(Path(str(sys.modules[f"linkwise.backend.{module}"].__file__)).read_bytes())
        except OSError:  # not in a file of its own: the version decides
            continue
    return total.hexdigest()


def machine(opt: int) -> Any:
    """A code generator for this machine."""
    llvm = binding()
    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small", jit=True
    )


def compile_objects(program: Program) -> list[bytes]:
    """Object files of a program; the first has the function `loop`.

    Long programs have many, which are compiled side by side, LLVM being as fast as it is single-threaded; a terminal is
    told how far that has come.
    """
    texts = ir.modules(program, target(), CHUNK, CHUNKS_IN_MODULE)
    if len(texts) <= 2:
        return [_object(text, k == 0) for k, text in enumerate(texts)]
    from concurrent.futures import ThreadPoolExecutor, as_completed

    begin, line = time.monotonic(), StatusLine()
    with ThreadPoolExecutor(min(os.cpu_count() or 1, WORKERS)) as pool:
        waiting = [pool.submit(_object, text, k == 0) for k, text in enumerate(texts)]
        try:
            for done, _ in enumerate(as_completed(waiting), start=1):
                if time.monotonic() - begin > PATIENCE:
                    line.write(
                        f"compiling {program.name}, {len(program.schedule)} operations: {done} of {len(texts)} parts"
                    )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            line.wipe()
    return [task.result() for task in waiting]


def _object(text: str, optimised: bool) -> bytes:
    """The object file of one module."""
    llvm = binding()
    with llvm.create_context() as context:
        module = llvm.parse_assembly(text, context)
        tm = machine(2 if optimised else 1)
        if optimised:  # the loop gains by LLVM's passes; straight-line chunks run faster without them
            options = llvm.create_pipeline_tuning_options(speed_level=2)
            options.slp_vectorization = options.loop_vectorization = False
            builder = llvm.create_pass_builder(tm, options)
            builder.getModulePassManager().run(module, builder)
        data = tm.emit_object(module)
        module.close()
    return bytes(data)


def load_objects(objects: list[bytes]) -> int:
    """The address of `loop` in the loaded code."""
    llvm = binding()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine(1))
    for data in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("loop"))
