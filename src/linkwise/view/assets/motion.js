// A motion between its samples, and the poses of links.

/** Samples of positions, and positions between them. */
class Samples {
  constructor(head, data) {
    this.nq = head.nq;
    this.t = data ? data.t : new Float64Array([0]);
    this.q = data ? data.q : Float64Array.from(head.home);
    this.quaternions = head.quaternions;
    this.base = data && data.base ? basePoses(data.base) : null;
    this.rows = this.t.length;
    this.start = this.t[0];
    this.end = this.t[this.rows - 1];
  }

  /** The row before a time, and how far on it is to the next, from 0 to 1. */
  place(time) {
    const t = this.t;
    if (!(time > t[0])) return [0, 0];
    if (time >= t[this.rows - 1]) return [this.rows - 1, 0];
    let low = 0;
    let high = this.rows - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= time) low = middle;
      else high = middle;
    }
    return [low, (time - t[low]) / (t[high] - t[low])];
  }

  /** Positions at a time: along lines between samples, quaternions along arcs. */
  position(time, out) {
    const [row, share] = this.place(time);
    const n = this.nq;
    for (let k = 0; k < n; k++) out[k] = mixed(this.q, row, n, k, share);
    for (const at of this.quaternions) turnBetween(this.q, row * n + at, share ? n : 0, share, out, at);
    return out;
  }

  /** The pose of the base at a time, 16 numbers, row after row; null where it stands. */
  basePose(time) {
    if (!this.base) return null;
    const [row, share] = this.place(time);
    const x = new Float64Array(7);
    for (let k = 0; k < 3; k++) x[k] = mixed(this.base, row, 7, k, share);
    turnBetween(this.base, row * 7 + 3, share ? 7 : 0, share, x, 3);
    return matrixOf(x);
  }
}

function mixed(values, row, width, k, share) {
  const a = values[row * width + k];
  return share ? a + share * (values[(row + 1) * width + k] - a) : a;
}

/** A quaternion between one at `from` and the next, `step` numbers on. */
function turnBetween(values, from, step, share, out, at) {
  let cosine = 0;
  for (let k = 0; k < 4; k++) cosine += values[from + k] * values[from + step + k];
  const sign = cosine < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, Math.abs(cosine)));
  const near = angle < 1e-6;
  const a = near ? 1 - share : Math.sin((1 - share) * angle) / Math.sin(angle);
  const b = sign * (near ? share : Math.sin(share * angle) / Math.sin(angle));
  for (let k = 0; k < 4; k++) out[at + k] = a * values[from + k] + b * values[from + step + k];
}

/** Positions and quaternions of rows of a rotation matrix and a position. */
function basePoses(rows) {
  const found = new Float64Array((rows.length / 12) * 7);
  for (let r = 0; r < rows.length / 12; r++) {
    const m = rows.subarray(12 * r, 12 * r + 12);
    found.set([m[9], m[10], m[11], ...quaternionOf(m)], 7 * r);
  }
  return found;
}

/** The quaternion x, y, z, w of a rotation matrix, from its largest component. */
function quaternionOf(m) {
  const squares = [
    1 + m[0] - m[4] - m[8],
    1 - m[0] + m[4] - m[8],
    1 - m[0] - m[4] + m[8],
    1 + m[0] + m[4] + m[8],
  ];
  const k = squares.indexOf(Math.max(...squares));
  const s = 0.5 / Math.sqrt(squares[k]);
  const rows = [
    [squares[0] * s, (m[1] + m[3]) * s, (m[2] + m[6]) * s, (m[7] - m[5]) * s],
    [(m[1] + m[3]) * s, squares[1] * s, (m[5] + m[7]) * s, (m[2] - m[6]) * s],
    [(m[2] + m[6]) * s, (m[5] + m[7]) * s, squares[2] * s, (m[3] - m[1]) * s],
    [(m[7] - m[5]) * s, (m[2] - m[6]) * s, (m[3] - m[1]) * s, squares[3] * s],
  ];
  return rows[k];
}

/** The matrix of a position and a quaternion x, y, z, w, 16 numbers, row after row. */
function matrixOf([px, py, pz, x, y, z, w]) {
  const s = 2 / (x * x + y * y + z * z + w * w);
  return [
    1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w), px,
    s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w), py,
    s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y), pz,
    0, 0, 0, 1,
  ];
}

/** The product of two matrices of 16 numbers, row after row. */
function product(a, b, out = new Float64Array(16)) {
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      let x = 0;
      for (let k = 0; k < 4; k++) x += a[4 * i + k] * b[4 * k + j];
      out[4 * i + j] = x;
    }
  }
  return out;
}

/** The poses of all links at positions q, each 16 numbers, row after row; null where loops do not close. */
function linkPoses(head, kinematics, q, base) {
  const T = new Float64Array(16 * head.rows);
  kinematics(q, T);
  if (T.some(Number.isNaN)) return null;
  return head.links.map(({ row, offset }) => {
    const own = row < 0 ? offset : product(T.subarray(16 * row, 16 * row + 16), offset);
    return base ? product(base, own) : own;
  });
}

/** Angles roll, pitch, yaw of a quaternion at q[at], and the quaternion of angles. */
function anglesAt(q, at) {
  const [x, y, z, w] = q.slice(at, at + 4);
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ];
}

function quaternionOfAngles(roll, pitch, yaw) {
  const [cr, cp, cy] = [roll, pitch, yaw].map((a) => Math.cos(a / 2));
  const [sr, sp, sy] = [roll, pitch, yaw].map((a) => Math.sin(a / 2));
  return [
    sr * cp * cy - cr * sp * sy,
    cr * sp * cy + sr * cp * sy,
    cr * cp * sy - sr * sp * cy,
    cr * cp * cy + sr * sp * sy,
  ];
}
