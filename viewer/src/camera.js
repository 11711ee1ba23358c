// One camera for all runs: it turns around a point. One finger or the left button turns, two fingers or another button
// move, the wheel and pinching come closer.
import {PerspectiveCamera, Vector3} from 'three';

const PITCH_MAX = Math.PI / 2 - 0.01;

export class Orbit {
  constructor(element, changed) {
    this.camera = new PerspectiveCamera(32, 1, 0.01, 100);
    this.changed = changed;
    this.target = new Vector3();
    this.home = null;
    this.pointers = new Map();
    this.element = element;
    element.addEventListener('pointerdown', event => this.down(event));
    element.addEventListener('pointermove', event => this.move(event));
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      element.addEventListener(end, event => this.pointers.delete(event.pointerId));
    }
    element.addEventListener('wheel', event => this.wheel(event), {passive: false});
    element.addEventListener('contextmenu', event => event.preventDefault());
    element.addEventListener('dblclick', () => this.reset());
  }

  // Puts the box into the picture; the same again on reset.
  frame(box) {
    this.home = box;
    this.yaw = 0.6;
    this.pitch = 0.32;
    box.getCenter(this.target);
    this.radius = Math.max(0.5 * box.getSize(new Vector3()).length(), 1e-6);
    this.distance = this.fit(box);
    this.place();
  }

  // The least distance from which every corner of the box is seen, with a margin.
  fit(box) {
    const {yaw, pitch, camera} = this, tan = Math.tan(camera.fov * Math.PI / 360);
    const back = new Vector3(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch));
    const right = new Vector3(Math.cos(yaw), 0, -Math.sin(yaw)), up = back.clone().cross(right);
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new Vector3(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(this.target);
      const side = Math.max(Math.abs(corner.dot(right)) / camera.aspect, Math.abs(corner.dot(up))) / tan;
      distance = Math.max(distance, corner.dot(back) + 1.06 * side);
    }
    return Math.max(distance, 1.2 * this.radius);
  }

  reset() {
    this.frame(this.home);
  }

  resize(aspect) {
    this.camera.aspect = aspect;
    this.place();
  }

  place() {
    const {camera, distance, yaw, pitch, target} = this;
    camera.position.set(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch));
    camera.position.multiplyScalar(distance).add(target);
    camera.near = Math.max(distance - 20 * this.radius, 0.02 * distance);
    camera.far = distance + 20 * this.radius;
    camera.lookAt(target);
    camera.updateProjectionMatrix();
    this.changed();
  }

  turn(dx, dy) {
    this.yaw -= dx;
    this.pitch = Math.min(Math.max(this.pitch + dy, -PITCH_MAX), PITCH_MAX);
    this.place();
  }

  // By shares of the picture's height.
  pan(dx, dy) {
    const size = 2 * this.distance * Math.tan(this.camera.fov * Math.PI / 360);
    const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const up = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    this.target.addScaledVector(right, -dx * size).addScaledVector(up, dy * size);
    this.place();
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.02 * this.radius), 40 * this.radius);
    this.place();
  }

  // ---- pointers

  down(event) {
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({preventScroll: true});
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      return;
    }
    const now = {x: event.clientX, y: event.clientY}, height = this.element.clientHeight;
    if (this.pointers.size > 1) {
      this.pinch(event.pointerId, before, now, height);
    } else if (event.buttons & 6 || event.shiftKey) {
      this.pan((now.x - before.x) / height, (now.y - before.y) / height);
    } else {
      this.turn(4 * (now.x - before.x) / height, 4 * (now.y - before.y) / height);
    }
    this.pointers.set(event.pointerId, now);
  }

  pinch(id, before, now, height) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const was = Math.hypot(before.x - other.x, before.y - other.y), is = Math.hypot(now.x - other.x, now.y - other.y);
    this.pan((now.x - before.x) / (2 * height), (now.y - before.y) / (2 * height));
    this.zoom(was / Math.max(is, 1));
  }

  wheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 16 * event.deltaY : event.deltaY;
    this.zoom(Math.exp(Math.min(Math.max(pixels, -200), 200) * 0.0015));
  }
}
