// The picture of a heat map as a surface in three dimensions, or, without WebGL, as lines.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Scene,
  Sprite,
  SpriteMaterial,
  CanvasTexture,
  WebGLRenderer,
  SphereGeometry,
  MeshLambertMaterial,
  DirectionalLight,
  AmbientLight,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { h } from "./dom";
import { View } from "./heatmap/picture";
import { colours, themed } from "./palette";
import { State } from "./state";

const MOST = 220,
  HEIGHT = 0.45;

/** At most MOST x MOST cells with the largest value of each, so that peaks remain. */
function shrink({ rows, cols, values }: View): { rows: number; cols: number; values: Float32Array } {
  const r = Math.min(rows, MOST),
    c = Math.min(cols, MOST),
    out = new Float32Array(r * c).fill(-Infinity);
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < cols; ++j) {
      const k = Math.floor((i * r) / rows) * c + Math.floor((j * c) / cols),
        v = values[i * cols + j];
      if (v > out[k]) out[k] = v;
    }
  return { rows: r, cols: c, values: out };
}

export interface Labels {
  ranks: [string, string];
  steps: [string, string];
  /** Of the lower and of the upper end of the scale. */
  values: [string, string];
}

export interface SurfaceView {
  element: HTMLElement;
  show(view: View, labels: Labels): void;
  destroy(): void;
}

export function surface(state: State, height: number): SurfaceView {
  try {
    return new Surface(state, height);
  } catch {
    return new Ridges(state, height);
  }
}

class Surface implements SurfaceView {
  readonly element: HTMLElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(40, 1, 0.01, 20);
  private readonly controls: OrbitControls;
  private readonly marker = new Mesh(new SphereGeometry(0.012, 12, 8), new MeshBasicMaterial());
  private mesh?: Mesh;
  private labels: Sprite[] = [];
  private frame?: LineSegments;
  private view?: View;
  private text?: Labels;
  private readonly stops: (() => void)[] = [];
  private pending = 0;

  constructor(
    private readonly state: State,
    private readonly height: number
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.element = h(
      "div",
      { class: "surface", "data-kind": "webgl" },
      this.renderer.domElement,
      h(
        "p",
        { class: "quiet" },
        "Drag or use the arrow keys to rotate; use the wheel, + and \u2212 to zoom; drag with the right button to move."
      )
    );
    this.renderer.domElement.setAttribute("role", "img");
    this.renderer.domElement.setAttribute(
      "aria-label",
      "Load by rank and step as a surface; the heat map shows the same data."
    );
    this.renderer.domElement.tabIndex = 0;
    this.camera.position.set(1.05, 0.92, 1.18);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.target.set(0, 0.02, 0);
    this.controls.addEventListener("change", () => this.draw());
    this.controls.update();
    this.scene.add(new AmbientLight(0xffffff, 1.9));
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(-1, 2, 0.5);
    this.scene.add(sun, this.marker);
    this.marker.visible = false;
    this.renderer.domElement.addEventListener("keydown", (event) => this.key(event));
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(this.element);
    this.stops.push(
      () => observer.disconnect(),
      state.on("cursor", () => this.mark())
    );
  }

