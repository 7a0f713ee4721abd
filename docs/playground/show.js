// What the page shows of an arm: tables, sliders, problems, torques and matrices.

function element(name, properties = {}, children = []) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

// A number with so many decimals, and no minus before zeros.
function fixed(x, decimals) {
    return x.toFixed(decimals).replace(/^-(0\.?0*)$/, "$1");
}

// ---- controls that follow the state

function cell(text, name, change) {
    const input = element("input", { value: text, maxLength: LONGEST_TEXT, autocomplete: "off", spellcheck: false });
    input.setAttribute("aria-label", name);
    input.dataset.name = name;
    input.addEventListener("input", () => {
        change(input.value);
        update();
    });
    return input;
}

function showTables() {
    $("dh").tBodies[0].replaceChildren(
        ...state.rows.map((r, k) => {
            const kind = element("select", {}, [new Option("R"), new Option("P")]);
            kind.value = r.kind;
            kind.setAttribute("aria-label", `row ${k + 1}, kind`);
            kind.addEventListener("change", () => {
                r.kind = kind.value;
                state.from[k] = state.to[k] = pose[0][k] = 0;
                showAll();
            });
            const cells = r.cells.map((text, c) => {
                const td = element("td", {}, [
                    cell(text, `row ${k + 1}, ${COLUMNS[c]}`, (value) => {
                        r.cells[c] = value;
                    }),
                ]);
                td.classList.toggle("moves", c === (r.kind === "R" ? 0 : 1));
                return td;
            });
            return element("tr", {}, [element("td", { textContent: k + 1 }), element("td", {}, [kind]), ...cells]);
        }),
    );
    $("bodies").tBodies[0].replaceChildren(
        ...state.rows.map((r, k) =>
            element("tr", {}, [
                element("td", { textContent: k + 1 }),
                ...r.body.map((text, c) =>
                    element("td", {}, [
                        cell(text, `link ${k + 1}, ${BODY[c]}`, (value) => {
                            r.body[c] = value;
                        }),
                    ]),
                ),
            ]),
        ),
    );
    document.querySelectorAll(".angle").forEach((item) => {
        item.textContent = state.unit;
    });
    $("formula").textContent =
        state.convention === "standard" ? "T = Rz(θ) Tz(d) Tx(a) Rx(α)" : "T = Rx(α) Tx(a) Rz(θ) Tz(d)";
    $("add").disabled = state.rows.length >= ROWS;
    $("remove").disabled = state.rows.length <= 1;
}

function showJoints() {
    $("joints").replaceChildren(
        ...good.rows.map((r, k) => {
            const range = UNITS[r.kind][2],
                slider = element("input", { type: "range", min: -range, max: range, step: range / 1800 });
            slider.setAttribute("aria-label", `position of joint ${k + 1}`);
            slider.addEventListener("input", () => {
                stop();
                const q = Float64Array.from(pose[0]);
                q[k] = Number(slider.value);
                pose = [q, ZERO, ZERO];
                held = true;
                show();
            });
            return element("label", {}, [
                element("span", { textContent: `q${k + 1}` }),
                slider,
                element("output"),
                element("output", { className: "torque" }),
            ]);
        }),
    );
    joint = Math.min(joint, good.rows.length - 1);
    $("tabs").replaceChildren(
        ...good.rows.map((_, k) => {
            const tab = element("button", { textContent: k + 1 });
            tab.setAttribute("role", "tab");
            tab.addEventListener("click", () => {
                joint = k;
                showTorques();
            });
            return tab;
        }),
    );
}

function showAll() {
    for (const key of ["down", "pull", "payload", "density", "law", "duration"]) $(key).value = state[key];
    $("rods").checked = state.rods;
    for (const key of ["convention", "unit"])
        document.querySelectorAll(`input[name=${key}]`).forEach((item) => {
            item.checked = item.value === state[key];
        });
    showTables();
    update();
    fit();
}

// ---- what follows a change

function update() {
    const next = meaning(state),
        bad = new Set(next.errors.map((e) => e.what));
    for (const input of document.querySelectorAll("#dh input, #bodies input")) {
        input.classList.toggle("bad", bad.has(input.dataset.name));
        input.setAttribute("aria-invalid", bad.has(input.dataset.name));
    }
    for (const [id, what] of [
        ["pull", "gravity"],
        ["payload", "payload"],
        ["density", "mass per metre"],
        ["duration", "duration"],
    ])
        $(id).classList.toggle("bad", bad.has(what));
    [...$("bodies").tBodies[0].rows].forEach((tr, k) =>
        tr.querySelectorAll("input").forEach((input, c) => {
            input.readOnly = state.rods;
            if (state.rods && state.rows[k]) input.value = state.rows[k].body[c];
        }),
    );
    showProblems(next);
    if (next.errors.length) return; // the arm stays as it was
    good = structuredClone(state);
    arm = next;
    try {
        history.replaceState(null, "", hashOf(good));
    } catch {
        /* a page inside of another may not */
    }
    accept();
}

