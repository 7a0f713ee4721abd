// Solids as three.js draws them: smooth, with edges where faces meet at an angle.

const CREASE = Math.cos((38 * Math.PI) / 180);

/** The geometry of a solid: a vertex for each smooth piece of surface that meets there. */
function geometryOf(solid) {
  const count = solid.vertices.length / 3;
  const points = new Float32Array(3 * count);
  for (let k = 0; k < count; k++) {
    for (let c = 0; c < 3; c++) points[3 * k + c] = solid.low[c] + solid.step[c] * solid.vertices[c * count + k];
  }
  const { faces } = solid;
  const normals = faceNormals(points, faces);
  const [starts, around] = facesAround(faces, count);
  const position = [];
  const normal = [];
  const index = new Uint32Array(faces.length);
  for (let v = 0; v < count; v++) {
    const here = around.subarray(starts[v], starts[v + 1]);
    const groups = smoothGroups(here, normals);
    for (const group of groups) {
      const at = position.length / 3;
      position.push(points[3 * v], points[3 * v + 1], points[3 * v + 2]);
      normal.push(...group.normal);
      for (const corner of group.corners) index[corner] = at;
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(new Float32Array(normal), 3));
  geometry.setIndex(new THREE.BufferAttribute(position.length / 3 < 65536 ? new Uint16Array(index) : index, 1));
  return geometry;
}

/** Normals of faces, as long as twice their area: large faces count for more. */
function faceNormals(p, faces) {
  const found = new Float32Array(faces.length);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    found[f] = uy * vz - uz * vy;
    found[f + 1] = uz * vx - ux * vz;
    found[f + 2] = ux * vy - uy * vx;
  }
  return found;
}

/** The corners of faces at each vertex, one after the other, and where those of a vertex start. */
function facesAround(faces, count) {
  const starts = new Uint32Array(count + 1);
  for (const v of faces) starts[v + 1]++;
  for (let v = 0; v < count; v++) starts[v + 1] += starts[v];
  const next = starts.slice();
  const around = new Uint32Array(faces.length);
  for (let corner = 0; corner < faces.length; corner++) around[next[faces[corner]]++] = corner;
  return [starts, around];
}

/** Corners at one vertex in groups of faces that turn little, each with the group's normal. */
function smoothGroups(corners, normals) {
  const groups = [];
  for (const corner of corners) {
    const f = corner - (corner % 3);
    const n = [normals[f], normals[f + 1], normals[f + 2]];
    const size = Math.hypot(...n) || 1e-30;
    let group = groups.find((g) => (g.first[0] * n[0] + g.first[1] * n[1] + g.first[2] * n[2]) / size > CREASE);
    if (!group) {
      group = { first: n.map((x) => x / size), normal: [0, 0, 0], corners: [] };
      groups.push(group);
    }
    for (let c = 0; c < 3; c++) group.normal[c] += n[c];
    group.corners.push(corner);
  }
  for (const group of groups) {
    const size = Math.hypot(...group.normal) || 1;
    group.normal = group.normal.map((x) => x / size);
  }
  return groups;
}
