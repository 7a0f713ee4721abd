// Curves over time, with a cursor where the motion is.

const MARGIN = { left: 46, right: 12, top: 10, bottom: 20 };
const MOST_LINES = 60;

class Plots {
  constructor(element, motion, seek) {
    this.motion = motion;
    this.hidden = new Set();
    const field = make('div', 'lw-field', element);
    this.canvas = make('canvas', 'lw-curves', field);
    this.pointer = make('div', 'lw-cursor', field);
    this.legend = make('div', 'lw-legend', element);
    this.choose(motion.curves[0]);
    const drag = (event) => {
      if (event.buttons !== 1) return;
      const box = this.canvas.getBoundingClientRect();
      const x = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
      seek(this.start + Math.max(0, Math.min(1, x)) * (this.end - this.start));
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.canvas.addEventListener('pointermove', drag);
  }

  get start() {
    return this.motion.t[0];
  }

  get end() {
    return this.motion.t[this.motion.t.length - 1];
  }

  /** Show another quantity. */
  choose(curve) {
    this.curve = curve;
    this.legend.replaceChildren();
    this.values = curve.names.slice(0, MOST_LINES).map((name, k) => {
      const chip = make('button', 'lw-chip', this.legend);
      chip.type = 'button';
      make('i', '', chip).style.background = curve.colours[k];
      make('span', '', chip).textContent = name;
      const value = make('b', '', chip);
      const key = `${curve.key} ${name}`;
      chip.classList.toggle('lw-off', this.hidden.has(key));
      chip.addEventListener('click', () => {
        if (!this.hidden.delete(key)) this.hidden.add(key);
        chip.classList.toggle('lw-off', this.hidden.has(key));
        this.draw();
      });
      return value;
    });
    this.draw();
  }

  /** Lines, once for each size and choice. */
  draw() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!width || !height) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.canvas);
    pen.font = `10px ${style.fontFamily}`;
    const [low, high] = this.range();
    const x = (t) => MARGIN.left + ((t - this.start) / (this.end - this.start || 1)) * (width - MARGIN.left - MARGIN.right);
    const y = (v) => height - MARGIN.bottom - ((v - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);
    this.scale = x;
    pen.strokeStyle = style.getPropertyValue('--lw-rule');
    pen.fillStyle = style.getPropertyValue('--lw-faint');
    pen.lineWidth = 1;
    pen.textAlign = 'right';
    for (const v of ticks(low, high, Math.max(2, height / 34))) {
      line(pen, [[MARGIN.left, y(v)], [width - MARGIN.right, y(v)]]);
      pen.fillText(short(v), MARGIN.left - 6, y(v) + 3);
    }
    pen.textAlign = 'center';
    for (const t of ticks(this.start, this.end, Math.max(2, width / 90))) {
      line(pen, [[x(t), height - MARGIN.bottom], [x(t), height - MARGIN.bottom + 4]]);
      pen.fillText(short(t), x(t), height - 5);
    }
    pen.lineWidth = 1.5;
    pen.lineJoin = 'round';
    this.each((column, colour) => {
      pen.strokeStyle = colour;
      line(pen, this.points(column, x, y, width));
    });
  }

  each(visit) {
    const { names, colours, key } = this.curve;
    names.slice(0, MOST_LINES).forEach((name, k) => this.hidden.has(`${key} ${name}`) || visit(k, colours[k]));
  }

  range() {
    const { values, names } = this.curve;
    let low = Infinity;
    let high = -Infinity;
    this.each((column) => {
      for (let k = column; k < values.length; k += names.length) {
        if (values[k] < low) low = values[k];
        if (values[k] > high) high = values[k];
      }
    });
    if (!(high >= low)) return [-1, 1];
    const room = 0.06 * (high - low) || Math.max(1e-3, 0.1 * Math.abs(high));
    return [low - room, high + room];
  }

  /** Points of a line: of many in one pixel, the lowest and the highest. */
  points(column, x, y, width) {
    const { values, names } = this.curve;
    const { t } = this.motion;
    const every = Math.max(1, Math.floor(t.length / (2 * width)));
    const found = [];
    for (let r = 0; r < t.length; r += every) {
      let [low, high] = [r, r];
      for (let k = r + 1; k < Math.min(r + every, t.length); k++) {
        if (values[k * names.length + column] < values[low * names.length + column]) low = k;
        if (values[k * names.length + column] > values[high * names.length + column]) high = k;
      }
      for (const k of low === high ? [r] : [low, high].sort((a, b) => a - b)) {
        found.push([x(t[k]), y(values[k * names.length + column])]);
      }
    }
    return found;
  }

  /** Move the cursor. */
  cursor(time) {
    if (!this.scale) return;
    this.pointer.style.transform = `translateX(${this.scale(time)}px)`;
  }

  /** Say the values at a row, or between two. */
  tell(row, share) {
    const { values, names, key } = this.curve;
    this.values.forEach((element, k) => {
      const text = mixed(values, row, names.length, k, share).toFixed(key === 'tau' ? 1 : 3);
      if (element.textContent !== text) element.textContent = text;
    });
  }
}

function line(pen, points) {
  pen.beginPath();
  points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

/** Round numbers between two, about so many. */
function ticks(low, high, count) {
  const step = roundNumber(((high - low) / count) * 1.6 || 1);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** A new element within another. */
function make(tag, name, parent) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  parent?.append(element);
  return element;
}
