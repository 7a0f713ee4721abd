"""A library in JavaScript: one module, for browsers and for Node."""

from __future__ import annotations

import json

from linkwise.backend import javascript
from linkwise.kernel.export.c import TOLERANCE
from linkwise.kernel.export.parts import MARK, Package


def module(package: Package) -> dict[str, str]:
    """The files of a module."""
    name = package.name
    functions = [javascript.source(p.program, p.name, p.kernel._title()) for p in package.parts]
    exported = [text.replace("\nfunction ", "\nexport function ", 1) for text in functions]
    cases = [
        {
            "function": p.name,
            "inputs": [x.tolist() for x in p.numbers[0]],
            "outputs": [x.tolist() for x in p.numbers[1]],
        }
        for p in package.parts
    ]
    about = {"name": name, "version": "1.0.0", "description": f"Functions of {name}, {MARK}.", "type": "module",
             "main": f"{name}.js", "scripts": {"test": "node test.js"}}  # fmt: skip
    return {
        "package.json": json.dumps(about, indent=2) + "\n",
        f"{name}.js": "\n".join(exported),
        "test.js": TEST.format(name=name, mark=MARK, cases=json.dumps(cases), tolerance=TOLERANCE[package.dtype]),
    }


TEST = """// A test of {name} with numbers, {mark}: node test.js
import * as library from "./{name}.js";

const cases = {cases};
let wrong = 0;
for (const {{ function: name, inputs, outputs }} of cases) {{
    const scales = outputs.map(rows => Math.max(1e-30, ...rows.flat().map(Math.abs)));
    let worst = 0;
    for (let row = 0; row < inputs[0].length; ++row) {{
        const found = outputs.map(rows => new Array(rows[row].length).fill(NaN));
        library[name](...inputs.map(rows => rows[row]), ...found);
        found.forEach((numbers, k) => numbers.forEach((x, i) => {{
            const off = Math.abs(x - outputs[k][row][i]) / scales[k];
            worst = Math.max(worst, off);
            wrong += off <= {tolerance} || (Number.isNaN(x) && Number.isNaN(outputs[k][row][i])) ? 0 : 1;
        }}));
    }}
    console.log(`${{name}}: worst difference ${{worst.toExponential(2)}} of the largest number`);
}}
console.log(wrong ? "WRONG" : "good");
process.exitCode = wrong ? 1 : 0;
"""
