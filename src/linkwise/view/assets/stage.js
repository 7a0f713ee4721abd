// Light, ground and camera.

const THEMES = {
  light: { sky: '#f4f6f8', floor: '#e7ebf0', line: '#94a2b0', sun: 2.0, sheen: 1.3, ground: '#aab6c2', fill: 0.6 },
  dark: { sky: '#14181d', floor: '#1a2027', line: '#5b6a78', sun: 2.0, sheen: 0.95, ground: '#39434d', fill: 0.5 },
};
const FIELD = 30; // degrees from bottom to top
const MARGINS = 1.14; // around a robot

class Stage {
  constructor(up, size, isFine, from = [0.86, -1, 0.5]) {
    this.from = from;
    this.isFine = isFine;
    this.up = new THREE.Vector3(...up);
    this.size = size;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, size / 200, size * 200);
    this.camera.up.copy(this.up);
    this.level = new THREE.Group(); // z of it is up
    this.level.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
    this.scene.add(this.level);
    this.hemisphere = new THREE.HemisphereLight(0xffffff, 0x888888, 1);
    this.hemisphere.position.copy(this.up);
    this.sun = new THREE.DirectionalLight(0xffffff, 2);
    this.fill = new THREE.DirectionalLight(0xdfe8ff, 0.5);
    this.scene.add(this.hemisphere, this.sun, this.sun.target, this.fill, this.fill.target);
    this.theme = 'light';
    this.room = { width: 1, height: 1, aside: 0, below: 0 };
  }

  /** The size of the picture, and what is covered of it: at the right, and below. */
  fit(room) {
    this.room = room;
    const { width, height, aside, below } = room;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, aside / 2, below / 2, width, height);
  }

  /** A renderer with its canvas, made when the view is first seen. */
  open(canvas) {
    const { isFine } = this;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: isFine, powerPreference: 'high-performance' });
    this.renderer.setPixelRatio(isFine ? Math.min(window.devicePixelRatio, 2) : 1);
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    if (this.controls) this.controls.connect(canvas);
    else this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.screenSpacePanning = true;
    this.controls.minDistance = this.size / 50;
    this.controls.maxDistance = this.size * 60;
  }

  close() {
    this.controls.disconnect();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.renderer = null;
  }

  paint(theme) {
    this.theme = theme;
    const colours = THEMES[theme];
    this.scene.background = new THREE.Color(colours.sky);
    this.hemisphere.groundColor.set(colours.ground);
    this.hemisphere.intensity = colours.sheen;
    this.sun.intensity = colours.sun;
    this.fill.intensity = colours.fill;
    if (this.extent) this.lay(this.extent);
  }

  /** Look at points with the ground at a height, so that all of them are in the free part of the picture. */
  frame(extent) {
    this.extent = extent;
    const { points, centre, radius } = extent;
    const turn = this.level.quaternion;
    const from = new THREE.Vector3(...this.from).normalize().applyQuaternion(turn);
    const right = this.up.clone().cross(from).normalize();
    const above = from.clone().cross(right);
    const { width, height, aside, below } = this.room;
    const tall = Math.tan((FIELD * Math.PI) / 360);
    const free = [(tall * (width - aside)) / height, (tall * (height - below)) / height];
    const middle = centre.clone();
    for (const axis of [right, above]) {
      const places = points.map((p) => p.dot(axis));
      const half = places.reduce((x, y) => Math.min(x, y)) / 2 + places.reduce((x, y) => Math.max(x, y)) / 2;
      middle.addScaledVector(axis, half - centre.dot(axis));
    }
    let distance = 0.5 * radius;
    for (const point of points) {
      const to = point.clone().sub(middle);
      [right, above].forEach((axis, j) => {
        distance = Math.max(distance, to.dot(from) + (MARGINS * Math.abs(to.dot(axis))) / free[j]);
      });
    }
    this.camera.position.copy(middle).addScaledVector(from, distance);
    this.camera.near = distance / 300;
    this.camera.far = distance + 60 * radius;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(middle);
    this.controls.update();
    const beside = new THREE.Vector3(-0.25, -1.0, 1.35).normalize().applyQuaternion(turn);
    this.sun.position.copy(centre).addScaledVector(beside, 4 * radius);
    this.sun.target.position.copy(centre);
    const opposite = new THREE.Vector3(1, 0.9, 0.35).normalize().applyQuaternion(turn);
    this.fill.position.copy(centre).addScaledVector(opposite, 4 * radius);
    this.fill.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.bottom, shadow.right, shadow.top] = [-1.5, -1.5, 1.5, 1.5].map((x) => x * radius);
    [shadow.near, shadow.far] = [0.5 * radius, 9 * radius];
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.004 * radius;
    shadow.updateProjectionMatrix();
    this.lay(extent);
  }

  /** Ground: a disc that fades, with lines at round distances. */
  lay({ centre, radius, low }) {
    const colours = THEMES[this.theme];
    const shown = this.ground ? this.ground.visible : true;
    if (this.ground) this.level.remove(this.ground);
    const spacing = roundNumber(radius / 2.4);
    const reach = Math.ceil((3.4 * radius) / spacing) * spacing;
    const flat = centre.clone().applyQuaternion(this.level.quaternion.clone().invert());
    const middle = new THREE.Vector2(...[flat.x, flat.y].map((x) => Math.round(x / spacing) * spacing));
    this.ground = new THREE.Group();
    this.ground.position.set(middle.x, middle.y, low);
    if (this.isFine) this.ground.add(disc(reach, colours, radius));
    this.ground.add(gridLines(reach, spacing, middle, colours));
    const fall = new THREE.Mesh(new THREE.CircleGeometry(reach, 48), new THREE.ShadowMaterial({ opacity: 0.22 }));
    fall.position.z = 0.0005 * radius;
    fall.receiveShadow = true;
    fall.visible = this.sun.castShadow;
    this.fall = fall;
    this.ground.add(fall);
    this.ground.visible = shown;
    this.level.add(this.ground);
  }

  setShadows(on) {
    this.sun.castShadow = on;
    this.renderer.shadowMap.enabled = on;
    if (this.fall) this.fall.visible = on;
    this.scene.traverse((x) => {
      if (x.material) x.material.needsUpdate = true;
    });
  }
}

