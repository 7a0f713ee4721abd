// The arm as texts to take away: Python, CSV, and the part of an address after #.

function literal(x) {
    return Object.is(x, -0) ? "0.0" : Number.isInteger(x) && Math.abs(x) < 1e15 ? `${x}.0` : String(x);
}

function pythonOf(state, arm) {
    const tuple = (numbers) => `(${Array.from(numbers, literal).join(", ")})`;
    const lines = state.rows.map((r, k) => {
        const g = arm.geometry[k],
            b = arm.bodies.subarray(10 * k, 10 * k + 10),
            kind = r.kind === "P" ? "prismatic" : "revolute";
        const geometry = [g.theta, g.d, g.a, g.alpha].map(literal).join(", ");
        return (
            `        lw.dh.DHRow(\n            ${geometry}, "${kind}",\n            mass=${literal(b[0])}, com=${tuple(b.subarray(1, 4))},\n` +
            `            inertia=${tuple(b.subarray(4))},\n        ),`
        );
    });
    const n = state.rows.length,
        zeros = `[${Array(n).fill("0.0").join(", ")}]`;
    const payload = arm.payload[0] > 0 ? [`robot = robot.with_payload(${literal(arm.payload[0])}, at="link${n}")`] : [];
    return [
        "import linkwise as lw",
        "",
        `robot = lw.${state.convention}_dh(`,
        "    [  # theta, d, a, alpha; angles in rad, lengths in m",
        ...lines,
        "    ],",
        `    gravity=${tuple(arm.gravity)},`,
        ")",
        ...payload,
        "",
        "dyn = lw.compile(robot)",
        `tau = dyn.inverse_dynamics(${zeros}, ${zeros}, ${zeros})  # q, qd, qdd`,
        "",
    ].join("\n");
}

function csvOf(state) {
    const head = [
        "joint",
        "kind",
        ...COLUMNS.map((name, c) => `${name} [${ANGLES[c] ? state.unit : "m"}]`),
        "mass [kg]",
        "com_x [m]",
        "com_y [m]",
        "com_z [m]",
        ...BODY.slice(4).map((name) => `${name} [kg m2]`),
    ];
    const lines = state.rows.map((r, k) => [
        k + 1,
        r.kind === "P" ? "prismatic" : "revolute",
        ...r.cells.map((text) => String(parse(text))),
        ...r.body.map((text) => String(parse(text))),
    ]);
    return [head, ...lines].map((line) => line.join(",")).join("\n") + "\n";
}

function hashOf(state) {
    const numbers = (values) => values.map((x) => Number(x.toPrecision(6)));
    const rows = state.rows.map((r) => [r.kind, ...r.cells, ...(state.rods ? [] : r.body)]);
    return (
        "#" + encodeURIComponent(JSON.stringify({ ...state, rows, from: numbers(state.from), to: numbers(state.to) }))
    );
}

// The state that an address holds, or null: whoever wrote it, only known words and short texts come through.
function stateOf(hash) {
    try {
        const given = JSON.parse(decodeURIComponent(hash.replace(/^#/, "")));
        const one = (value, known) => {
            if (!known.includes(value)) throw new Error("unknown word");
            return value;
        };
        const text = (value) => String(value).slice(0, LONGEST_TEXT);
        const rods = given.rods !== false;
        const rows = given.rows.slice(0, ROWS).map((r) => ({
            kind: one(r[0], ["R", "P"]),
            cells: COLUMNS.map((_, c) => text(r[1 + c])),
            body: BODY.map((_, c) => (rods ? "0" : text(r[5 + c]))),
        }));
        if (!rows.length) return null;
        const numbers = (values) => rows.map((_, k) => (Number.isFinite(values[k]) ? Number(values[k]) : 0));
        return {
            convention: one(given.convention, ["standard", "modified"]),
            unit: one(given.unit, ["deg", "rad"]),
            rows,
            rods,
            density: text(given.density),
            down: one(given.down, Object.keys(DOWN)),
            pull: text(given.pull),
            payload: text(given.payload),
            law: one(given.law, Object.keys(LAWS)),
            duration: text(given.duration),
            from: numbers(given.from),
            to: numbers(given.to),
        };
    } catch {
        return null;
    }
}
