"""Programs compiled by LLVM into machine code, and loaded."""

from __future__ import annotations

import ctypes
import hashlib
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

from linkwise.backend import ir
from linkwise.backend.foreign_thread import apart, side_by_side
from linkwise.backend.target import Target
from linkwise.graph.program import Program
from linkwise.status import StatusLine

CHUNK = 400  # operations in a function at most: more of them spill more, fewer pass more through memory
CHUNKS_IN_MODULE = 2  # more share a little work, fewer keep all cores busy to the end
LEVELS = (2, 1)  # of optimisation: of the loop, of the chunks
PATIENCE = 1.0  # seconds before a terminal is told
GENERATOR = (
    "entry", "ir", "iteration", "layout", "llvm", "loop", "operations", "port_transfers", "prefetch", "repeats",
    "shuffle", "target", "tile",
)  # fmt: skip
PYTHON = ("PyGILState_Ensure", "PyErr_NoMemory", "PyGILState_Release")  # what code may call of the interpreter
C = (
    "malloc",
    "free",
    "memcpy",
    "memset",
    "memmove",
    "sin",
    "cos",
    "sinf",
    "cosf",
    "feclearexcept",
)  # and of C
WINDOWS = {"ucrtbase": C, "ntdll": ("__chkstk",)}  # where they are in a process that may have several such libraries

_engines: dict[int, Any] = {}  # by the address of their code, which must outlive every function that points to it


@cache
def binding() -> Any:
    """LLVM's functions, made ready for this machine."""

    def ready() -> Any:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for found, names in [(ctypes.pythonapi, PYTHON), *_system()]:
            for name in names:
                if hasattr(found, name):
                    llvm.add_symbol(name, ctypes.cast(getattr(found, name), ctypes.c_void_p).value)
        return llvm

    return apart(ready)


def _system() -> list[tuple[ctypes.CDLL, tuple[str, ...]]]:
    """Libraries of the system and what code takes from each, where LLVM is to find it nowhere else."""
    if sys.platform != "win32":
        return []
    return [(ctypes.CDLL(library), names) for library, names in WINDOWS.items()]


@cache
def host() -> tuple[str, str, str]:
    """Triple, processor and features of this machine."""
    llvm = binding()
    found: tuple[str, str, str] = apart(
        lambda: (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    )
    return found


@cache
def target(dtype: str = "float64") -> Target:
    """Lanes and instructions of this machine, for numbers of a kind."""
    triple, _, features = host()
    return Target.of(triple, features, dtype)


def identity() -> str:
    """What, besides the program, decides the machine code."""
    return repr((binding().llvm_version_info, host(), target(), CHUNK, CHUNKS_IN_MODULE, _generator()))


@cache
def _generator() -> str:
    """A hash of the modules that write the code, so that an edit of them is not answered by the cache."""
    total = hashlib.sha256()
    for module in GENERATOR:
        try:
            total.update(Path(str(sys.modules[f"linkwise.backend.{module}"].__file__)).read_bytes())
        except OSError:  # not in a file of its own: the version decides
            continue
    return total.hexdigest()


def machine(opt: int) -> Any:
    """A code generator for this machine."""
    triple, cpu, features = host()
    return (
        binding()
        .Target.from_triple(triple)
        .create_target_machine(cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small", jit=True)
    )


def compile_objects(program: Program, levels: tuple[int, int] = LEVELS) -> list[bytes]:
    """Object files of a program; the first has the function `loop`.

    Long programs have many, which are compiled side by side; a terminal is told how far that has come.
    """
    texts = ir.modules(program, target(program.dtype), CHUNK, CHUNKS_IN_MODULE)
    length = sum(program.lengths)
    begin, line = time.monotonic(), StatusLine()

    def watch(done: int) -> None:
        if time.monotonic() - begin > PATIENCE:
            line.write(f"compiling {program.name}, {length} operations: {done} of {len(texts)} parts")

    try:
        return side_by_side([partial(_object, text, levels[k > 0]) for k, text in enumerate(texts)], watch)
    finally:
        line.wipe()


def compile_text(text: str) -> list[bytes]:
    """The object file of a module in LLVM's language."""
    return [apart(partial(_object, text, LEVELS[1]))]


def load_named(objects: list[bytes], symbols: Mapping[str, int], names: Sequence[str]) -> tuple[Any, list[int]]:
    """An engine, which is to be kept, and the addresses of functions in it, which may call those of `symbols`."""

    def load() -> tuple[Any, list[int]]:
        for name, address in symbols.items():
            binding().add_symbol(name, address)
        engine = _engine(objects)
        return engine, [int(engine.get_function_address(name)) for name in names]

    return apart(load)


def load_objects(objects: list[bytes]) -> int:
    """The address of `loop` in the loaded code."""
    address: int = apart(partial(_load, objects))
    return address


def entry(loop: int, name: str) -> int:
    """The address of another function in the loaded code of a loop."""
    address: int = apart(lambda: int(_engines[loop].get_function_address(name)))
    return address


def unload_objects(addresses: Sequence[int]) -> None:
    """Give back the memory of loaded code that nothing points to any more."""
    apart(partial(_unload, addresses))


# ---- steps that are done apart: each closes what it opens, the last first, whatever happens


def _object(text: str, level: int) -> bytes:
    """The object file of one module."""
    llvm = binding()
    with ExitStack() as opened:
        context = opened.enter_context(llvm.create_context())
        module = opened.enter_context(llvm.parse_assembly(text, context))
        tm = opened.enter_context(machine(level))
        if level == 2:  # the loop gains by LLVM's passes; straight-line chunks run faster without them
            options = opened.enter_context(llvm.create_pipeline_tuning_options(speed_level=2))
            options.slp_vectorization = options.loop_vectorization = options.loop_unrolling = False
            builder = opened.enter_context(llvm.create_pass_builder(tm, options))
            opened.enter_context(builder.getModulePassManager()).run(module, builder)
        return _emitted(tm, module)


def _emitted(tm: Any, module: Any) -> bytes:
    """The object file of a module that shares nothing with another, and so needs none of llvmlite's one lock."""
    ffi = binding().ffi
    emit = ffi.lib.LLVMPY_TargetMachineEmitToMemory
    with ffi.OutputString() as message:
        buffer = getattr(emit, "_cfn", emit)(tm, module, 1, message)
        if not buffer:
            raise RuntimeError(str(message))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unload(addresses: Sequence[int]) -> None:
    for address in addresses:
        _engines.pop(address).close()


def _load(objects: list[bytes]) -> int:
    """The address of `loop`, in code that stays until it is unloaded."""
    engine = _engine(objects)
    address = int(engine.get_function_address("loop"))
    _engines[address] = engine
    return address


def _engine(objects: list[bytes]) -> Any:
    llvm = binding()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine(1))
    for data in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine
