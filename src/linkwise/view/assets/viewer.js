// What scripts of a page can ask: `window.linkwise`.

/** Options from the part of an address after #, such as t=1.2&panel=0&autoplay=1&orbit=1. */
function optionsOf(text) {
  const found = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const number = Number(value);
    if (key === 'theme') found[key] = value;
    else if (key === 't' || key === 'speed') found[key] = Number.isFinite(number) ? number : undefined;
    else found[key] = number !== 0;
  }
  return found;
}

const views = [];
const whenReady = {};
const ready = new Promise((resolve, reject) => Object.assign(whenReady, { resolve, reject }));
const first = () => views[0];

window.linkwise = {
  kinematics: {},
  views,
  /** Settled once the first view of the page is there. */
  ready,
  /** Show a payload in an element; a promise of the view. */
  async mount(element, payload, options = {}) {
    const view = new View(element, options);
    views.push(view);
    const loading = view.load(payload);
    if (views.length === 1) loading.then(whenReady.resolve, whenReady.reject);
    return loading;
  },
  options: optionsOf,
  poses: (t) => first().poses(t),
  time: () => first().time,
  seek: (t) => first().seek(t),
  play: () => first().play(),
  pause: () => first().pause(),
  setJoint: (name, value) => first().setJoint(name, value),
  get frames() {
    return first()?.frames ?? 0;
  },
};
ready.catch(() => {}); // whoever awaits it is told
