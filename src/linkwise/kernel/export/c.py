"""A library in C99, with a Makefile, for CMake, or for the Arduino."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linkwise.backend import c
from linkwise.backend.source import indented
from linkwise.errors import printable
from linkwise.kernel.export.parts import MARK, Package, Part, Rows

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion"
# sqrt without errno is one instruction; a product and a sum that are rounded once differ from machine to machine
FLAGS = "-std=c99 -O2 -fno-math-errno -ffp-contract=off"
TOLERANCE = {"float64": "1e-10", "float32": "1e-4"}  # of the largest number of an output: what compilers may change


class Writer:
    """The files of a library in C."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.sources = [c.C(p.program, f"{package.name}_{p.name}", own=True) for p in package.parts]
        self.real = self.sources[0].kind.type
        self.last = self.sources[-1]

    @property
    def libm(self) -> bool:
        """Whether a square root may ask for the library of mathematics, where it is no instruction."""
        return any("sqrt" in s.ops for s in self.sources)

    def head(self, what: str) -> str:
        """The comment with which a file begins."""
        return f"/* {what}, {MARK}. */\n"

    def library(self) -> dict[str, str]:
        """Header, functions and mathematics."""
        name, guard = self.package.name, f"{self.package.name.upper()}_H"
        declared = "\n".join(f"{s.comment(p.kernel._title())}\n{s.signature()};\n" for s, p in self._pairs())
        cpp = ('#ifdef __cplusplus\nextern "C" {\n#endif\n', "#ifdef __cplusplus\n}\n#endif\n")
        files = {
            f"{name}.h": f"{self.head(f'The functions of {name}')}#ifndef {guard}\n#define {guard}\n\n{cpp[0]}\n"
            f"{declared}\n{cpp[1]}\n#endif\n"
        }
        math = c.own_functions({op for s in self.sources for op in s.ops}, self.package.dtype)
        files[f"{name}_math.h"] = (
            f"{self.head('Mathematics without a library')}"
            f"#ifndef {name.upper()}_MATH_H\n#define {name.upper()}_MATH_H\n\n{math}\n#endif\n"
        )
        for s, p in self._pairs():
            files[f"{name}_{p.name}.c"] = (
                f'{s.comment(p.kernel._title())}\n#include "{name}.h"\n#include "{name}_math.h"\n\n{c.definition(s)}'
            )
        return files

    def _pairs(self) -> Iterable[tuple[c.C, Part]]:
        return zip(self.sources, self.package.parts, strict=True)

    # ---- a test with numbers

    def test(self) -> str:
        """A program that compares the functions with numbers of the kernels."""
        tables, checks = [], []
        for s, p in self._pairs():
            inputs, outputs = s.arguments
            for names, values in zip(s.arguments, p.numbers, strict=True):
                tables += [self._table(f"{p.name}_{n}", x) for n, x in zip(names, values, strict=True)]
            sizes = [x.shape[1] for x in p.numbers[1]]
            checks += ["{"]
            checks += [f"    {self.real} found_{n}[{k}];" for n, k in zip(outputs, sizes, strict=True)]
            checks += [f"    double worst_{n} = 0.0;" for n in outputs]
            given = [f"{p.name}_{n}[row]" for n in inputs] + [f"found_{n}" for n in outputs]
            checks += [f"    for (int row = 0; row < {len(p.numbers[0][0])}; ++row) {{"]
            checks += [f"        {s.function}({', '.join(given)});"]
            for n, k in zip(outputs, sizes, strict=True):
                checks.append(f"        worst_{n} = worst(worst_{n}, found_{n}, {p.name}_{n}[row], {k});")
            checks += ["    }"]
            for n, x in zip(outputs, p.numbers[1], strict=True):
                scale = max(1e-30, float(abs(x).max(initial=0.0)))
                checks.append(f'    wrong += is_wrong("{s.function} {n}", worst_{n} / {scale!r});')
            checks += ["}"]
        return (
            f"{self.head(f'A test of {self.package.name} with numbers')}"
            f'#include "{self.package.name}.h"\n\n#include <math.h>\n#include <stdio.h>\n\n'
            + "\n".join(tables)
            + TEST.format(real=self.real, tolerance=TOLERANCE[self.package.dtype], checks=indented(checks))
        )

    def _table(self, name: str, rows: Rows) -> str:
        lines = [f"    {{{', '.join(self.sources[0].number(float(x)) for x in row)}}}" for row in rows]
        return f"static const {self.real} {name}[{len(rows)}][{rows.shape[1]}] = {{\n" + ",\n".join(lines) + "\n};\n"

    # ---- an example

    def loop(self) -> str:
        """A control loop around the last function."""
        inputs, outputs = self.last.arguments
        part = self.package.parts[-1]
        sizes = [[x.shape[1] for x in side] for side in part.numbers]
        fields = [
            indented([f"{self.real} {n}[{k}];" for n, k in zip(names, side, strict=True)])
            for names, side in zip((inputs, outputs), sizes, strict=True)
        ]
        given = ", ".join([*(f"state->{n}" for n in inputs), *(f"command->{n}" for n in outputs)])
        first = [
            f"static const {self.real} {n}[{len(x[0])}] = {{{', '.join(self.last.number(float(v)) for v in x[0])}}};"
            for n, x in zip(inputs, part.numbers[0], strict=True)
        ]
        copies = [
            f"for (int k = 0; k < {k}; ++k) {{ state->{n}[k] = {n}[k]; }}"
            for n, k in zip(inputs, sizes[0], strict=True)
        ]
        return self.head(f"A control loop around {self.last.function}") + LOOP.format(
            name=self.package.name,
            inputs=fields[0],
            outputs=fields[1],
            read=indented([*first, *copies]),
            update=f"    {self.last.function}({given});",
            shown=outputs[0],
        )