  private key(event: KeyboardEvent): void {
    const turn: Record<string, [number, number]> = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, 0.08],
      ArrowDown: [0, -0.08],
    };
    const by = turn[event.key],
      nearer = ({ "+": 0.9, "=": 0.9, "-": 1 / 0.9 } as Record<string, number>)[event.key];
    const { position } = this.camera;
    if (nearer) {
      position.sub(this.controls.target).multiplyScalar(nearer).add(this.controls.target);
      this.controls.update();
      this.draw();
      event.preventDefault();
    }
    if (!by) return;
    const r = Math.hypot(position.x, position.z),
      angle = Math.atan2(position.z, position.x) + by[0];
    position.set(r * Math.cos(angle), Math.max(0.05, position.y + by[1]), r * Math.sin(angle));
    this.controls.update();
    this.draw();
    event.preventDefault();
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (width < 50) return;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
    this.renderer.setSize(width, this.height);
    this.camera.aspect = width / this.height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  show(view: View, labels: Labels): void {
    this.view = view;
    this.text = labels;
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => this.build());
  }

  private build(): void {
    const view = this.view!,
      { rows, cols, values } = shrink(view),
      table = colours(this.state.palette),
      { low, high } = view;
    // A single rank or step needs an area too.
    const R = Math.max(2, rows),
      C = Math.max(2, cols);
    const at = new Float32Array(R * C * 3),
      colour = new Float32Array(R * C * 3),
      shade = new Color();
    for (let i = 0; i < R; ++i)
      for (let j = 0; j < C; ++j) {
        const v = values[Math.min(i, rows - 1) * cols + Math.min(j, cols - 1)],
          share = high > low ? Math.min(1, Math.max(0, (v - low) / (high - low))) : 0,
          k = i * C + j;
        at.set([j / (C - 1) - 0.5, share * HEIGHT, i / (R - 1) - 0.5], 3 * k);
        const c = 3 * Math.round(255 * share);
        shade.setRGB(table[c] / 255, table[c + 1] / 255, table[c + 2] / 255, "srgb");
        colour.set([shade.r, shade.g, shade.b], 3 * k);
      }
    const index = new Uint32Array((R - 1) * (C - 1) * 6);
    for (let i = 0, n = 0; i + 1 < R; ++i)
      for (let j = 0; j + 1 < C; ++j) {
        const a = i * C + j;
        index.set([a, a + C, a + 1, a + 1, a + C, a + C + 1], n);
        n += 6;
      }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(at, 3));
    geometry.setAttribute("color", new BufferAttribute(colour, 3));
    geometry.setIndex(new BufferAttribute(index, 1));
    geometry.computeVertexNormals();
    this.clear();
    this.mesh = new Mesh(geometry, new MeshLambertMaterial({ vertexColors: true, side: DoubleSide }));
    this.scene.add(this.mesh);
    this.furnish();
    this.mark();
    this.draw();
  }

  /** The outline of the base and the labels of its edges. */
  private furnish(): void {
    const corner = [
        [-0.5, -0.5],
        [0.5, -0.5],
        [0.5, 0.5],
        [-0.5, 0.5],
      ],
      line: number[] = [];
    corner.forEach(([x, z], i) => {
      const [nx, nz] = corner[(i + 1) % 4];
      line.push(x, 0, z, nx, 0, nz, x, 0, z, x, HEIGHT, z);
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(line), 3));
    this.frame = new LineSegments(geometry, new LineBasicMaterial({ color: new Color(themed("--quiet")) }));
    this.scene.add(this.frame);
    const { ranks, steps, values } = this.text!;
    for (const [text, x, y, z] of [
      [ranks[0], 0.62, 0, -0.44],
      [ranks[1], 0.62, 0, 0.34],
      [steps[0], -0.44, 0, 0.58],
      [steps[1], 0.34, 0, 0.58],
      [values[0], -0.62, 0.02, 0.5],
      [values[1], -0.62, HEIGHT, 0.5],
    ] as [string, number, number, number][]) {
      const label = labelSprite(text);
      label.position.set(x, y, z);
      this.labels.push(label);
      this.scene.add(label);
    }
  }

  private clear(): void {
    for (const object of [this.mesh, this.frame, ...this.labels]) if (object) this.scene.remove(object);
    this.mesh?.geometry.dispose();
    (this.mesh?.material as MeshLambertMaterial | undefined)?.dispose();
    this.frame?.geometry.dispose();
    for (const label of this.labels) {
      label.material.map?.dispose();
      label.material.dispose();
    }
    this.labels = [];
  }

  private mark(): void {
    const { cursor, viewport: v } = this.state,
      view = this.view;
    const x = cursor ? (cursor.step - v.c0) / (v.c1 - v.c0) : -1,
      z = cursor ? (cursor.row - v.r0) / (v.r1 - v.r0) : -1;
    this.marker.visible = view !== undefined && x >= 0 && x <= 1 && z >= 0 && z <= 1;
    if (this.marker.visible && view) {
      const value =
        view.values[
          Math.min(view.rows - 1, Math.floor(z * view.rows)) * view.cols +
            Math.min(view.cols - 1, Math.floor(x * view.cols))
        ];
      const share = view.high > view.low ? (value - view.low) / (view.high - view.low) : 0;
      this.marker.position.set(x - 0.5, share * HEIGHT + 0.01, z - 0.5);
      (this.marker.material as MeshBasicMaterial).color.set(themed("--mark"));
    }
    this.draw();
  }

  private draw(): void {
    this.renderer.render(this.scene, this.camera);
  }

  destroy(): void {
    cancelAnimationFrame(this.pending);
    for (const stop of this.stops) stop();
    this.controls.dispose();
    this.clear();
    this.renderer.dispose();
  }
}

