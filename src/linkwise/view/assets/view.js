// A view of a robot in an element of a page.

const MOST_OPEN = 8; // contexts of WebGL; browsers close the oldest of more than sixteen
const TELLING = 120; // ms between two sights of numbers while the robot moves: letters cost more than links
const FRAMED = 40; // instants of a motion that have to fit into the picture
const open = [];

class View {
  constructor(element, options) {
    this.options = options;
    this.root = make('div', 'linkwise-view', element);
    this.root.tabIndex = 0;
    this.frames = 0;
    this.speed = options.speed ?? 1;
    this.repeats = options.loop ?? true;
    this.rested = 0;
    this.plays = false;
    this.seen = true;
  }

  async load(text) {
    try {
      [this.head] = await Promise.all([unpacked(text), library()]);
      this.kinematics = kinematicsOf(this.head);
      this.build();
    } catch (error) {
      const message = make('p', 'lw-error', this.root);
      message.textContent = `This view cannot be shown: ${error.message}`;
      throw error;
    }
    return this;
  }

  build() {
    const { head, root, options } = this;
    this.samples = new Samples(head, head.motion);
    this.beside = head.ghost && new Samples(head, head.ghost);
    this.q = new Float64Array(head.nq);
    const isFine = options.fine ?? !drawsBySoftware();
    this.stage = new Stage(head.up, head.size, isFine, options.from);
    const solids = head.solids.map(geometryOf);
    this.machine = new Machine(head, solids, isFine);
    this.stage.scene.add(this.machine.group);
    if (this.beside) {
      this.ghost = new Machine(head, solids, isFine, true);
      this.stage.scene.add(this.ghost.group);
    }
    const side = options.panel ?? (!head.compact && root.clientWidth > 720);
    root.classList.toggle('lw-compact', head.compact);
    root.classList.toggle('lw-folded', !side);
    this.canvas = make('canvas', 'lw-canvas', root);
    this.stage.open(this.canvas);
    open.push(this);
    titleBlock(root, head);
    this.message = make('div', 'lw-message', root);
    this.tip = make('div', 'lw-tip', root);
    this.dress();
    this.moveTo(Math.min(Math.max(options.t ?? this.samples.start, this.samples.start), this.samples.end));
    this.stage.paint(this.theme());
    this.resize();
    this.stage.frame(this.extent());
    this.listen();
    if (options.autoplay && head.motion) this.play();
    this.draw();
  }

  /** Panel, switches, timeline and plots. */
  dress() {
    const { head, root, stage, machine, options } = this;
    const buttons = make('div', 'lw-buttons', root);
    iconButton(buttons, 'home', 'Whole robot', () => {
      stage.frame(this.extent());
      this.touch();
    });
    if (head.motion) {
      iconButton(buttons, 'plots', 'Plots', () => this.showPlots(root.classList.contains('lw-flat')));
    }
    iconButton(buttons, 'panel', 'Joints and options', () => {
      root.classList.toggle('lw-folded');
      this.resize();
      this.touch();
    });
    const panel = make('div', 'lw-panel', root);
    const set = (slider, value) => this.choose(slider, value);
    this.sliders = sliderBlock(panel, head, set, () => this.seek(this.samples.start));
    const show = section(panel, 'Show');
    const also = (title, on, parts, remark) =>
      toggle(show, title, on, (x) => {
        for (const part of parts) part.visible = x;
        this.touch();
      }, remark);
    also('Ground', options.ground ?? true, [{ set visible(x) { if (stage.ground) stage.ground.visible = x; } }]);
    toggle(show, 'Shadows', options.shadows ?? stage.isFine, (x) => {
      stage.setShadows(x);
      this.touch();
    });
    also('Frames', options.frames ?? false, triads(machine, head.size), 'x red, y green, z blue');
    also('Centres of mass', options.coms ?? false, centres(machine, head, head.size));
    also('Inertia ellipsoids', options.inertias ?? false, ellipsoids(machine, head));
    also('Shapes', true, machine.links.flatMap((link) => link.children.filter((x) => x.userData.link)));
    if (this.ghost) also('Ghost', true, [this.ghost.group]);
    this.arrows = [];
    if (head.motion) {
      this.traces = traces(this);
      if (this.traces.length) also('Traces', true, this.traces);
      this.dressMotion(also);
    }
    this.follows = false;
    toggle(show, 'Follow', options.follow ?? this.wanders(), (x) => {
      this.follows = x;
      this.last = null;
    });
  }

