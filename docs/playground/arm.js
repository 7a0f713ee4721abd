// The arm: a table of texts, what they mean in numbers, and how it moves. Nothing here knows of the page.

const ROWS = 6;
const DEGREE = Math.PI / 180;
const COLUMNS = ["theta", "d", "a", "alpha"];
const ANGLES = [true, false, false, true];
const BODY = ["mass", "x", "y", "z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"];
const DOWN = {
    "-z": [0, 0, -1],
    "+z": [0, 0, 1],
    "-y": [0, -1, 0],
    "+y": [0, 1, 0],
    "-x": [-1, 0, 0],
    "+x": [1, 0, 0],
};
const RADIUS = 0.03; // m, of the rods that links are unless they have numbers of their own
const LONGEST_TEXT = 40;
const MOST = 1e6; // of any number
const HEAVIEST = 1e30; // of masses and inertias, such as those of rods of that length

// A number as people write it: 0.35, 1e-3, pi/2, -2*pi/3, 0,35; NaN for anything else.
function parse(text) {
    let rest = String(text).trim().toLowerCase().replace(/π/g, "pi").replace(/−/g, "-");
    if (/^[+-]?\d*,\d+$/.test(rest)) rest = rest.replace(",", ".");
    const [, sign, product] = /^([+-]?)\s*(.*)$/s.exec(rest);
    let value = 1;
    for (const part of `*${product}`.split(/(?=[*/])/)) {
        const [, op, number, pi] =
            /^([*/])\s*(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)?\s*(pi)?\s*$/.exec(part) || [];
        if (number === undefined && pi === undefined) return NaN;
        const factor = (number === undefined ? 1 : Number(number)) * (pi ? Math.PI : 1);
        value = op === "/" ? value / factor : value * factor;
    }
    value = sign === "-" ? -value : value;
    return Number.isFinite(value) ? value : NaN;
}

// The shortest text of a number that has few digits, as angles in degrees are meant to have.
function short(x, digits = 12) {
    return String(Number(x.toPrecision(digits)));
}

function angleOf(text, unit) {
    return unit === "deg" ? parse(text) * DEGREE : parse(text);
}

// ---- rods

// A rod from one point to another: mass, centre, inertia about it. Without a length it is a ball.
function rod(p, density) {
    const length = Math.hypot(...p),
        m = density * Math.max(length, 0.1),
        r2 = RADIUS * RADIUS;
    const across = length ? (m * (3 * r2 + length * length)) / 12 : 0.4 * m * r2,
        along = length ? (m * r2) / 2 : across;
    const u = length ? p.map((x) => x / length) : [0, 0, 0];
    const I = (i, j) => (i === j ? across : 0) + (along - across) * u[i] * u[j];
    return [m, p[0] / 2, p[1] / 2, p[2] / 2, I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2)];
}

// Rods for all links: in the standard convention from the joint before a link's frame, in the modified one to the next.
function rods(state, geometry, density) {
    return geometry.map((g, k) => {
        const next = geometry[k + 1];
        let p = [0, 0, 0];
        if (state.convention === "standard") p = [-g.a, -g.d * Math.sin(g.alpha), -g.d * Math.cos(g.alpha)];
        else if (next) p = [next.a, -next.d * Math.sin(next.alpha), next.d * Math.cos(next.alpha)];
        return rod(p, density).map((x) => (Math.abs(x) < 1e-12 ? "0" : short(x, 5)));
    });
}

// ---- from texts to numbers

// The numbers of a state as the kernels take them, with what is wrong or doubtful about them, in words.
function meaning(state) {
    const errors = [],
        warnings = [];
    const number = (text, what, least = -MOST, most = MOST) => {
        const x = parse(text);
        if (Number.isNaN(x))
            errors.push({ what, text: `${what}: expected a number such as 0.35 or pi/2, got “${text}”.` });
        else if (x < least || x > most)
            errors.push({ what, text: `${what}: expected ${least} to ${most}, got ${text}.` });
        return x;
    };
    const geometry = state.rows.map((r, k) => {
        const [theta, d, a, alpha] = r.cells.map(
            (text, c) => number(text, `row ${k + 1}, ${COLUMNS[c]}`) * (ANGLES[c] && state.unit === "deg" ? DEGREE : 1),
        );
        return { theta, d, a, alpha, sigma: r.kind === "P" ? 1 : 0 };
    });
    const density = number(state.density, "mass per metre", 0);
    if (state.rods && !errors.length)
        rods(state, geometry, density).forEach((body, k) => {
            state.rows[k].body = body;
        });
    const table = new Float64Array(7 * ROWS),
        bodies = new Float64Array(10 * ROWS);
    geometry.forEach((g, k) => {
        const side =
            state.convention === "modified" ? [g.alpha, g.a, g.theta, g.d, 0, 0] : [0, 0, g.theta, g.d, g.a, g.alpha];
        table.set([...side, g.sigma], 7 * k);
        bodies.set(
            state.rows[k].body.map((text, c) => number(text, `link ${k + 1}, ${BODY[c]}`, c ? -HEAVIEST : 0, HEAVIEST)),
            10 * k,
        );
    });
    const pull = number(state.pull, "gravity", 0);
    const gravity = Float64Array.from(DOWN[state.down], (x) => x * pull);
    const payload = Float64Array.of(number(state.payload, "payload", 0), 0, 0, 0);
    const duration = number(state.duration, "duration", 0.05);
    if (!errors.length) doubts(state, geometry, bodies, warnings);
    const n = state.rows.length,
        reach = Math.max(
            0.05,
            geometry.reduce((sum, g) => sum + Math.abs(g.a) + Math.abs(g.d), 0),
        );
    return { n, table, bodies, gravity, payload, duration, geometry, reach, errors, warnings };
}

