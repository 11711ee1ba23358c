// The timeline: which frame is shown. Runs go in step by time; frames are counted at the rate of the first run.

export const speeds = [0.1, 0.25, 0.5, 1, 2, 4];

export class Player {
  constructor(runs, show) {
    this.runs = runs;
    this.show = show; // called with the frame of each run; a promise of being drawn
    this.rate = runs[0].rate;
    this.duration = Math.max(...runs.map(run => (run.frameCount - 1) / run.rate));
    this.last = Math.round(this.duration * this.rate);
    this.frame = 0;
    this.clock = 0; // seconds, while it plays
    this.speed = 1;
    this.loop = true;
    this.playing = false;
    this.listeners = [];
  }

  get time() {
    return this.frame / this.rate;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  changed() {
    this.listeners.forEach(listener => listener());
  }

  frameOf(run, frame) {
    return Math.min(Math.round(frame * run.rate / this.rate), run.frameCount - 1);
  }

  isLoaded(frame) {
    return this.runs.every(run => this.frameOf(run, frame) < run.loaded);
  }

  // The share of the timeline that is unpacked.
  loaded() {
    return Math.min(...this.runs.map(run => run.loaded / run.frameCount));
  }

  async seek(frame) {
    const wanted = Math.min(Math.max(Math.round(frame), 0), this.last);
    this.frame = wanted;
    this.clock = wanted / this.rate;
    this.changed();
    await Promise.all(this.runs.map(run => run.whenLoaded(this.frameOf(run, wanted))));
    if (this.frame === wanted) {
      this.show(this.runs.map(run => this.frameOf(run, wanted)));
    }
  }

  seekTime(time) {
    return this.seek(time * this.rate);
  }

  play() {
    if (this.playing || this.last === 0) {
      return;
    }
    this.playing = true;
    this.clock = this.frame >= this.last ? 0 : this.time;
    let before = performance.now();
    const tick = now => {
      if (!this.playing) {
        return;
      }
      this.advance(Math.min(Math.max(now - before, 0), 250) / 1000);
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    this.changed();
  }

  // Waits where the next frame is not unpacked yet.
  advance(seconds) {
    let clock = this.clock + seconds * this.speed;
    if (clock >= this.duration + 1 / this.rate) {
      clock = this.loop ? clock % (this.duration + 1 / this.rate) : this.duration;
      if (!this.loop) {
        this.seek(this.last);
        this.pause();
        return;
      }
    }
    const frame = Math.min(Math.floor(clock * this.rate + 1e-6), this.last);
    if (!this.isLoaded(frame)) {
      return;
    }
    this.clock = clock;
    if (frame !== this.frame) {
      this.frame = frame;
      this.show(this.runs.map(run => this.frameOf(run, frame)));
      this.changed();
    }
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) {
      this.pause();
    } else {
      this.play();
    }
  }

  faster(by) {
    const k = Math.min(Math.max(speeds.indexOf(this.speed) + by, 0), speeds.length - 1);
    this.speed = speeds[k];
    this.changed();
  }
}
