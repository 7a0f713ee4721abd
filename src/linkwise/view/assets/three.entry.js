export {
  ACESFilmicToneMapping, AmbientLight, ArrowHelper, BufferAttribute, BufferGeometry, CanvasTexture, CapsuleGeometry, CircleGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, Fog, FrontSide, BackSide, Group, HemisphereLight, InstancedMesh, LineBasicMaterial, LineSegments, Line, Matrix3, Matrix4, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, MeshPhongMaterial, MeshStandardMaterial, NoToneMapping, NeutralToneMapping, PCFShadowMap, PCFSoftShadowMap, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, RingGeometry,
  SRGBColorSpace, Scene, ShaderMaterial, ShadowMaterial, SphereGeometry, TorusGeometry, Vector2, Vector3, WebGLRenderer, Box3, Sphere, BoxGeometry
} from 'three';
export { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
