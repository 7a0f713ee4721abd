"""Generated C on a Cortex-M7, emulated by QEMU: results, and how many instructions each call took."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

COMPILER, EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
FLAGS = [
    "-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-std=c99", "-O2", "-fno-math-errno",
    "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror",
]  # fmt: skip
TICKS = 25.6  # ticks of the counter for an instruction: 2^10 ns each, at 25 MHz

# what the processor does first: the stack, the unit for floating-point numbers, then the C library
START = """
extern int _start(void);
extern unsigned int stack_top;
void reset(void);
void reset(void) {
    *(volatile unsigned int *)0xE000ED88u |= 0xFu << 20; /* the coprocessors 10 and 11 */
    __asm volatile("dsb\\n isb");
    _start();
    for (;;) {
    }
}
__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {&stack_top, (const void *)reset};
"""
LINK = """
MEMORY { code (rx) : ORIGIN = 0x0, LENGTH = 4M  data (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
ENTRY(reset)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) KEEP(*(.init)) KEEP(*(.fini)) . = ALIGN(4); } > code
  .ARM.exidx : { *(.ARM.exidx*) } > code
  .data : { *(.data*) . = ALIGN(4); } > data
  .bss : { __bss_start__ = .; *(.bss*) *(COMMON) . = ALIGN(8); __bss_end__ = .; } > data
  end = .; __end__ = .;
  stack_top = ORIGIN(data) + LENGTH(data);
}
"""
MAIN = """
#include "{name}.h"
#include <stdio.h>
#include <stdint.h>
#define STATUS (*(volatile uint32_t *)0xE000E010u)
#define RELOAD (*(volatile uint32_t *)0xE000E014u)
#define TICKS (*(volatile uint32_t *)0xE000E018u)
static float in[{width}], out[{made}];
void nothing({pointers});
__attribute__((noinline)) void nothing({pointers}) {{ __asm volatile(""); }}
static uint32_t spent(void (*f)({types})) {{
    const uint32_t before = TICKS;
    f({given});
    return (before - TICKS) & 0xFFFFFFu;
}}
int main(void) {{
    FILE *inputs = fopen("inputs.bin", "rb"), *outputs = fopen("outputs.bin", "wb");
    RELOAD = 0xFFFFFFu;
    TICKS = 0;
    STATUS = 5u;
    for (int row = 0; row < {rows}; ++row) {{
        uint32_t ticks[2];
        if (fread(in, sizeof in, 1, inputs) != 1) {{ return 1; }}
        ticks[0] = spent(nothing);
        ticks[1] = spent({function});
        fwrite(out, sizeof out, 1, outputs);
        fwrite(ticks, sizeof ticks, 1, outputs);
    }}
    fclose(outputs);
    return 0;
}}
"""


class Ran(NamedTuple):
    """Results of all rows, instructions that each call took, and those that the function has in the memory."""

    results: np.ndarray
    instructions: np.ndarray
    written: int
    stack: int


def missing() -> str:
    """What is needed and not here, in words."""
    lost = [tool for tool in (COMPILER, EMULATOR) if shutil.which(tool) is None]
    packages = "apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
    return f"{' and '.join(lost)} not found: {packages}" if lost else ""


def run(folder: Path, name: str, part: str, inputs: list[np.ndarray], width: int) -> Ran:
    """The function `part` of the library `name` in a folder's `src`, of inputs (rows, numbers) and one output."""
    rows, widths = len(inputs[0]), [x.shape[1] for x in inputs]
    types = ["const float *"] * len(inputs) + ["float *"]
    given = [f"in + {sum(widths[:k])}" for k in range(len(widths))] + ["out"]
    text = MAIN.format(
        name=name, width=sum(widths), made=width, rows=rows, types=", ".join(types), given=", ".join(given),
        pointers=", ".join(f"{t}{'abcdefgh'[k]}" for k, t in enumerate(types)), function=f"{name}_{part}",
    )  # fmt: skip
    # parameters that nothing reads are meant
    (folder / "main.c").write_text('#pragma GCC diagnostic ignored "-Wunused-parameter"\n' + text)
    (folder / "start.c").write_text(START)
    (folder / "link.ld").write_text(LINK)
    np.concatenate(inputs, axis=1).astype(np.float32).tofile(folder / "inputs.bin")
    sources = [str(p.relative_to(folder)) for p in (folder / "src").glob("*.c")]
    for source in sources:
        _do(folder, COMPILER, *FLAGS, "-fstack-usage", "-Isrc", "-c", source, "-o", f"{Path(source).stem}.o")
    objects = [f"{Path(s).stem}.o" for s in sources]
    _do(folder, COMPILER, *FLAGS[:7], "-Isrc", "main.c", "start.c", *objects, "-o", "all.elf", "-Tlink.ld",
        "--specs=rdimon.specs", "-nostartfiles", *_begins(folder))  # fmt: skip
    _do(folder, EMULATOR, "-M", "mps2-an500", "-nographic", "-monitor", "none", "-serial", "none",
        "-icount", "shift=10", "-semihosting-config", "enable=on,target=native", "-kernel", "all.elf")  # fmt: skip
    raw = np.fromfile(folder / "outputs.bin", np.float32).reshape(rows, width + 2)
    ticks = np.ascontiguousarray(raw[:, width:]).view(np.uint32).astype(float)
    counts = np.rint((ticks[:, 1] - ticks[:, 0]) / TICKS).astype(int) + 1  # the way back is in both
    listing = _do(folder, COMPILER.replace("gcc", "objdump"), "-d", f"--disassemble={name}_{part}", f"{name}_{part}.o")
    written = len(re.findall(r"^\s+[0-9a-f]+:\t[0-9a-f]{4}(?: [0-9a-f]{4})? *\t(?!\.word|nop)", listing, re.MULTILINE))
    usage = (folder / f"{name}_{part}.su").read_text() if (folder / f"{name}_{part}.su").exists() else ""
    return Ran(raw[:, :width].copy(), counts, written, max(map(int, re.findall(r"\t(\d+)\t", usage)), default=-1))


def _begins(folder: Path) -> list[str]:
    """What the C library begins with."""
    names = ("crti.o", "crtbegin.o", "rdimon-crt0.o", "crtend.o", "crtn.o")
    return [_do(folder, COMPILER, *FLAGS[:4], f"-print-file-name={n}").strip() for n in names]


def _do(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