// Show the arm that is good.
function accept() {
    showJoints();
    drawing?.build(good, arm);
    time = Math.min(time, 2 * arm.duration);
    if (!held) pose = motionAt(good, arm.duration, time);
    pose[0].fill(0, arm.n);
    showPath();
    showTorques();
    show();
}

function showProblems({ errors, warnings }) {
    const units = new Map(warnings.filter((w) => w.unit).map((w) => [w.unit, w]));
    $("problems").replaceChildren(
        ...errors.map((e) => element("li", { className: "error", textContent: e.text })),
        ...warnings
            .filter((w) => !w.unit || units.get(w.unit) === w)
            .map((w) => {
                const item = element("li", { className: "warning", textContent: `${w.text} ` });
                if (w.unit) {
                    const button = element("button", {
                        textContent: w.unit === "deg" ? "They are degrees" : "They are radians",
                    });
                    button.addEventListener("click", () => {
                        state.unit = w.unit;
                        showAll();
                    });
                    item.append(button);
                }
                return item;
            }),
    );
}

// Origins of all frames along the motion, x, y, z after one another.
function origins(first) {
    const points = [];
    for (let k = 0; k <= 60; ++k) {
        posesOf(arm, motionAt(good, arm.duration, (arm.duration * k) / 60)[0], A, T);
        for (let i = first; i < arm.n; ++i) points.push(T[16 * i + 3], T[16 * i + 7], T[16 * i + 11]);
    }
    return points;
}

function showPath() {
    drawing?.path(origins(arm.n - 1));
}

function fit() {
    drawing?.fit([0, 0, 0, ...origins(0)]);
    show();
}

function showTorques() {
    const count = 200,
        times = [],
        parts = PARTS.map(() => new Float64Array(count + 1));
    for (let k = 0; k <= count; ++k) {
        times.push((2 * arm.duration * k) / count);
        partsOf(arm, ...motionAt(good, arm.duration, times[k])).forEach((tau, p) => {
            parts[p][k] = tau[joint];
        });
    }
    const unit = UNITS[good.rows[joint].kind][1],
        most = Math.max(...parts.map((p) => Math.max(...p.map(Math.abs))));
    plot.show({ times, parts, unit });
    plot.at(time);
    $("legend").replaceChildren(
        ...PARTS.map((name, p) => {
            const peak = parts[p].reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0),
                line = shape("svg", {});
            line.append(shape("line", { x1: 0, x2: 20, y1: 4, y2: 4, class: `part${p}` }));
            return element("span", {}, [
                line,
                `${name}, peak ${Math.abs(peak) > 1e-9 * most ? peak.toPrecision(3) : 0} ${unit}`,
            ]);
        }),
    );
    [...$("tabs").children].forEach((tab, k) => tab.setAttribute("aria-selected", k === joint));
}

function show() {
    const [q, qd, qdd] = pose,
        tau = torquesOf(arm, q, qd, qdd, new Float64Array(ROWS));
    posesOf(arm, q, A, T);
    drawing?.move(T);
    drawing?.draw();
    [...$("joints").children].forEach((label, k) => {
        const [, slider, position, torque] = label.children,
            [unit, force] = UNITS[good.rows[k].kind];
        if (document.activeElement !== slider || playing) slider.value = q[k];
        position.value =
            good.rows[k].kind === "P"
                ? `${fixed(q[k], 3)} m`
                : state.unit === "deg"
                  ? `${fixed(q[k] / DEGREE, 1)}${unit}`
                  : `${fixed(q[k], 3)} rad`;
        torque.value = `${fixed(tau[k], Math.abs(tau[k]) < 10 ? 2 : 1)} ${force}`;
    });
    $("time").value = time / (2 * arm.duration);
    $("clock").value = `${time.toFixed(2)} of ${(2 * arm.duration).toFixed(2)} s`;
    plot.at(time);
    if ($("matrices").open) showMatrices();
}

function showMatrices() {
    const line = (values) =>
        element(
            "tr",
            {},
            Array.from(values, (x) => element("td", { textContent: fixed(x, 4) })),
        );
    const matrix = (values, caption) =>
        element("figure", {}, [
            element("figcaption", { textContent: caption }),
            element("table", {}, [
                element(
                    "tbody",
                    {},
                    [0, 4, 8, 12].map((i) => line(values.subarray(i, i + 4))),
                ),
            ]),
        ]);
    const whole = matrix(T.subarray(16 * (arm.n - 1)), `T of frame ${arm.n} in the base`);
    $("grid").replaceChildren(
        ...good.rows.map((_, k) => matrix(A.subarray(16 * k), `row ${k + 1}: frame ${k + 1} in frame ${k}`)),
        whole,
    );
}