  dressMotion(also) {
    const { head, machine, stage, root, options } = this;
    const groups = [driveArrows, wrenchArrows].map((f) => f(machine, head, head.motion));
    const outer = worldArrows(stage.scene, head, head.motion);
    const shown = outer ?? groups[1]; // forces of the ground say more than those through all joints, which hide a person
    for (const group of [...groups, outer].filter(Boolean)) {
      const on = options.forces ?? group === shown;
      const title = group.title[0].toUpperCase() + group.title.slice(1);
      const holders = group.arrows.map(({ arrow }) => arrow.children[0]);
      also(title, on, holders, group.legend);
      this.arrows.push(group);
    }
    const plots = make('div', 'lw-plots', root);
    const tabs = make('div', 'lw-tabs', plots);
    this.plots = new Plots(plots, head.motion, (t) => {
      this.pause();
      this.seek(t);
    });
    for (const curve of head.motion.curves) {
      const tab = make('button', '', tabs);
      tab.type = 'button';
      tab.textContent = `${curve.title} (${curve.units.join(', ')})`;
      tab.addEventListener('click', () => {
        for (const other of tabs.children) other.classList.toggle('lw-on', other === tab);
        this.plots.choose(curve);
        this.touch();
      });
    }
    const asked = head.motion.curves.findIndex((curve) => curve.key === options.curve);
    tabs.children[Math.max(0, asked)].click();
    this.timeline = new Timeline(root, this);
    const long = head.motion.t.length > 1;
    root.classList.add('lw-moving');
    this.showPlots(options.plots ?? (long && !head.compact && root.clientHeight > 640 && root.clientWidth > 720));
  }

  showPlots(on) {
    this.root.classList.toggle('lw-flat', !on);
    this.plots.draw();
    this.resize();
    this.touch();
  }

  // ---- where the robot is

  /** Put the robot where it is at a time. */
  moveTo(time) {
    this.time = time;
    this.samples.position(time, this.q);
    this.settle();
  }

  settle() {
    const poses = linkPoses(this.head, this.kinematics, this.q, this.samples.basePose(this.time));
    this.reached = poses !== null;
    this.message.textContent = this.reached ? '' : 'Out of reach: the loops do not close here.';
    if (poses) this.machine.place(poses);
    const [row, share] = this.samples.place(this.time);
    for (const group of this.arrows ?? []) group.update(row, share);
    if (this.beside) {
      const q = this.beside.position(this.time, new Float64Array(this.head.nq));
      const pale = linkPoses(this.head, this.kinematics, q, this.beside.basePose(this.time));
      if (pale) this.ghost.place(pale);
    }
    if (this.follows) this.follow();
    this.touch();
  }

  /** Move the camera along with the robot. */
  follow() {
    const now = this.middle();
    if (this.last) {
      const step = now.clone().sub(this.last);
      step.addScaledVector(this.stage.up, -step.dot(this.stage.up));
      this.stage.camera.position.add(step);
      this.stage.controls.target.add(step);
    }
    this.last = now;
  }

  /** The middle of the links. */
  middle() {
    const sum = new THREE.Vector3();
    for (const link of this.machine.links) sum.add(new THREE.Vector3().setFromMatrixPosition(link.matrixWorld));
    return sum.divideScalar(this.machine.links.length);
  }

  /** Whether the motion goes so far that the camera has to go along. */
  wanders() {
    const ends = this.instants().map((t) => {
      this.moveTo(t);
      return this.middle();
    });
    const far = Math.max(...ends.map((p) => p.distanceTo(ends[0])));
    return far > 3 * this.head.size;
  }

