// Forces and torques as arrows, as long as they are large.

const FORCE = '#d6336c';
const MOMENT = '#7048e8';
const GROUND = '#2f9e44';

/** A straight arrow of length one along z; with two heads for a moment. */
function straightArrow(color, heads) {
  const arrow = new THREE.Group();
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.92 });
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.028, 0.028, 0.8, 10).translate(0, 0.4, 0), material);
  arrow.add(shaft);
  for (let k = 0; k < heads; k++) {
    const head = new THREE.ConeGeometry(0.075, 0.22, 14).translate(0, 0.89 - 0.18 * k, 0);
    arrow.add(new THREE.Mesh(head, material));
  }
  return upright(arrow);
}

/** An arrow around z, of radius one. */
function roundArrow(color) {
  const arrow = new THREE.Group();
  const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true, opacity: 0.92 });
  const arc = 1.5 * Math.PI;
  arrow.add(new THREE.Mesh(new THREE.TorusGeometry(1, 0.055, 8, 40, arc), material));
  const head = new THREE.Mesh(new THREE.ConeGeometry(0.16, 0.42, 14).translate(0, 0.12, 0), material);
  head.position.set(Math.cos(arc), Math.sin(arc), 0);
  head.rotation.z = arc;
  arrow.add(head);
  return inFront(arrow);
}

/** Along z instead of y. */
function upright(arrow) {
  for (const part of arrow.children) part.geometry.rotateX(Math.PI / 2);
  return inFront(arrow);
}

function inFront(arrow) {
  const outer = new THREE.Group();
  arrow.traverse((x) => {
    x.renderOrder = 7;
  });
  outer.add(arrow);
  return outer;
}

/** A size that nine of ten numbers are below, and the largest of all. */
function usual(sizes) {
  const sorted = Float64Array.from(sizes.filter(Number.isFinite)).sort();
  return [Math.max(1e-9, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0), sorted[sorted.length - 1] ?? 0];
}

const Z = () => new THREE.Vector3(0, 0, 1);

/** Turn and stretch an arrow to a vector, of which one of length `largest` is drawn `length` long. */
function point(arrow, vector, largest, length) {
  const size = vector.length();
  arrow.visible = size > 1e-3 * largest;
  if (!arrow.visible) return;
  arrow.quaternion.setFromUnitVectors(Z(), vector.clone().divideScalar(size));
  arrow.scale.setScalar(length * Math.min(1.6, Math.max(0.15, size / largest)));
}

/** Torques of drives about, or forces along, the axes of joints. */
function driveArrows(machine, head, motion) {
  const curve = motion.curves.find((c) => c.key === 'tau');
  if (!curve) return null;
  const width = curve.names.length;
  const rows = curve.values.length / width;
  const group = { title: 'drive torques', unit: 'N m', arrows: [] };
  const length = 0.13 * head.size;
  for (const axis of head.axes) {
    const column = [axis.joint, `${axis.joint}.motor`].map((n) => curve.names.indexOf(n)).find((k) => k >= 0);
    if (column === undefined) continue;
    const arrow = axis.slides ? straightArrow(axis.colour, 1) : roundArrow(axis.colour);
    arrow.position.set(...axis.point);
    machine.links[axis.link].add(arrow);
    group.arrows.push({ arrow, column, axis, direction: new THREE.Vector3(...axis.direction) });
  }
  const scale = {};
  const parts = [];
  for (const slides of [false, true]) {
    const sizes = [];
    for (const { column } of group.arrows.filter((x) => x.axis.slides === slides)) {
      for (let r = 0; r < rows; r++) sizes.push(Math.abs(curve.values[r * width + column]));
    }
    const [most, largest] = usual(sizes);
    scale[slides] = most;
    if (largest) parts.push(`${short(largest)} ${slides ? 'N' : 'N m'}`);
  }
  group.legend = `largest ${parts.join(', ') || '0'}`;
  group.update = (row, share) => {
    for (const { arrow, column, axis, direction } of group.arrows) {
      const x = mixed(curve.values, row, width, column, share);
      const long = axis.slides ? 1.6 * length : length;
      point(arrow, direction.clone().multiplyScalar(x), scale[axis.slides], long);
    }
  };
  return group;
}

/** Forces and moments through joints, on the links that they move. */
function wrenchArrows(machine, head, motion) {
  if (!motion.wrench) return null;
  const count = head.rows;
  const w = motion.wrench;
  const sizes = [[], []];
  for (let k = 0; k < w.length; k += 3) sizes[(k / 3) % 2].push(Math.hypot(w[k], w[k + 1], w[k + 2]));
  const [scale, largest] = [0, 1].map((i) => sizes.map((x) => usual(x)[i]));
  const arrows = head.axes.map((axis) => {
    const pair = [straightArrow(FORCE, 1), straightArrow(MOMENT, 2)];
    for (const arrow of pair) {
      arrow.position.set(...axis.point);
      machine.links[axis.link].add(arrow);
    }
    return { pair, row: head.links[axis.link].row };
  });
  const update = (row, share) => {
    for (const { pair, row: body } of arrows) {
      pair.forEach((arrow, half) => {
        const x = [0, 1, 2].map((c) => mixed(w, row, 6 * count, 6 * body + 3 * half + c, share));
        point(arrow, new THREE.Vector3(...x), scale[half], 0.22 * head.size);
      });
    }
  };
  const legend = `largest ${short(largest[0])} N, ${short(largest[1])} N m`;
  return { title: 'joint forces', legend, update, arrows: arrows.flatMap(({ pair }) => pair.map((arrow) => ({ arrow }))) };
}

/** Forces in the world, such as those of the ground. */
function worldArrows(scene, head, motion) {
  if (!motion.forces.length) return null;
  let largest = 1e-9;
  for (const { values: v } of motion.forces) {
    for (let k = 0; k < v.length; k += 6) largest = Math.max(largest, Math.hypot(v[k + 3], v[k + 4], v[k + 5]) || 0);
  }
  const arrows = motion.forces.map(({ values }) => {
    const arrow = straightArrow(GROUND, 1);
    scene.add(arrow);
    return { arrow, values };
  });
  const update = (row, share) => {
    for (const { arrow, values } of arrows) {
      const x = [0, 1, 2, 3, 4, 5].map((c) => mixed(values, row, 6, c, share));
      if (!x.every(Number.isFinite)) arrow.visible = false;
      else {
        arrow.position.set(...x.slice(0, 3));
        point(arrow, new THREE.Vector3(...x.slice(3)), largest, 0.45 * head.size);
      }
    }
  };
  return { title: 'outer forces', legend: `largest ${short(largest)} N`, update, arrows };
}

/** A number with three digits. */
function short(x) {
  return String(Number(x.toPrecision(3)));
}