// Numbers that are probably meant otherwise.
function doubts(state, geometry, bodies, warnings) {
    state.rows.forEach((r, k) => {
        r.cells.forEach((text, c) => {
            const x = Math.abs(parse(text)),
                where = `Row ${k + 1}: ${COLUMNS[c]} = ${text}`;
            if (ANGLES[c] && state.unit === "rad" && x > 2 * Math.PI + 1e-9)
                warnings.push({ text: `${where} rad is more than a turn. Are angles in degrees?`, unit: "deg" });
            const turns = x / (Math.PI / 2);
            if (ANGLES[c] && state.unit === "deg" && x > 1 && Math.abs(turns - Math.round(turns)) < 1e-3)
                warnings.push({ text: `${where}° looks like radians. Are angles in radians?`, unit: "rad" });
            if (!ANGLES[c] && x > 20) warnings.push({ text: `${where} m is very long. Lengths are in metres.` });
        });
        const I = bodies.subarray(10 * k + 4, 10 * k + 10);
        if (!possible(...I))
            warnings.push({
                text: `Link ${k + 1}: no body has this inertia; moments about two axes must exceed the third.`,
            });
    });
    if (!bodies.some((x, k) => k % 10 === 0 && x > 0))
        warnings.push({ text: "No link has a mass, so all torques are zero but those of the payload." });
}

// Whether a body can have these moments: half the trace minus the tensor must not be negative in any direction.
function possible(xx, xy, xz, yy, yz, zz) {
    const h = (xx + yy + zz) / 2,
        [a, b, c, d, e, f] = [h - xx, -xy, -xz, h - yy, -yz, h - zz],
        eps = 1e-3 * Math.abs(h);
    const determinant = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
    return (
        a >= -eps &&
        d >= -eps &&
        f >= -eps &&
        a * d - b * b >= -eps * eps &&
        a * f - c * c >= -eps * eps &&
        d * f - e * e >= -eps * eps &&
        determinant >= -eps * eps * eps
    );
}

// ---- motion

// How far from start (0) to end (1), with two derivatives, at a time within a period, which leads there and back.
const LAWS = {
    quintic: (t, T) => {
        const back = t > T,
            s = Math.min(1, Math.max(0, (back ? t - T : t) / T)),
            sign = back ? -1 : 1;
        const y = s * s * s * (10 + s * (6 * s - 15)),
            v = (30 * s * s * (1 - s) * (1 - s)) / T;
        return [back ? 1 - y : y, sign * v, (sign * 60 * s * (1 - s) * (1 - 2 * s)) / (T * T)];
    },
    sine: (t, T) => {
        const w = Math.PI / T;
        return [(1 - Math.cos(w * t)) / 2, (w * Math.sin(w * t)) / 2, (w * w * Math.cos(w * t)) / 2];
    },
};

function motionAt(state, duration, t) {
    const [y, v, a] = LAWS[state.law](t, duration);
    const along = (f) =>
        Float64Array.from({ length: ROWS }, (_, k) => (k < state.rows.length ? f(state.from[k], state.to[k]) : 0));
    return [along((p, q) => p + y * (q - p)), along((p, q) => v * (q - p)), along((p, q) => a * (q - p))];
}

// ---- the kernels

const ZERO = new Float64Array(ROWS),
    WEIGHTLESS = new Float64Array(3);

function posesOf(arm, q, A, T) {
    frames(arm.table, q, A, T);
}

function torquesOf(arm, q, qd, qdd, tau, gravity = arm.gravity) {
    torques(arm.table, arm.bodies, arm.payload, gravity, q, qd, qdd, tau);
    return tau;
}

// Total, inertia, Coriolis and gravity parts of the torques.
function partsOf(arm, q, qd, qdd) {
    const out = () => new Float64Array(ROWS);
    return [
        torquesOf(arm, q, qd, qdd, out()),
        torquesOf(arm, q, ZERO, qdd, out(), WEIGHTLESS),
        torquesOf(arm, q, qd, ZERO, out(), WEIGHTLESS),
        torquesOf(arm, q, ZERO, ZERO, out()),
    ];
}

function evaluationsPerSecond(arm, milliseconds = 40) {
    const q = Float64Array.from(ZERO),
        tau = new Float64Array(ROWS);
    let count = 0;
    const end = performance.now() + milliseconds,
        start = performance.now();
    while (performance.now() < end) {
        for (let k = 0; k < 100; ++k) {
            q[0] += 1e-6;
            torquesOf(arm, q, q, q, tau);
        }
        count += 100;
    }
    return count / ((performance.now() - start) / 1000);
}