TEST = """
static double worst(double so_far, const {real} *found, const {real} *expected, int count) {{
    double result = so_far;
    for (int k = 0; k < count; ++k) {{
        const double off = fabs((double)found[k] - (double)expected[k]);
        const int both_unknown = found[k] != found[k] && expected[k] != expected[k];
        result = both_unknown || off <= result || result != result ? result : off;
    }}
    return result;
}}

static int is_wrong(const char *what, double off) {{
    const int good = off <= {tolerance};
    printf("%s: %s, worst difference %.2e of the largest number\\n", what, good ? "good" : "WRONG", off);
    return good ? 0 : 1;
}}

int main(void) {{
    int wrong = 0;
{checks}
    return wrong ? 1 : 0;
}}
"""

LOOP = """
/* Three steps a period, in the manner of ros2_control: `read_state` belongs into read() of the hardware, `update` into
 * update() of the controller, `write_command` into write() of the hardware. None of them allocates or waits. */
#include "{name}.h"

#include <stdio.h>
#include <time.h>

typedef struct {{
{inputs}
}} State;

typedef struct {{
{outputs}
}} Command;

/* replace by your encoders and references */
static void read_state(State *state) {{
{read}
}}

static void update(State *state, Command *command) {{
{update}
}}

/* replace by your drives */
static void write_command(const Command *command, int period) {{
    if (period % 1000 == 0) {{
        printf("{shown}[0] = %g\\n", (double)command->{shown}[0]);
    }}
}}

int main(void) {{
    State state;
    Command command;
    const int periods = 3000; /* of one millisecond each, on a real machine with a timer */
    const clock_t begin = clock();
    for (int period = 0; period < periods; ++period) {{
        read_state(&state);
        update(&state, &command);
        write_command(&command, period);
    }}
    printf("%.3g microseconds a period\\n", 1e6 * (double)(clock() - begin) / CLOCKS_PER_SEC / periods);
    return 0;
}}
"""


def with_makefile(package: Package) -> dict[str, str]:
    """A library with a Makefile."""
    w = Writer(package)
    name, files = package.name, w.library()
    objects = " ".join(f[:-2] + ".o" for f in files if f.endswith(".c"))
    libraries = "-lm"  # of the test, and for a square root that is no instruction
    makefile = f"""# {name}, {MARK}: make, make test, make run, make stack
CFLAGS ?= {FLAGS} {WARNINGS}

lib{name}.a: {objects}
\t$(AR) rcs $@ $^

%.o: %.c {name}.h {name}_math.h
\t$(CC) $(CFLAGS) -c -o $@ $<

test_{name}: test_{name}.c lib{name}.a
\t$(CC) $(CFLAGS) -o $@ $^ {libraries}

control_loop: control_loop.c lib{name}.a
\t$(CC) $(CFLAGS) -o $@ $^ {libraries}

test: test_{name}
\t./test_{name}

run: control_loop
\t./control_loop

stack: # bytes of each function, by GCC
\t$(CC) $(CFLAGS) -fstack-usage -c {" ".join(f for f in files if f.endswith(".c"))} && cat *.su

clean:
\trm -f *.o *.su lib{name}.a test_{name} control_loop

.PHONY: test run stack clean
"""
    return {**files, f"test_{name}.c": w.test(), "control_loop.c": w.loop(), "Makefile": makefile}