function labelSprite(text: string): Sprite {
  const canvas = h("canvas", { width: 512, height: 64 }),
    ctx = canvas.getContext("2d")!;
  ctx.font = "36px system-ui, sans-serif";
  ctx.fillStyle = themed("--text");
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(text, 256, 32);
  const sprite = new Sprite(
    new SpriteMaterial({ map: new CanvasTexture(canvas), depthTest: false, transparent: true })
  );
  sprite.scale.set(0.56, 0.07, 1);
  return sprite;
}

/** A line per rank, each hiding the lines behind it. */
class Ridges implements SurfaceView {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {
    role: "img",
    "aria-label": "Load by rank and step as lines, one behind the other",
  });
  private view?: View;
  private text?: Labels;
  private readonly observer = new ResizeObserver(() => this.draw());

  constructor(
    private readonly state: State,
    private readonly height: number
  ) {
    this.element = h(
      "div",
      { class: "surface", "data-kind": "flat" },
      this.canvas,
      h("p", { class: "quiet" }, "This browser has no WebGL: the surface is drawn as lines.")
    );
    this.observer.observe(this.element);
  }
  show(view: View, labels: Labels): void {
    this.view = view;
    this.text = labels;
    this.draw();
  }
  private draw(): void {
    const width = this.element.clientWidth,
      ratio = devicePixelRatio || 1;
    if (!this.view || !this.text || width < 50) return;
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    const ctx = this.canvas.getContext("2d")!,
      { rows, cols, values } = shrink(this.view),
      { low, high } = this.view,
      table = colours(this.state.palette);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const lines = Math.min(rows, 60),
      depth = this.height * 0.5,
      rise = this.height * 0.38,
      lean = width * 0.12,
      span = width - lean - 60;
    for (let l = 0; l < lines; ++l) {
      const back = lines > 1 ? 1 - l / (lines - 1) : 0,
        i = Math.min(rows - 1, Math.floor((l * rows) / lines)),
        x0 = 30 + back * lean,
        y0 = this.height - 24 - back * depth;
      let top = 0;
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      for (let j = 0; j < cols; ++j) {
        const share = high > low ? Math.max(0, (values[i * cols + j] - low) / (high - low)) : 0;
        top = Math.max(top, share);
        ctx.lineTo(x0 + (cols > 1 ? j / (cols - 1) : 0) * span, y0 - share * rise);
      }
      ctx.lineTo(x0 + span, y0);
      ctx.closePath();
      ctx.fillStyle = themed("--page");
      ctx.fill();
      const c = 3 * Math.round(255 * Math.min(1, top));
      ctx.strokeStyle = `rgb(${table[c]},${table[c + 1]},${table[c + 2]})`;
      ctx.stroke();
    }
    ctx.fillStyle = themed("--quiet");
    ctx.font = "12px system-ui, sans-serif";
    const { steps, ranks, values: ends } = this.text;
    ctx.fillText(
      `${steps[0]} .. ${steps[1]}, ${ranks[0]} (back) .. ${ranks[1]} (front), ${ends[0]} .. ${ends[1]}`,
      30,
      this.height - 6
    );
  }
  destroy(): void {
    this.observer.disconnect();
  }
}
