// The stretch of time that the timeline shows, and how keys move it.

export interface Range {
  t0: number;
  t1: number;
}

/** The shortest stretch that can be shown, in ns. */
const LEAST = 20;

export class TimeView {
  t0: number;
  t1: number;
  scroll = 0;

  constructor(private readonly duration: number) {
    [this.t0, this.t1] = this.whole();
  }
  private whole(): [number, number] {
    const margin = 0.01 * Math.max(this.duration, LEAST);
    return [-margin, Math.max(this.duration, LEAST) + margin];
  }
  get span(): number {
    return this.t1 - this.t0;
  }
  /** How much of the run is in view: the span without the margins beside the run. */
  get shown(): number {
    return Math.max(0, Math.min(this.t1, this.duration) - Math.max(this.t0, 0));
  }
  showAll(): void {
    [this.t0, this.t1] = this.whole();
  }
  show({ t0, t1 }: Range): void {
    const [low, high] = this.whole(),
      span = Math.min(high - low, Math.max(LEAST, t1 - t0)),
      middle = (t0 + t1) / 2;
    this.t0 = Math.min(high - span, Math.max(low, middle - span / 2));
    this.t1 = this.t0 + span;
  }
  /** Zooms so that `time` stays where it is. */
  zoom(time: number, factor: number): void {
    const [low, high] = this.whole(),
      span = Math.min(high - low, Math.max(LEAST, this.span * factor)),
      share = (time - this.t0) / this.span;
    const t0 = time - share * span;
    this.show({ t0, t1: t0 + span });
  }
  pan(share: number): void {
    const by = share * this.span;
    this.show({ t0: this.t0 + by, t1: this.t1 + by });
  }
}

/** Keys as in Perfetto: W and S zoom, A and D pan, arrows pan and scroll.  A key that is held moves on smoothly. */
export class Keys {
  private readonly held = new Map<string, number>();
  private frame = 0;
  private last = 0;
  private readonly down = (event: KeyboardEvent) => this.press(event);
  private readonly up = (event: KeyboardEvent) => this.held.delete(nameOf(event));
  private readonly blur = () => this.held.clear();

  constructor(
    private readonly move: (key: string, amount: number) => void,
    private readonly once: (key: string) => boolean
  ) {
    addEventListener("keydown", this.down);
    addEventListener("keyup", this.up);
    addEventListener("blur", this.blur);
  }
  destroy(): void {
    removeEventListener("keydown", this.down);
    removeEventListener("keyup", this.up);
    removeEventListener("blur", this.blur);
    cancelAnimationFrame(this.frame);
  }

  private press(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.altKey || event.metaKey || target.matches?.("input, select, textarea")) return;
    const key = nameOf(event);
    if (!"wasd".includes(key) && !key.startsWith("arrow")) {
      if (this.once(key)) event.preventDefault();
      return;
    }
    event.preventDefault();
    if (event.repeat || this.held.has(key)) return;
    this.held.set(key, performance.now());
    this.move(key, 1);
    this.last = performance.now();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.glide());
  }

  /** A press is one step; after a quarter of a second a held key makes twelve steps a second. */
  private glide(): void {
    const now = performance.now(),
      steps = ((now - this.last) / 1000) * 12;
    this.last = now;
    for (const [key, since] of this.held) if (now - since > 250) this.move(key, Math.min(1, steps));
    if (this.held.size > 0) this.frame = requestAnimationFrame(() => this.glide());
  }
}

function nameOf(event: KeyboardEvent): string {
  return event.key.toLowerCase();
}
