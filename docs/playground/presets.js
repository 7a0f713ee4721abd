// Arms to begin with: angles in degrees, lengths in metres, and two poses between which they move.

function row(kind, theta, d, a, alpha, body = null) {
    return { kind, cells: [theta, d, a, alpha].map(String), body: body || BODY.map(() => "0") };
}

const PRESETS = {
    "Two links": {
        convention: "standard",
        down: "-y",
        from: [-60, 30],
        to: [60, 60],
        rows: [
            ["R", 0, 0, 0.5, 0],
            ["R", 0, 0, 0.4, 0],
        ],
    },
    SCARA: {
        convention: "standard",
        down: "-z",
        from: [-20, 80, 0, 0],
        to: [60, 40, 0.15, 120],
        rows: [
            ["R", 0, 0.4, 0.35, 0],
            ["R", 0, 0, 0.3, 180],
            ["P", 0, 0.1, 0, 0],
            ["R", 0, 0.05, 0, 0],
        ],
    },
    "Stanford arm": {
        convention: "standard",
        down: "-z",
        from: [-40, -60, 0, 0, -40, 0],
        to: [60, -100, 0.25, 90, 40, 90],
        rows: [
            ["R", 0, 0.412, 0, -90],
            ["R", 0, 0.154, 0, 90],
            ["P", -90, 0.45, 0, 0],
            ["R", 0, 0, 0, -90],
            ["R", 0, 0, 0, 90],
            ["R", 0, 0.263, 0, 0],
        ],
    },
    "PUMA-like": {
        convention: "standard",
        down: "-z",
        from: [85, 75, -140, 0, 30, 0],
        to: [0, 40, -110, 60, 50, 90],
        rows: [
            ["R", 0, 0.67, 0, 90],
            ["R", 0, 0, 0.4318, 0],
            ["R", 0, 0.15, 0.0203, -90],
            ["R", 0, 0.4318, 0, 90],
            ["R", 0, 0, 0, -90],
            ["R", 0, 0.1, 0, 0],
        ],
    },
    "UR-like": {
        convention: "standard",
        down: "-z",
        from: [-30, -90, 80, -80, -90, 0],
        to: [60, -60, 50, -80, -90, 90],
        rows: [
            ["R", 0, 0.0892, 0, 90],
            ["R", 0, 0, -0.425, 0],
            ["R", 0, 0, -0.3922, 0],
            ["R", 0, 0.1092, 0, 90],
            ["R", 0, 0.0947, 0, -90],
            ["R", 0, 0.0823, 0, 0],
        ],
    },
    "Elbow (modified)": {
        convention: "modified",
        down: "-z",
        from: [85, 70, 20, 0, 30, 0],
        to: [0, 40, 50, 60, 60, 90],
        rows: [
            ["R", 0, 0.4, 0, 0],
            ["R", 0, 0, 0, 90],
            ["R", 0, 0, 0.45, 0],
            ["R", 0, 0.4, 0.05, 90],
            ["R", 0, 0, 0, -90],
            ["R", 0, 0.1, 0, 90],
        ],
    },
};

function preset(name) {
    const p = PRESETS[name];
    const rows = p.rows.map((cells) => row(...cells));
    const si = (values) => values.map((x, k) => (rows[k].kind === "R" ? x * DEGREE : x));
    return {
        convention: p.convention,
        unit: "deg",
        rows,
        rods: true,
        density: "6",
        down: p.down,
        pull: "9.81",
        payload: "0",
        law: "quintic",
        duration: "1",
        from: si(p.from),
        to: si(p.to),
    };
}