def with_cmake(package: Package) -> dict[str, str]:
    """A library as a target of CMake."""
    w = Writer(package)
    name, files = package.name, w.library()
    sources = "\n    ".join(f for f in files if f.endswith(".c"))
    gnu = "$<$<C_COMPILER_ID:GNU,Clang,AppleClang>:-fno-math-errno;-ffp-contract=off>"
    link = f"\nif(UNIX)\n    target_link_libraries({name} PUBLIC m) # square roots\nendif()\n" if w.libm else ""
    text = f"""# {name}, {MARK}
cmake_minimum_required(VERSION 3.15)
project({name} LANGUAGES C)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name}
    {sources})
add_library({name}::{name} ALIAS {name})
target_compile_features({name} PRIVATE c_std_99)
set_target_properties({name} PROPERTIES POSITION_INDEPENDENT_CODE ON) # for plugins
target_compile_options({name} PRIVATE "{gnu}")
target_include_directories({name} PUBLIC
    $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}>
    $<INSTALL_INTERFACE:include>)
{link}
# find_package({name}) and target_link_libraries(... {name}::{name}) after installation
install(TARGETS {name} EXPORT {name} ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
install(FILES {name}.h DESTINATION include)
install(EXPORT {name} FILE {name}Config.cmake NAMESPACE {name}:: DESTINATION lib/cmake/{name})

if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
    enable_testing()
    foreach(program test_{name} control_loop)
        add_executable(${{program}} ${{program}}.c)
        target_link_libraries(${{program}} PRIVATE {name})
        if(UNIX)
            target_link_libraries(${{program}} PRIVATE m)
        endif()
    endforeach()
    add_test(NAME {name} COMMAND test_{name})
endif()
"""
    return {**files, f"test_{name}.c": w.test(), "control_loop.c": w.loop(), "CMakeLists.txt": text}


def for_arduino(package: Package) -> dict[str, str]:
    """A library as the Arduino has it: sources in `src`, a sketch, and the test for a computer in `extras`."""
    w = Writer(package)
    name, part = package.name, package.parts[-1]
    files = {f"src/{file}": text for file, text in w.library().items()}
    title = printable(package.robot.name).replace("\n", " ")
    files["library.properties"] = (
        f"name={name}\nversion=1.0.0\nauthor=Linkwise\nmaintainer=Linkwise\n"
        f"sentence=Dynamics of the robot {title}, {MARK}.\nparagraph={', '.join(p.name for p in package.parts)}\n"
        f"category=Device Control\nurl=\narchitectures=*\nincludes={name}.h\n"
    )
    inputs, outputs = w.last.arguments
    first = [_row(w, n, x[0]) for n, x in zip(inputs, part.numbers[0], strict=True)]
    made = [f"static {w.real} {n}[{x.shape[1]}];" for n, x in zip(outputs, part.numbers[1], strict=True)]
    head = w.head(f"{w.last.function} a thousand times a second")
    files[f"examples/{name}_loop/{name}_loop.ino"] = head + SKETCH.format(
        name=name, tables="\n".join([*first, *made]), call=f"{w.last.function}({', '.join([*inputs, *outputs])});",
        shown=outputs[0],
    )  # fmt: skip
    files[f"extras/test_{name}.c"] = w.test()
    return files


def _row(w: Writer, name: str, numbers: Sequence[float]) -> str:
    return f"static {w.real} {name}[{len(numbers)}] = {{{', '.join(w.last.number(float(x)) for x in numbers)}}};"


SKETCH = """#include <{name}.h>

// replace these numbers by your encoders and references
{tables}

static unsigned long next_period, slowest;

void setup() {{
    Serial.begin(115200);
    next_period = micros();
}}

void loop() {{
    if ((long)(micros() - next_period) < 0) {{
        return;
    }}
    next_period += 1000;
    const unsigned long begin = micros();
    {call}
    const unsigned long took = micros() - begin;
    if (took > slowest) {{
        slowest = took;
        Serial.print("{shown}[0] = ");
        Serial.print({shown}[0]);
        Serial.print(", microseconds: ");
        Serial.println(slowest);
    }}
}}
"""
