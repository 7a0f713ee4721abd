// What is beside the picture: title, sliders, switches, timeline.

const ICONS = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z',
  panel: 'M4 6h16v2H4zM4 11h16v2H4zM4 16h16v2H4z',
  plots: 'M4 19h16v1.6H3V4h1.6v12l4.2-5 4 3.2L19 6.6l1.2 1-7.2 8.7-4-3.2L4 18.4z',
  home: 'M12 4l9 7.6-1.2 1.4L18 11.6V20h-5v-5h-2v5H6v-8.4L4.2 13 3 11.6z',
  loop: 'M7 7h9V4l5 4.5L16 13v-3H8v4H5V9q0-2 2-2zM17 17H8v3l-5-4.5L8 11v3h8v-4h3v5q0 2-2 2z',
};
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const STEPS = 1000;

function icon(button, name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  button.replaceChildren(svg);
}

function iconButton(parent, name, title, act) {
  const button = make('button', 'lw-icon', parent);
  button.type = 'button';
  button.title = title;
  button.setAttribute('aria-label', title);
  icon(button, name);
  button.addEventListener('click', act);
  return button;
}

/** Name of the robot, and what is to be said of it. */
function titleBlock(root, head) {
  const block = make('div', 'lw-title', root);
  make('h1', '', block).textContent = head.title;
  const joints = head.axes.length;
  const count = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
  make('p', '', block).textContent = `${count(head.links.length, 'link')}, ${count(joints, 'moving joint')}`;
  if (head.notes.length) {
    const notes = make('details', 'lw-notes', block);
    make('summary', '', notes).textContent = count(head.notes.length, 'note');
    for (const note of head.notes) make('div', '', notes).textContent = note;
  }
}

/** Sliders of all coordinates; `set(slider, value)` is called as they move. */
function sliderBlock(parent, head, set, reset) {
  const block = section(parent, 'Joints');
  const list = make('div', 'lw-list', block);
  const rows = head.sliders.map((slider) => {
    const row = make('label', 'lw-slider', list);
    const name = make('span', 'lw-name', row);
    make('i', '', name).style.background = slider.colour;
    make('span', '', name).textContent = slider.name;
    const value = make('output', '', row);
    const range = make('input', '', row);
    Object.assign(range, { type: 'range', min: slider.lower, max: slider.upper, step: 'any' });
    row.title = `${amount(slider, slider.lower)} to ${amount(slider, slider.upper)}`;
    range.addEventListener('input', () => set(slider, Number(range.value)));
    return { slider, range, value };
  });
  const button = make('button', 'lw-wide', block);
  button.type = 'button';
  button.textContent = 'Back to start';
  button.addEventListener('click', reset);
  const show = (q) => {
    for (const { slider, range, value } of rows) {
      const x = slider.turn < 0 ? q[slider.at] : anglesAt(q, slider.at)[slider.turn];
      range.value = x;
      const text = amount(slider, x);
      if (value.textContent !== text) value.textContent = text;
    }
  };
  return { show };
}

/** A number of a slider for people: metres or degrees. */
function amount(slider, x) {
  return slider.slides ? `${x.toFixed(3)} m` : `${((x * 180) / Math.PI).toFixed(1)}°`;
}

function section(parent, title, open = true) {
  const block = make('details', 'lw-section', parent);
  block.open = open;
  make('summary', '', block).textContent = title;
  return make('div', 'lw-body', block);
}

/** A switch with a word or two of explanation. */
function toggle(parent, title, on, act, remark = '') {
  const label = make('label', 'lw-toggle', parent);
  const box = make('input', '', label);
  box.type = 'checkbox';
  box.checked = on;
  make('span', '', label).textContent = title;
  if (remark) make('small', '', label).textContent = remark;
  box.addEventListener('change', () => act(box.checked));
  act(on);
  return box;
}

/** Play, time, speed. */
class Timeline {
  constructor(root, view) {
    this.view = view;
    this.bar = make('div', 'lw-time', root);
    this.button = iconButton(this.bar, 'play', 'Play or pause (space)', () => view.toggle());
    this.range = make('input', 'lw-scrub', this.bar);
    Object.assign(this.range, { type: 'range', min: 0, max: STEPS, step: 'any', value: 0 });
    this.range.setAttribute('aria-label', 'Time');
    this.range.addEventListener('input', () => {
      view.pause();
      view.seek(view.samples.start + (this.range.value / STEPS) * (view.samples.end - view.samples.start));
    });
    this.clock = make('span', 'lw-clock', this.bar);
    const speed = make('select', 'lw-speed', this.bar);
    speed.setAttribute('aria-label', 'Speed');
    for (const s of SPEEDS) {
      const option = make('option', '', speed);
      option.value = s;
      option.textContent = `${s}×`;
      option.selected = s === view.speed;
    }
    speed.addEventListener('change', () => {
      view.speed = Number(speed.value);
    });
    this.loop = iconButton(this.bar, 'loop', 'Repeat', () => {
      view.repeats = !view.repeats;
      this.loop.classList.toggle('lw-on', view.repeats);
    });
    this.loop.classList.toggle('lw-on', view.repeats);
  }

  show(time, plays) {
    const { start, end } = this.view.samples;
    this.range.value = STEPS * ((time - start) / (end - start || 1));
    const text = this.view.head.motion.timed ? `${time.toFixed(2)} s` : `row ${Math.round(time) + 1}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    if (this.plays !== plays) {
      this.plays = plays;
      icon(this.button, plays ? 'pause' : 'play');
    }
  }
}
