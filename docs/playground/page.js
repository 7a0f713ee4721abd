// The page: what is typed becomes a state, the state an arm, the arm a drawing, numbers and texts.

const $ = (id) => document.getElementById(id);
const UNITS = { R: ["°", "N m", Math.PI], P: [" m", "N", 0.5] };

const FIRST = "PUMA-like";
let state = stateOf(location.hash) || preset(FIRST); // as it is typed
let good = preset(FIRST),
    arm = meaning(good); // the last one that is free of errors, in texts and numbers: what is shown
let pose = [Float64Array.from(ZERO), ZERO, ZERO]; // q, qd, qdd
let time = 0,
    playing = false,
    held = false,
    last = 0,
    joint = 1; // held: the pose is that of the sliders
const A = new Float64Array(16 * ROWS),
    T = new Float64Array(16 * ROWS);
let drawing = null;
try {
    drawing = new Drawing($("scene"));
} catch (error) {
    $("scene").textContent =
        "This browser cannot draw in three dimensions (WebGL is missing). Numbers are right all the same.";
}
const plot = new Plot($("plot"));

// ---- time

function tick(now) {
    if (!playing) return;
    time = (time + Math.min(0.1, (now - last) / 1000)) % (2 * arm.duration);
    last = now;
    pose = motionAt(good, arm.duration, time);
    show();
    requestAnimationFrame(tick);
}

function play() {
    playing = true;
    held = false;
    last = performance.now();
    $("play").textContent = "Pause";
    requestAnimationFrame(tick);
}

function stop() {
    playing = false;
    $("play").textContent = "Play";
}

// ---- what people do

function bind() {
    $("preset").append(new Option("choose …", ""), ...Object.keys(PRESETS).map((name) => new Option(name, name)));
    $("preset").addEventListener("change", () => {
        if (!$("preset").value) return;
        state = preset($("preset").value);
        time = 0;
        held = false;
        showAll();
    });
    $("down").append(...Object.keys(DOWN).map((name) => new Option(`along ${name.replace("-", "−")}`, name)));
    for (const item of document.querySelectorAll("input[name=convention]"))
        item.addEventListener("change", () => {
            state.convention = item.value;
            showAll();
        });
    for (const item of document.querySelectorAll("input[name=unit]"))
        item.addEventListener("change", () => changeUnit(item.value));
    for (const key of ["pull", "payload", "density", "duration"])
        $(key).addEventListener("input", () => {
            state[key] = $(key).value.slice(0, LONGEST_TEXT);
            update();
        });
    for (const key of ["down", "law"])
        $(key).addEventListener("change", () => {
            state[key] = $(key).value;
            update();
            if (key === "down") fit();
        });
    $("rods").addEventListener("change", () => {
        state.rods = $("rods").checked;
        update();
    });
    $("add").addEventListener("click", () => {
        state.rows.push(
            row(
                "R",
                0,
                0,
                0.2,
                0,
                rod([-0.2, 0, 0], 6).map((x) => short(x, 5)),
            ),
        );
        state.from.push(0);
        state.to.push(Math.PI / 4);
        showAll();
    });
    $("remove").addEventListener("click", () => {
        state.rows.pop();
        state.from.pop();
        state.to.pop();
        showAll();
    });
    $("play").addEventListener("click", () => (playing ? stop() : play()));
    $("time").addEventListener("input", () => {
        stop();
        held = false;
        time = Number($("time").value) * 2 * arm.duration;
        pose = motionAt(good, arm.duration, time);
        show();
    });
    $("start").addEventListener("click", () => {
        state.from = Array.from(pose[0].subarray(0, state.rows.length));
        time = 0;
        held = false;
        update();
    });
    $("end").addEventListener("click", () => {
        state.to = Array.from(pose[0].subarray(0, state.rows.length));
        time = arm.duration;
        held = false;
        update();
    });
    $("frames").addEventListener("change", () => {
        if (drawing) {
            drawing.shown.frames = $("frames").checked;
            show();
        }
    });
    $("trail").addEventListener("change", () => {
        if (drawing) {
            drawing.shown.trail = $("trail").checked;
            showPath();
            show();
        }
    });
    $("fit").addEventListener("click", fit);
    $("matrices").addEventListener("toggle", showMatrices);
    $("python").addEventListener("click", () => take(pythonOf(good, arm), "Python"));
    $("csv").addEventListener("click", () => take(csvOf(good), "Table"));
    $("link").addEventListener("click", () => take(location.href.split("#")[0] + hashOf(good), "Link"));
    window.addEventListener("hashchange", () => {
        const given = stateOf(location.hash);
        if (given) {
            state = given;
            time = 0;
            held = false;
            showAll();
        }
    });
}

function changeUnit(unit) {
    for (const r of state.rows)
        r.cells = r.cells.map((text, c) => {
            const x = parse(text);
            return !ANGLES[c] || Number.isNaN(x) ? text : unit === "deg" ? short(x / DEGREE) : String(x * DEGREE);
        });
    state.unit = unit;
    showAll();
}

async function take(text, what) {
    const box = $("text");
    box.value = text;
    box.hidden = false;
    try {
        await navigator.clipboard.writeText(text);
        $("said").value = `${what} copied.`;
    } catch {
        box.select();
        $("said").value = document.execCommand?.("copy") ? `${what} copied.` : `${what}: copy it from below.`;
    }
}

bind();
if (!location.hash) $("preset").value = FIRST;
accept();
showAll();
setTimeout(() => {
    $("speed").textContent =
        `${Math.round(evaluationsPerSecond(arm) / 1000).toLocaleString("en")},000 torque evaluations a second in this browser.`;
}, 300);
window.playground = {
    get state() {
        return state;
    },
    get arm() {
        return arm;
    },
    get pose() {
        return pose;
    },
    preset,
    meaning,
    motionAt,
    posesOf,
    torquesOf,
    partsOf,
    pythonOf,
    csvOf,
    hashOf,
    stateOf,
    evaluationsPerSecond,
    PRESETS,
    parse,
};
