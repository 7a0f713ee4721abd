// Data of a view: base64 of gzip of a head (JSON) and arrays of numbers.

const ALIGNED = 8;
const KINDS = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u16: Uint16Array };

/** The bytes of a text in base64 that was compressed. */
async function inflated(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** The head of a payload, in which places of arrays have become arrays. */
async function unpacked(text) {
  const buffer = await inflated(text);
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, ALIGNED, length)));
  const start = ALIGNED + length;
  const array = (place) => place && new KINDS[place.type](buffer, start + place.at, place.length);
  for (const solid of head.solids) {
    solid.vertices = array(solid.vertices);
    solid.faces = array(solid.faces);
  }
  for (const motion of [head.motion, head.ghost]) {
    if (!motion) continue;
    for (const key of ['t', 'q', 'base', 'wrench']) motion[key] = array(motion[key]);
    for (const part of [...motion.curves, ...motion.forces]) part.values = array(part.values);
  }
  return head;
}

/** Run a script that a page's policy allows by its digest. */
function run(text) {
  const script = document.createElement('script');
  script.textContent = text;
  document.head.append(script);
  script.remove();
}

/** The function (q, T) of a robot. */
function kinematicsOf(head) {
  if (!linkwise.kinematics[head.key]) run(head.code);
  const found = linkwise.kinematics[head.key];
  if (!found) throw new Error('linkwise: this page does not allow the script of a robot');
  return found;
}

let three = null;

/** three.js, from the element of the page that carries it. */
function library() {
  three ??= (async () => {
    if (!window.THREE) {
      const text = document.getElementById('linkwise-three').textContent;
      run(new TextDecoder().decode(await inflated(text)));
    }
    return window.THREE;
  })();
  return three;
}
