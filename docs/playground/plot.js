// Torques over time, as lines of SVG: the total and its three parts.

const PARTS = ["total", "inertia", "Coriolis", "gravity"];
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
}

// Round numbers between two, a few of them.
function ticks(low, high, count = 5) {
    const raw = (high - low) / count,
        power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw * 0.999);
    const found = [];
    for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step)
        found.push(Math.abs(x) < 1e-9 * step ? 0 : x);
    return found;
}

class Plot {
    constructor(svg) {
        this.svg = svg;
        this.box = { left: 52, right: 12, top: 10, bottom: 30 };
        new ResizeObserver(() => this.data && this.show(this.data)).observe(svg);
    }

    // times, and for each part one number a time; unit names the force's.
    show(data) {
        this.data = data;
        const { times, parts, unit } = data,
            { left, right, top, bottom } = this.box;
        const w = this.svg.clientWidth || 500,
            h = this.svg.clientHeight || 220;
        let low = Math.min(0, ...parts.flatMap((p) => Array.from(p))),
            high = Math.max(0, ...parts.flatMap((p) => Array.from(p)));
        if (high - low < 1e-9) [low, high] = [low - 1, high + 1];
        const margin = 0.06 * (high - low),
            end = times[times.length - 1];
        [low, high] = [low - margin, high + margin];
        const x = (this.x = (t) => left + ((w - left - right) * t) / end),
            y = (v) => top + ((h - top - bottom) * (high - v)) / (high - low);
        const items = [];
        for (const v of ticks(low, high, Math.max(2, Math.round(h / 48)))) {
            items.push(
                shape("line", { x1: left, x2: w - right, y1: y(v), y2: y(v), class: v === 0 ? "zero" : "rule" }),
            );
            items.push(shape("text", { x: left - 6, y: y(v) + 4, class: "end" }, String(Number(v.toPrecision(6)))));
        }
        for (const t of ticks(0, end, Math.max(3, Math.round(w / 90))))
            items.push(
                shape("text", { x: x(t), y: h - bottom + 15, class: "middle" }, String(Number(t.toPrecision(6)))),
            );
        items.push(shape("text", { x: w - right, y: h - 2, class: "end" }, "time, s"));
        items.push(
            shape(
                "text",
                { x: 0, y: 0, class: "middle", transform: `translate(11 ${(top + h - bottom) / 2}) rotate(-90)` },
                unit,
            ),
        );
        [...parts.keys()].reverse().forEach((k) => {
            // the total on top
            const p = parts[k];
            const points = Array.from(p, (v, i) => `${x(times[i]).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
            items.push(shape("polyline", { points, class: `part${k}` }));
        });
        this.cursor = shape("line", { y1: top, y2: h - bottom, class: "cursor" });
        this.svg.replaceChildren(...items, this.cursor);
        this.svg.setAttribute("viewBox", `0 0 ${w} ${h}`);
        this.at(this.time || 0);
    }

    at(t) {
        this.time = t;
        if (!this.cursor) return;
        this.cursor.setAttribute("x1", this.x(t));
        this.cursor.setAttribute("x2", this.x(t));
    }
}
