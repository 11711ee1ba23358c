// The picture: one canvas, a part of it for each run, all seen by one camera.
import {
  Box3, CircleGeometry, Color, DirectionalLight, DoubleSide, HemisphereLight, LineBasicMaterial, LineSegments, Mesh,
  MeshStandardMaterial, PCFShadowMap, Scene, ShaderMaterial, ShadowMaterial, Vector3, WebGLRenderer,
} from 'three';
import {dyes, stateColors, stones} from './colors.js';
import {Surface} from './surface.js';

// What is interpolated is taken inside the triangle: where folds turn away from the eye, thin triangles would otherwise
// be lit and coloured by values beyond their corners.
function inside(shader) {
  shader.vertexShader = shader.vertexShader
    .replace('#include <color_pars_vertex>', 'centroid varying vec3 vColor; flat varying vec3 vClass;')
    .replace('#include <color_vertex>', 'vColor = vClass = color;')
    .replace('#include <normal_pars_vertex>', 'centroid varying vec3 vNormal;');
  shader.fragmentShader = shader.fragmentShader
    .replace('#include <color_pars_fragment>', 'centroid varying vec3 vColor; flat varying vec3 vClass;')
    .replace('#include <normal_pars_fragment>', 'centroid varying vec3 vNormal;');
}

// The back of a cloth has its own colour. Classes are not blended: each triangle has that of one of its corners.
function clothMaterial(pair) {
  const material = new MeshStandardMaterial({side: DoubleSide, roughness: 0.82});
  const front = new Color(pair[0]), back = new Color(pair[1]);
  const uniforms = {frontColor: {value: front}, backColor: {value: back}, own: {value: 1}, crisp: {value: 0}};
  material.userData = uniforms;
  material.vertexColors = true;
  material.onBeforeCompile = shader => {
    Object.assign(shader.uniforms, uniforms);
    inside(shader);
    shader.fragmentShader = 'uniform vec3 frontColor; uniform vec3 backColor; uniform float own, crisp;\n' + shader.fragmentShader.replace(
      '#include <color_fragment>',
      'diffuseColor.rgb *= mix(mix(vColor, vClass, crisp), gl_FrontFacing ? frontColor : backColor, own);',
    ).replace(
      '#include <opaque_fragment>',
      // Cloth in its own colour has the soft bright rim of a fibrous surface; other colours shine, to be read in the shade.
      'outgoingLight += diffuseColor.rgb * mix(0.3, 0.3 * pow(1.0 - abs(dot(normal, normalize(vViewPosition))), 3.0), own);\n#include <opaque_fragment>',
    );
  };
  return material;
}

// Lines lie a thousandth closer to the eye than the surface. (An offset of the surface by its slope would let what is
// behind shine through where folds turn away.)
function wireMaterial(opacity) {
  const material = new LineBasicMaterial({color: '#101418', transparent: true, opacity});
  material.onBeforeCompile = shader => {
    shader.vertexShader = shader.vertexShader.replace('#include <project_vertex>', '#include <project_vertex>\ngl_Position = projectionMatrix * vec4(0.999 * mvPosition.xyz, mvPosition.w);');
  };
  return material;
}

function gridMaterial() {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: {ink: {value: new Color()}, strength: {value: 0.1}, cell: {value: 0.1}, radius: {value: 1}, middle: {value: new Vector3()}},
    vertexShader: 'varying vec3 place; void main() { vec4 w = modelMatrix * vec4(position, 1.0); place = w.xyz; gl_Position = projectionMatrix * viewMatrix * w; }',
    fragmentShader: `
      varying vec3 place; uniform vec3 ink; uniform float strength, cell, radius; uniform vec3 middle;
      float lines(float size) {
        vec2 p = place.xz / size, width = fwidth(p);
        vec2 d = abs(fract(p - 0.5) - 0.5) / max(width, vec2(1e-6));
        return (1.0 - min(min(d.x, d.y), 1.0)) * clamp(0.35 / max(width.x, width.y), 0.0, 1.0);
      }
      void main() {
        float fade = 1.0 - smoothstep(0.25, 1.0, length(place.xz - middle.xz) / radius);
        gl_FragColor = vec4(ink, strength * fade * max(0.45 * lines(cell), lines(5.0 * cell)));
        #include <colorspace_fragment>
      }`,
  });
}

