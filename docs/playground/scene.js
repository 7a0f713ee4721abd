// The arm in three dimensions: rods along d and a, housings at joints, a labelled frame on every link.

const AXES = { x: 0xd7263d, y: 0x1b9e4b, z: 0x2162d9 };
const LINKS = [0xe8833a, 0xd9dde3];
const Y = new THREE.Vector3(0, 1, 0); // along which cylinders are made
const Z = new THREE.Vector3(0, 0, 1);

class Drawing {
    constructor(place) {
        this.place = place;
        const isFine = !drawsBySoftware();
        this.stage = new Stage([0, 0, 1], 1, isFine); // light, ground and camera are those of the viewer
        this.stage.open(place.appendChild(document.createElement("canvas")));
        this.stage.controls.addEventListener("change", () => this.draw());
        this.stage.setShadows(isFine);
        this.world = new THREE.Group(); // in the axes of the base, turned so that gravity pulls down
        this.stage.scene.add(this.world);
        this.shown = { frames: true, trail: true };
        const dark = matchMedia("(prefers-color-scheme: dark)");
        const paint = () => this.stage.paint(dark.matches ? "dark" : "light");
        dark.addEventListener("change", () => {
            paint();
            this.draw();
        });
        paint();
        new ResizeObserver(() => this.resize()).observe(place);
        this.resize();
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.place;
        if (!width || !height) return;
        this.stage.fit({ width, height, aside: 0, below: 0 });
        this.stage.camera.updateProjectionMatrix();
        this.draw();
    }

