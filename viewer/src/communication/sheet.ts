// A canvas as wide as its container, which is drawn again when that changes.

import { h } from "../dom";

const FONT = "12px system-ui, sans-serif";

export class Sheet {
  readonly canvas: HTMLCanvasElement;
  readonly readout = h("div", { class: "readout comm" });
  readonly element: HTMLElement;
  width = 0;
  height = 0;
  private frame = 0;

  constructor(
    label: string,
    private readonly heightFor: (width: number) => number,
    private readonly draw: (ctx: CanvasRenderingContext2D, width: number, height: number) => void,
    name = ""
  ) {
    this.canvas = h("canvas", { class: `sheet ${name}`, tabindex: 0, role: "img", "aria-label": label });
    this.element = h("figure", { class: "sheet" }, this.canvas, this.readout);
    (this.element as HTMLElement & { redraw?: () => void }).redraw = () => this.paint();
    new ResizeObserver(() => {
      if (this.element.clientWidth !== this.width) this.paint();
    }).observe(this.element);
  }

  request(): void {
    this.canvas.dataset.done = "no";
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    const width = this.element.clientWidth,
      ratio = devicePixelRatio || 1,
      began = performance.now();
    if (width < 80) return;
    this.width = width;
    this.height = this.heightFor(width);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    const ctx = this.canvas.getContext("2d")!;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, this.height);
    ctx.font = FONT;
    this.draw(ctx, width, this.height);
    Object.assign(this.canvas.dataset, { done: "yes", ms: (performance.now() - began).toFixed(1) });
  }

  /** The position of a pointer event in the sheet. */
  place(event: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }
}