// One run's scene.
class View {
  constructor(run, box, stage) {
    this.run = run;
    this.stage = stage;
    this.scene = new Scene();
    this.surfaces = new Map(); // body -> one a topology
    this.shown = [];
    this.light(box);
    this.ground(box);
    let cloths = 0, obstacles = 0;
    this.materials = run.bodies.map(body => (body.obstacle
      ? new MeshStandardMaterial({color: stones[obstacles++ % stones.length], roughness: 0.75, side: DoubleSide})
      : clothMaterial(dyes[cloths++ % dyes.length])));
    this.wireMaterials = run.bodies.map(body => wireMaterial(body.obstacle ? 0.16 : 0.34));
    this.strandMaterial = new LineBasicMaterial({vertexColors: true});
    this.linkMaterial = new LineBasicMaterial({vertexColors: true});
    this.stateColors = stateColors(false);
  }

  light(box) {
    const size = box.getSize(new Vector3()).length(), center = box.getCenter(new Vector3());
    this.sky = new HemisphereLight('#f6f8ff', '#a39a90', 1.6);
    const key = new DirectionalLight('#fff3e0', 1.75), rim = new DirectionalLight('#cfe0ff', 0.5);
    this.head = new DirectionalLight('#ffffff', 0.65); // goes with the camera, and gives form to what is in the shade
    key.position.copy(center).add(new Vector3(-0.55, 1, 0.62).multiplyScalar(size));
    key.target.position.copy(center);
    key.castShadow = true;
    key.shadow.mapSize.set(2048, 2048);
    key.shadow.radius = 3.5;
    key.shadow.bias = -0.0004;
    key.shadow.normalBias = 0.0016 * size;
    Object.assign(key.shadow.camera, {left: -0.75 * size, right: 0.75 * size, top: 0.75 * size, bottom: -0.75 * size, near: 0.02 * size, far: 3 * size});
    rim.position.copy(center).add(new Vector3(0.8, 0.45, -0.7).multiplyScalar(size));
    rim.target.position.copy(center);
    this.scene.add(this.sky, key, key.target, rim, rim.target, this.head, this.head.target);
  }

  ground(box) {
    const size = box.getSize(new Vector3()).length(), center = box.getCenter(new Vector3());
    const shape = new CircleGeometry(2.4 * size, 96);
    shape.rotateX(-Math.PI / 2);
    this.shadow = new Mesh(shape, new ShadowMaterial({opacity: 0.2, depthWrite: false}));
    this.shadow.receiveShadow = true;
    this.grid = new Mesh(shape, gridMaterial());
    const {uniforms} = this.grid.material;
    uniforms.radius.value = 2.2 * size;
    uniforms.middle.value.copy(center);
    uniforms.cell.value = 10 ** Math.round(Math.log10(size / 8));
    for (const mesh of [this.shadow, this.grid]) {
      mesh.position.set(center.x, box.min.y - 0.002 * size, center.z);
      this.scene.add(mesh);
    }
    this.grid.renderOrder = 1;
    this.shadow.renderOrder = 2;
  }

  surfaceOf(index, frame) {
    const body = this.run.bodies[index], topology = body.at(frame).topology, key = `${index} ${topology}`;
    if (!this.surfaces.has(key)) {
      const surface = new Surface(body, body.topologies[topology], frame);
      surface.mesh = new Mesh(surface.geometry, this.materials[index]);
      surface.mesh.castShadow = surface.mesh.receiveShadow = true;
      surface.mesh.frustumCulled = false;
      this.scene.add(surface.mesh);
      this.surfaces.set(key, surface);
    }
    return this.surfaces.get(key);
  }

  update(frame) {
    const {stage} = this;
    this.surfaces.forEach(surface => {
      surface.mesh.visible = false;
      for (const lines of [surface.lines, surface.links]) {
        if (lines) {
          lines.visible = false;
        }
      }
    });
    this.shown = [];
    this.run.bodies.forEach((body, index) => {
      if (!body.present(frame) || (body.obstacle && !stage.obstacles)) {
        return;
      }
      const surface = this.surfaceOf(index, frame);
      surface.update(frame);
      surface.mesh.visible = true;
      this.wire(surface, index);
      this.tint(surface, index, frame);
      this.link(surface, frame);
      this.shown.push(surface);
    });
    this.shadow.visible = stage.floor;
    this.grid.visible = stage.floor;
  }

  wire(surface, index) {
    const wanted = this.stage.wireframe || surface.isLines;
    if (wanted && !surface.lines) {
      const coloured = surface.isLines && surface.color;
      surface.lines = new LineSegments(surface.wireGeometry(), coloured ? this.strandMaterial : this.wireMaterials[index]);
      surface.lines.frustumCulled = false;
      this.scene.add(surface.lines);
    }
    if (surface.lines) {
      surface.lines.visible = wanted;
    }
  }