    // Make what is drawn of an arm anew.
    build(state, arm) {
        const size = (this.size = arm.reach),
            r = 0.034 * size;
        this.state = state;
        this.arm = arm;
        this.world.traverse((item) => {
            for (const part of [item.geometry, item.material?.map, item.material]) part?.dispose();
        });
        this.world.clear();
        const solid = (geometry, color, more) => {
            const mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ color, ...more }));
            mesh.castShadow = mesh.receiveShadow = true;
            this.world.add(mesh);
            return mesh;
        };
        const dark = 0x66707f;
        this.foot = solid(new THREE.CylinderGeometry(1.9 * r, 2.3 * r, 0.5 * r, 40), dark);
        this.foot.rotation.x = Math.PI / 2;
        this.foot.position.z = -0.25 * r;
        this.rows = state.rows.map((row, k) => {
            const color = LINKS[k % 2],
                tube = () => solid(new THREE.CylinderGeometry(0.62 * r, 0.62 * r, 1, 24), color);
            const ball = () => solid(new THREE.SphereGeometry(0.62 * r, 24, 16), color);
            const housing =
                row.kind === "R"
                    ? solid(new THREE.CylinderGeometry(r, r, 2.5 * r, 32).rotateX(Math.PI / 2), dark)
                    : solid(new THREE.BoxGeometry(2.1 * r, 2.1 * r, 3 * r), 0x39679e);
            return { tubes: [tube(), tube()], balls: [ball(), ball()], housing, frame: this.triad(k + 1, r) };
        });
        this.base = this.triad(0, r);
        this.tip = solid(new THREE.SphereGeometry(0.8 * r, 24, 16), 0x2f3540);
        const weight = arm.payload[0] > 0 ? Math.min(3.2, 1.1 + 0.45 * Math.cbrt(arm.payload[0])) : 0;
        this.load = solid(new THREE.SphereGeometry(Math.max(weight, 0.01) * r, 32, 20), 0x7a3fb5, {
            transparent: true,
            opacity: 0.65,
        });
        this.load.visible = weight > 0;
        this.trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0xb0308f }));
        this.trail.frustumCulled = false;
        this.world.add(this.trail);
        const up = new THREE.Vector3(...arm.gravity).negate();
        this.world.quaternion.setFromUnitVectors(up.lengthSq() ? up.normalize() : Z, Z);
    }

    // Three arrows and their letters.
    triad(k, r) {
        const group = new THREE.Group(),
            length = (2.6 + 0.4 * k) * r; // frames may share an origin
        Object.entries(AXES).forEach(([axis, color], i) => {
            const shaft = new THREE.Mesh(
                new THREE.CylinderGeometry(0.1 * r, 0.1 * r, length, 10),
                new THREE.MeshBasicMaterial({ color }),
            );
            const head = new THREE.Mesh(new THREE.ConeGeometry(0.26 * r, 0.7 * r, 14), shaft.material);
            shaft.position.y = length / 2;
            head.position.y = length;
            const arrow = new THREE.Group();
            arrow.add(shaft, head);
            arrow.quaternion.setFromUnitVectors(
                Y,
                new THREE.Vector3(i === 0 ? 1 : 0, i === 1 ? 1 : 0, i === 2 ? 1 : 0),
            );
            group.add(arrow);
            const letter = label(`${axis}${k}`, color, 1.6 * r);
            letter.position.setComponent(i, length + 0.95 * r);
            group.add(letter);
        });
        group.matrixAutoUpdate = false;
        this.world.add(group);
        return group;
    }

    // Put everything where the poses of all frames, 4 by 4 matrices row after row, say.
    move(T) {
        const matrix = (k) =>
            k < 0 ? new THREE.Matrix4() : new THREE.Matrix4().set(...T.subarray(16 * k, 16 * k + 16));
        const modified = this.state.convention === "modified";
        let before = matrix(-1);
        this.rows.forEach((row, k) => {
            const after = matrix(k),
                g = this.arm.geometry[k];
            const from = new THREE.Vector3().setFromMatrixPosition(before),
                to = new THREE.Vector3().setFromMatrixPosition(after);
            const x = new THREE.Vector3().setFromMatrixColumn(modified ? before : after, 0).multiplyScalar(g.a);
            const corner = modified ? from.clone().add(x) : to.clone().sub(x); // between a and d
            const z = new THREE.Vector3().setFromMatrixColumn(modified ? after : before, 2);
            span(row.tubes[0], from, corner);
            span(row.tubes[1], corner, to);
            [corner, to].forEach((p, i) => row.balls[i].position.copy(p));
            row.housing.position.copy(!modified ? from : g.sigma ? corner : to);
            row.housing.quaternion.setFromUnitVectors(Z, z);
            row.frame.matrix.copy(after);
            row.frame.visible = this.shown.frames;
            before = after;
        });
        this.base.visible = this.shown.frames;
        const end = new THREE.Vector3().setFromMatrixPosition(before);
        this.tip.position.copy(end);
        this.load.position.copy(end);
        return end;
    }

    // The path of the last origin, one point after the other.
    path(points) {
        this.trail.geometry.dispose();
        this.trail.geometry = new THREE.BufferGeometry();
        this.trail.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(points), 3));
        this.trail.visible = this.shown.trail;
    }

    // Look at all of some points in the axes of the base, x, y, z after one another.
    fit(points) {
        const box = new THREE.Box3();
        for (let k = 0; k < points.length; k += 3)
            box.expandByPoint(new THREE.Vector3(...points.slice(k, k + 3)).applyQuaternion(this.world.quaternion));
        box.expandByScalar(0.04 * this.size);
        const { center: centre, radius } = box.getBoundingSphere(new THREE.Sphere());
        const low = this.state.down === "-z" ? -0.017 * this.size : box.min.z;
        this.stage.frame({ points: cornersOf(box), centre, radius, low });
    }

    // Draw once before the next picture of the screen, however often this is asked for.
    draw() {
        this.asked ??= requestAnimationFrame(() => {
            this.asked = null;
            this.render();
        });
    }

    render() {
        const turn = this.world.quaternion.clone().invert();
        this.world.traverse((item) => {
            if (!item.userData.label) return;
            const parent = new THREE.Quaternion().setFromRotationMatrix(item.parent.matrix);
            item.quaternion.copy(parent.invert().multiply(turn).multiply(this.stage.camera.quaternion));
        });
        this.stage.renderer.render(this.stage.scene, this.stage.camera);
    }
}

// A tube between two points.
function span(tube, p, q) {
    const between = q.clone().sub(p),
        length = between.length();
    tube.visible = length > 1e-6;
    if (!tube.visible) return;
    tube.position.copy(p).addScaledVector(between, 0.5);
    tube.scale.y = length;
    tube.quaternion.setFromUnitVectors(Y, between.multiplyScalar(1 / length));
}

// A text that faces the viewer.
function label(text, color, height) {
    const canvas = document.createElement("canvas"),
        pen = canvas.getContext("2d");
    canvas.width = 128;
    canvas.height = 64;
    pen.font = "600 44px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 8;
    pen.strokeStyle = "rgba(255, 255, 255, 0.85)";
    pen.strokeText(text, 64, 34);
    pen.fillStyle = `#${color.toString(16).padStart(6, "0")}`;
    pen.fillText(text, 64, 34);
    const map = new THREE.CanvasTexture(canvas);
    map.colorSpace = THREE.SRGBColorSpace;
    const material = new THREE.MeshBasicMaterial({ map, transparent: true, depthTest: false, toneMapped: false });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(2 * height, height), material);
    mesh.renderOrder = 10;
    mesh.userData.label = true;
    return mesh;
}
