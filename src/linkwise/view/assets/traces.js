// Ways of points of the robot, as thin tubes.

const STEPS_OF_TRACE = 400;
const SIDES_OF_TRACE = 6;
const TRACE = '#e6007a';

/** A tube for each point that leaves a line behind. */
function traces(view) {
  const { head, samples, machine, stage } = view;
  const { start, end, rows } = samples;
  const count = Math.min(rows, STEPS_OF_TRACE);
  const ways = head.traces.map(() => []);
  for (let k = 0; k < count; k++) {
    view.moveTo(start + ((end - start) * k) / Math.max(1, count - 1));
    head.traces.forEach(({ link, point }, j) => {
      ways[j].push(new THREE.Vector3(...point).applyMatrix4(machine.links[link].matrixWorld));
    });
  }
  const material = new THREE.MeshBasicMaterial({ color: TRACE, toneMapped: false });
  return ways.map((way) => {
    const mesh = new THREE.Mesh(tube(way, 0.004 * head.size), material);
    stage.scene.add(mesh);
    return mesh;
  });
}

/** A tube along points; each ring is turned from the one before as little as can be. */
function tube(points, radius) {
  const apart = points.filter((p, k) => !k || p.distanceTo(points[k - 1]) > 1e-9);
  const position = [];
  const index = [];
  const side = new THREE.Vector3();
  apart.forEach((p, k) => {
    const along = apart[Math.min(k + 1, apart.length - 1)].clone().sub(apart[Math.max(k - 1, 0)]).normalize();
    if (!k) side.set(...(Math.abs(along.z) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    side.addScaledVector(along, -side.dot(along)).normalize();
    const across = along.clone().cross(side);
    for (let j = 0; j < SIDES_OF_TRACE; j++) {
      const a = (2 * Math.PI * j) / SIDES_OF_TRACE;
      const corner = p.clone().addScaledVector(side, radius * Math.cos(a)).addScaledVector(across, radius * Math.sin(a));
      position.push(corner.x, corner.y, corner.z);
      if (!k) continue;
      const next = (j + 1) % SIDES_OF_TRACE;
      const [here, there] = [SIDES_OF_TRACE * k, SIDES_OF_TRACE * (k - 1)];
      index.push(there + j, there + next, here + j, there + next, here + next, here + j);
    }
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(position), 3));
  geometry.setIndex(index);
  return geometry;
}