  instants() {
    const { start, end, rows } = this.samples;
    const count = Math.min(rows, FRAMED);
    return Array.from({ length: count }, (_, k) => start + ((end - start) * k) / Math.max(1, count - 1));
  }

  /** Points around the robot in all of its motion, a ball around them, and the height of the ground. */
  extent() {
    const now = this.time;
    const q = this.q.slice();
    const points = [];
    let low = Infinity;
    let foot = Infinity;
    for (const t of this.follows || !this.head.motion ? [now] : this.instants()) {
      if (this.head.motion) this.moveTo(t);
      const found = this.machine.bounds(this.stage.up);
      for (const corner of found.corners) points.push(corner);
      low = Math.min(low, found.low);
      foot = Math.min(foot, found.foot);
    }
    this.time = now;
    this.q.set(q);
    this.last = null;
    this.settle();
    if (!points.length) points.push(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
    const ball = new THREE.Box3().setFromPoints(points).getBoundingSphere(new THREE.Sphere());
    const radius = Math.max(ball.radius, 1e-3);
    const hangs = !(foot < ball.center.dot(this.stage.up));
    if (!hangs) low = foot; // what stands stands on the ground, even where arms reach below
    const near = Math.abs(low) < 0.06 * this.head.size;
    return { points, centre: ball.center, radius, low: near ? Math.min(0, low) : low };
  }

  choose(slider, value) {
    this.pause();
    if (slider.turn < 0) this.q[slider.at] = value;
    else {
      const angles = anglesAt(this.q, slider.at);
      angles[slider.turn] = value;
      this.q.set(quaternionOfAngles(...angles), slider.at);
    }
    for (const at of slider.also) this.q[at] = value;
    this.settle();
  }

  // ---- what scripts can ask

  /** The shown pose of every link, by name: four rows of four numbers; at a time, if one is given. */
  poses(t) {
    if (t !== undefined) this.seek(t);
    return this.machine.shown();
  }

  seek(t) {
    this.moveTo(Math.min(Math.max(t, this.samples.start), this.samples.end));
  }

  play() {
    if (!this.head.motion) return;
    if (this.time >= this.samples.end) this.moveTo(this.samples.start);
    this.plays = true;
    this.before = null;
    this.touch();
  }

  pause() {
    this.plays = false;
    this.touch();
  }

  toggle() {
    if (this.plays) this.pause();
    else this.play();
  }

  /** Set a joint, or a number of one, as sliders are named; false where there is none of that name. */
  setJoint(name, value) {
    const slider = this.head.sliders.find((s) => s.name === name);
    if (slider) this.choose(slider, value);
    return Boolean(slider);
  }

  // ---- drawing

  theme() {
    const own = this.options.theme ?? document.documentElement.dataset.theme;
    if (own === 'dark' || own === 'light') return own;
    return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  }

  /** Something has changed. */
  touch() {
    if (!this.waits && this.seen && this.canvas) {
      this.waits = true;
      requestAnimationFrame((now) => {
        this.waits = false;
        this.step(now);
      });
    }
  }

  step(now) {
    if (!this.seen || !this.stage.renderer) return;
    if (this.plays) {
      const passed = this.before === null ? 0 : (now - this.before) / 1000;
      this.before = now;
      this.moveTo(this.next(passed));
    }
    this.stage.controls.autoRotate = Boolean(this.options.orbit);
    if (this.options.orbit) this.stage.controls.update();
    this.draw();
    if (this.plays || this.options.orbit) this.touch();
  }

  /** The time to show after some seconds: at the end of a motion it rests, then begins again or stops. */
  next(passed) {
    const { start, end } = this.samples;
    const t = this.time + this.speed * passed;
    if (t < end) return t;
    this.rested += passed;
    if (this.rested < (this.options.rest ?? 0)) return end;
    this.rested = 0;
    this.plays = this.repeats && end > start;
    return this.repeats ? start : end;
  }

  draw() {
    this.stage.renderer.render(this.stage.scene, this.stage.camera);
    this.frames++;
    this.plots?.cursor(this.time);
    const now = performance.now();
    if (this.plays && now < (this.told ?? 0) + TELLING) return;
    this.told = now;
    this.timeline?.show(this.time, this.plays);
    this.plots?.tell(...this.samples.place(this.time));
    if (!this.root.classList.contains('lw-folded')) this.sliders.show(this.q);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (!width || !height || !this.stage.renderer) return;
    const shown = (name) => this.root.querySelector(name)?.getBoundingClientRect();
    const panel = shown('.lw-panel');
    const aside = panel?.width && panel.width < 0.45 * width ? panel.width + 12 : 0;
    const below = (shown('.lw-time')?.height ?? 0) + (shown('.lw-plots')?.height ?? 0);
    this.stage.fit({ width, height, aside, below: Math.min(below && below + 16, 0.6 * height) });
  }

  // ---- listening

  listen() {
    new ResizeObserver(() => {
      this.resize();
      this.plots?.draw();
      this.touch();
    }).observe(this.root);
    new IntersectionObserver(([entry]) => this.appear(entry.isIntersecting)).observe(this.root);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.repaint());
    new MutationObserver(() => this.repaint()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    this.stage.controls.addEventListener('change', () => this.touch());
    this.root.addEventListener('keydown', (event) => this.key(event));
    this.root.addEventListener('pointermove', (event) => this.hover(event));
    this.root.addEventListener('pointerleave', () => this.hint(''));
  }

  repaint() {
    this.stage.paint(this.theme());
    this.plots?.draw();
    this.touch();
  }

  /** Views that are out of sight stop; of many, those of longest ago give back their context. */
  appear(seen) {
    this.seen = seen;
    if (!seen) return;
    open.splice(open.indexOf(this) >>> 0, 1);
    open.push(this);
    if (!this.stage.renderer) this.reopen();
    for (const other of open.filter((v) => !v.seen).slice(0, Math.max(0, open.length - MOST_OPEN))) {
      open.splice(open.indexOf(other), 1);
      other.stage.close();
    }
    this.before = null;
    this.touch();
  }

  reopen() {
    const canvas = make('canvas', 'lw-canvas');
    this.canvas.replaceWith(canvas);
    this.canvas = canvas;
    this.stage.open(canvas);
    this.stage.setShadows(this.stage.sun.castShadow);
    this.resize();
  }

  key(event) {
    if (['INPUT', 'SELECT'].includes(event.target.tagName) && event.target.type !== 'range') return;
    const { samples } = this;
    const [row] = samples.place(this.time);
    const step = event.shiftKey ? 10 : 1;
    const to = (k) => {
      this.pause();
      this.seek(samples.t[Math.max(0, Math.min(samples.rows - 1, k))]);
    };
    const acts = {
      ' ': () => this.toggle(),
      ArrowLeft: () => to(this.time > samples.t[row] ? row : row - step),
      ArrowRight: () => to(row + step),
      Home: () => to(0),
      End: () => to(samples.rows - 1),
    };
    if (!this.head.motion || !acts[event.key] || event.target.type === 'range') return;
    event.preventDefault();
    acts[event.key]();
  }

  /** The name of the link under the pointer. */
  hover(event) {
    if (event.buttons || event.target !== this.canvas || (this.looked ?? 0) > event.timeStamp - 90) return;
    this.looked = event.timeStamp;
    const { clientWidth: width, clientHeight: height } = this.root;
    const at = new THREE.Vector2((2 * event.offsetX) / width - 1, 1 - (2 * event.offsetY) / height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.stage.camera);
    const hit = ray.intersectObject(this.machine.group, true).find((x) => x.object.userData.link && x.object.visible);
    this.hint(hit ? hit.object.userData.link : '', event.offsetX, event.offsetY);
  }

  hint(text, x = 0, y = 0) {
    this.tip.textContent = text;
    this.tip.style.display = text ? 'block' : 'none';
    this.tip.style.transform = `translate(${x + 14}px, ${y + 12}px)`;
  }
}
