"""Exported libraries on an ATmega 2560, the processor of an Arduino Mega, by Debian's compiler, core and emulator."""

import shutil
import subprocess
import time
from pathlib import Path

from support.exported import done

CORE = Path("/usr/share/arduino/hardware/arduino/avr")
TOOLS = ("avr-g++", "qemu-system-avr")
FLAGS = (
    "-mmcu=atmega2560", "-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_MEGA2560", "-DARDUINO_ARCH_AVR", "-Os",
    "-DDECIMAL_DIG=__DECIMAL_DIG__", "-ffunction-sections", "-fdata-sections", f"-I{CORE}/cores/arduino",
    f"-I{CORE}/variants/mega", "-Isrc",
)  # fmt: skip
LANGUAGES = {".c": ("avr-gcc", "-std=gnu11"), ".cpp": ("avr-g++", "-std=gnu++11", "-fno-exceptions")}
PATIENCE = 60.0  # seconds for the emulator


def missing() -> str:
    """What is needed and not here, in words."""
    lost = [t for t in TOOLS if shutil.which(t) is None] + [str(CORE)] * (not CORE.exists())
    packages = "apt install arduino-core-avr gcc-avr avr-libc qemu-system-misc"
    return f"{', '.join(lost)} not found: {packages}" if lost else ""


def built(folder: Path, sketch: str) -> Path:
    """A sketch with the library of a folder, and the Arduino's own core; neither sketch nor library has a warning."""
    (folder / "sketch.cpp").write_text(f"#include <Arduino.h>\n{sketch}")
    ours = [*(folder / "src").glob("*.c"), folder / "sketch.cpp"]
    objects = []
    for source in [*ours, *(CORE / "cores/arduino").glob("*.c*")]:
        objects.append(f"{source.name}.o")
        warnings = ("-Wall", "-Wextra", "-Werror") if source in ours else ("-w",)
        done(*LANGUAGES[source.suffix], *FLAGS, *warnings, "-c", source, "-o", objects[-1], cwd=folder)
    done("avr-gcc", "-mmcu=atmega2560", "-Os", "-Wl,--gc-sections", *objects, "-lm", "-o", "all.elf", cwd=folder)
    return folder / "all.elf"


def printed(program: Path, end: str) -> str:
    """What a program prints in the emulator, up to a word; its clock stands, for which the emulator has no timer."""
    out = program.with_suffix(".txt")
    command = [TOOLS[1], "-M", "mega2560", "-bios", program, "-display", "none", "-monitor", "none"]
    with subprocess.Popen([*command, "-serial", f"file:{out}"]) as emulator:
        try:
            begin = time.monotonic()
            while time.monotonic() < begin + PATIENCE and (not out.exists() or end not in out.read_text("latin-1")):
                time.sleep(0.1)
        finally:
            emulator.kill()
    text = out.read_text("latin-1")
    assert end in text, text
    return text