/** The eight corners of a box. */
function cornersOf({ min, max }) {
  const one = (k) => new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z);
  return Array.from({ length: 8 }, (_, k) => one(k));
}

let bySoftware = null;

/** Whether this browser draws without a graphics card: pictures are then plainer, so that they still move. */
function drawsBySoftware() {
  bySoftware ??= isSoftware(document.createElement('canvas').getContext('webgl2'));
  return bySoftware;
}

function isSoftware(context) {
  if (!context) return false;
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : context.getParameter(context.RENDERER);
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name));
}

/** The number 1, 2 or 5 times a power of ten that is at most x. */
function roundNumber(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return (x / power >= 5 ? 5 : x / power >= 2 ? 2 : 1) * power;
}

/** A disc whose colour goes over into that of the sky. */
function disc(reach, { floor, sky }, radius) {
  const geometry = new THREE.CircleGeometry(reach, 48);
  const inner = new THREE.Color(floor);
  const outer = new THREE.Color(sky);
  const rings = 4;
  const position = [0, 0, 0];
  const colour = [...inner];
  const index = [];
  for (let r = 1; r <= rings; r++) {
    for (let k = 0; k < 48; k++) {
      const a = (2 * Math.PI * k) / 48;
      const at = (reach * r) / rings;
      position.push(at * Math.cos(a), at * Math.sin(a), 0);
      colour.push(...inner.clone().lerp(outer, Math.min(1, ((r - 0.6) / (rings - 0.6)) ** 0.8)));
      const [here, next] = [1 + 48 * (r - 1) + k, 1 + 48 * (r - 1) + ((k + 1) % 48)];
      if (r === 1) index.push(0, here, next);
      else index.push(here - 48, here, next, here - 48, next, next - 48);
    }
  }
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(colour), 3));
  geometry.setIndex(index);
  const look = { vertexColors: true, depthWrite: false, depthTest: false, toneMapped: false };
  const material = new THREE.MeshBasicMaterial(look);
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = -2;
  mesh.position.z = -0.002 * radius;
  return mesh;
}

/** Lines at even distances, every fifth one clearer, all of them paler outwards until they have the sky's colour. */
function gridLines(reach, spacing, middle, { line, sky }) {
  const position = [];
  const colour = [];
  const [pale, base] = [new THREE.Color(sky), new THREE.Color(line)];
  const count = Math.round(reach / spacing);
  const pieces = 8;
  for (let k = -count; k <= count; k++) {
    for (const across of [0, 1]) {
      const number = Math.round(k + (across ? middle.y : middle.x) / spacing);
      const clear = number % 5 === 0 ? 1 : 0.55;
      for (let p = -pieces; p < pieces; p++) {
        for (const end of [p, p + 1]) {
          const at = [k * spacing, (end / pieces) * reach];
          position.push(...(across ? at.reverse() : at), 0);
          const fade = Math.max(0, 1 - Math.hypot(...at) / reach);
          colour.push(...pale.clone().lerp(base, clear * fade ** 1.4));
        }
      }
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(new Float32Array(colour), 3));
  const look = { vertexColors: true, depthWrite: false, depthTest: false, toneMapped: false };
  const material = new THREE.LineBasicMaterial(look);
  const lines = new THREE.LineSegments(geometry, material);
  lines.renderOrder = -1;
  return lines;
}