  // Connections in place of the surface, and of strands.
  link(surface, frame) {
    const {elements} = surface.body;
    if (!this.stage.choice.connections || !elements) {
      return;
    }
    if (!surface.links) {
      surface.links = new LineSegments(surface.linkGeometry(), this.linkMaterial);
      surface.links.frustumCulled = false;
      this.scene.add(surface.links);
    }
    surface.updateLinks(frame, this.stateColors);
    surface.links.visible = true;
    surface.mesh.visible = false;
    if (surface.lines && surface.isLines) {
      surface.lines.visible = false;
    }
  }

  tint(surface, index, frame) {
    const {choice} = this.stage, material = this.materials[index];
    if (!surface.color) {
      return;
    }
    const filled = choice.fill && choice.fill(this.run, surface.body, frame, surface.color.array);
    material.userData.own.value = filled ? 0 : 1;
    material.userData.crisp.value = choice.crisp ? 1 : 0;
    if (surface.isLines && !filled) {
      const {r, g, b} = material.userData.frontColor.value;
      for (let k = 0; k < surface.color.array.length; k += 3) {
        surface.color.array.set([r, g, b], k);
      }
    }
    surface.color.needsUpdate = Boolean(filled) || surface.isLines;
  }

  theme(dark) {
    this.stateColors = stateColors(dark);
    const {uniforms} = this.grid.material;
    uniforms.ink.value.set(dark ? '#ffffff' : '#27303a');
    uniforms.strength.value = dark ? 0.13 : 0.2;
    this.shadow.material.opacity = dark ? 0.42 : 0.2;
    this.sky.intensity = dark ? 1.4 : 1.6;
    this.wireMaterials.forEach(material => material.color.set(dark ? '#dfe6ee' : '#101418'));
  }
}

export class Stage {
  constructor(canvas, runs) {
    this.canvas = canvas;
    this.runs = runs;
    this.renderer = new WebGLRenderer({canvas, antialias: true, alpha: true, preserveDrawingBuffer: true});
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setScissorTest(true);
    this.box = boxOf(runs);
    this.wireframe = false;
    this.obstacles = true;
    this.floor = true;
    this.views = runs.map(run => new View(run, this.box, this));
    this.cells = [];
  }

  // As many columns as give each run the squarest part.
  layout(width, height) {
    const count = this.runs.length;
    let best = {score: -1};
    for (let columns = 1; columns <= count; columns++) {
      const rows = Math.ceil(count / columns), score = Math.min(width / columns, height / rows);
      best = score > best.score + 0.5 ? {score, columns, rows} : best;
    }
    const w = width / best.columns, h = height / best.rows;
    this.cells = this.runs.map((_, k) => ({x: (k % best.columns) * w, y: Math.floor(k / best.columns) * h, w, h}));
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    return w / h;
  }

  update(frames) {
    this.views.forEach((view, k) => view.update(frames[k]));
  }

  draw(camera, target) {
    const height = this.renderer.domElement.height / this.renderer.getPixelRatio();
    this.views.forEach((view, k) => {
      const {x, y, w, h} = this.cells[k];
      this.renderer.setViewport(x, height - y - h, w, h);
      this.renderer.setScissor(x, height - y - h, w, h);
      view.head.position.copy(camera.position);
      view.head.target.position.copy(target);
      this.renderer.render(view.scene, camera);
    });
  }
}

// What the camera takes in: all cloth in all frames, and obstacles that are not far larger.
function boxOf(runs) {
  const box = new Box3(), bodies = runs.flatMap(run => run.bodies);
  const bounds = body => {
    const {corner, size} = body.meta, min = new Vector3(...corner);
    return new Box3(min, min.clone().add(new Vector3(...size)));
  };
  bodies.filter(body => !body.obstacle).forEach(body => box.union(bounds(body)));
  const size = box.getSize(new Vector3()).length();
  bodies.filter(body => body.obstacle).map(bounds)
    .filter(b => b.getSize(new Vector3()).length() < 2.5 * size).forEach(b => box.union(b));
  if (box.isEmpty() || !(size > 0)) {
    box.expandByPoint(new Vector3(-0.5, -0.5, -0.5)).expandByPoint(new Vector3(0.5, 0.5, 0.5));
  }
  return box;
}
