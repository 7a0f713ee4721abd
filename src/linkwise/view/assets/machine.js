// The robot: a group for each link, with its parts and what else may be shown of it.

const FINISHES = {
  paint: { metalness: 0.0, roughness: 0.5 },
  metal: { metalness: 0.35, roughness: 0.35 },
  rubber: { metalness: 0.0, roughness: 0.9 },
};
const TRIAD = ['#e5484d', '#30a46c', '#3b82f6'];
const BLACK = 0.09; // the darkest paint: on pure black no light would show a shape
const GHOST = '#7c8fa3';

class Machine {
  constructor(head, solids, isFine, pale = false) {
    this.head = head;
    this.isFine = isFine;
    this.group = new THREE.Group();
    this.links = head.links.map(({ name }) => {
      const link = new THREE.Group();
      link.name = name;
      link.matrixAutoUpdate = false;
      this.group.add(link);
      return link;
    });
    this.materials = new Map();
    for (const part of head.parts) {
      const mesh = new THREE.Mesh(solids[part.solid], this.material(part, pale));
      setMatrix(mesh, part.origin);
      mesh.castShadow = !pale;
      mesh.receiveShadow = !pale;
      mesh.userData.link = head.links[part.link].name;
      this.links[part.link].add(mesh);
    }
  }

  material(part, pale) {
    const { open } = this.head.solids[part.solid];
    const key = pale ? 'pale' : `${part.colour} ${part.finish} ${open}`;
    const make = () => (pale ? paleMaterial() : paint(part.colour, part.finish, open, this.isFine));
    if (!this.materials.has(key)) this.materials.set(key, make());
    return this.materials.get(key);
  }

  /** Put all links where they are. */
  place(poses) {
    poses.forEach((pose, k) => setMatrix(this.links[k], pose));
    this.group.updateMatrixWorld(true);
  }

  /** The pose of every link as it is shown, by name: four rows of four numbers. */
  shown() {
    const rows = (e) => [0, 1, 2, 3].map((r) => [e[r], e[r + 4], e[r + 8], e[r + 12]]);
    return Object.fromEntries(this.head.links.map(({ name }, k) => [name, rows(this.links[k].matrixWorld.elements)]));
  }

  /** Corners of boxes around all parts, and how low they reach; those that stand in the world too. */
  bounds(up) {
    const corners = [];
    let low = Infinity;
    let foot = Infinity;
    const standing = new Set(this.head.links.filter((x) => x.row < 0).map((x) => x.name));
    this.group.traverse((x) => {
      if (!x.isMesh || !x.userData.link) return;
      x.geometry.boundingBox ?? x.geometry.computeBoundingBox();
      for (const corner of cornersOf(x.geometry.boundingBox)) {
        corners.push(corner.applyMatrix4(x.matrixWorld));
        const height = corner.dot(up);
        low = Math.min(low, height);
        if (standing.has(x.userData.link)) foot = Math.min(foot, height);
      }
    });
    return { corners, low, foot };
  }
}

function setMatrix(object, rows) {
  object.matrixAutoUpdate = false;
  object.matrix.set(...rows);
  object.matrixWorldNeedsUpdate = true;
}

/** A material; surfaces that are not closed are seen from both sides. */
function paint([r, g, b, a], finish, open, isFine) {
  const color = new THREE.Color().setRGB(...[r, g, b].map((x) => BLACK + (1 - BLACK) * x), THREE.SRGBColorSpace);
  const side = open || a < 1 ? THREE.DoubleSide : THREE.FrontSide;
  const look = { color, side, ...(a < 1 && { transparent: true, opacity: a, depthWrite: a > 0.6 }) };
  if (!isFine) return new THREE.MeshLambertMaterial(look);
  return new THREE.MeshStandardMaterial({ ...look, ...FINISHES[finish] });
}

function paleMaterial() {
  const look = { color: GHOST, transparent: true, opacity: 0.26, depthWrite: false };
  return new THREE.MeshLambertMaterial({ ...look, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
}

// ---- what else may be shown

/** Axes of every link. */
function triads(machine, size) {
  const length = 0.09 * size;
  const geometry = new THREE.CylinderGeometry(0.035 * length, 0.035 * length, length, 8).translate(0, length / 2, 0);
  const turns = [
    (m) => m.rotateZ(-Math.PI / 2),
    () => {},
    (m) => m.rotateX(Math.PI / 2),
  ];
  const materials = TRIAD.map((color) => new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true }));
  return machine.links.map((link) => {
    const triad = new THREE.Group();
    turns.forEach((turn, k) => {
      const bar = new THREE.Mesh(geometry, materials[k]);
      bar.renderOrder = 5;
      turn(bar);
      triad.add(bar);
    });
    link.add(triad);
    return triad;
  });
}

/** Centres of mass: balls with the quarters that drawings have. */
function centres(machine, head, size) {
  const geometry = new THREE.SphereGeometry(1, 24, 16).toNonIndexed();
  const p = geometry.attributes.position;
  const colour = new Float32Array(3 * p.count);
  for (let f = 0; f < p.count; f += 3) {
    const middle = ['getX', 'getY', 'getZ'].map((get) => p[get](f) + p[get](f + 1) + p[get](f + 2));
    const dark = middle[0] * middle[1] * middle[2] > 0;
    colour.fill(dark ? 0.02 : 1, 3 * f, 3 * f + 9);
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(colour, 3));
  const material = new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
  const heaviest = Math.max(...head.bodies.map((b) => b.mass), 0);
  return head.bodies.map((body) => {
    const ball = new THREE.Mesh(geometry, material);
    ball.renderOrder = 6;
    ball.position.set(...body.com);
    ball.scale.setScalar(0.022 * size * (0.35 + 0.65 * Math.cbrt(body.mass / heaviest)));
    machine.links[body.link].add(ball);
    return ball;
  });
}

/** Ellipsoids of even density that have the inertia of the links. */
function ellipsoids(machine, head) {
  const geometry = new THREE.SphereGeometry(1, 28, 18);
  const look = { color: '#8f6fd6', transparent: true, opacity: 0.32, depthWrite: false };
  const material = new THREE.MeshLambertMaterial(look);
  return head.bodies.map((body) => {
    const ball = new THREE.Mesh(geometry, material);
    setMatrix(ball, body.origin);
    ball.matrix.scale(new THREE.Vector3(...body.half.map((x) => Math.max(x, 1e-4 * head.size))));
    ball.renderOrder = 4;
    machine.links[body.link].add(ball);
    return ball;
  });
}
