// Charts that grow while a run goes on: one cursor, one zoom, an earlier run underneath.
import uPlot from "uplot";
import { axisTime, human, threeDigits } from "../format";
import { FONT, bands, endLabels, seriesColour, token } from "../paint";
import { make, put } from "./dom";
import type { LineData, LineHead, Samples, State } from "./server";
import { word } from "./words";

/** The charts from top to bottom. */
const ORDER = ["throughput", "answers", "users", "latency", "loss", "queues", "waits", "cpu", "processes"];
/** Dashes of lines of one host in one chart, by their names. */
const DASHES: Record<string, number[]> = { p50: [5, 4], accept: [5, 4], pool: [1, 3] };
/** Charts whose lines differ in colour by name, not by host, in this order: lines of one name have one colour. */
const COLOURS: Record<string, string[]> = { waits: ["CPU", "Lock", "Client", "IO", "LWLock", "Commit", "IPC", "Timeout", "other"] };
const SYNC = "live";
const NARROW = 620;
/** Points of a line; when there are more, every second one is dropped. */
const POINTS_MAX = 4800;
/** A line is broken where it has no sample for so long, milliseconds. */
const GAP_MS = 2500;
/** A value tells of now for so long, milliseconds. */
const FRESH_MS = 3000;
/** The time axis of a run that has just begun is so long, milliseconds. */
const SHORTEST_MS = 10_000;

class Line {
  readonly t: number[] = [];
  readonly v: (number | null)[] = [];

  constructor(readonly head: LineHead, readonly earlier: boolean) {}

  add(t: number, v: number): void {
    const last = this.t[this.t.length - 1];
    if (last !== undefined && t <= last) return;
    if (last !== undefined && t - last > GAP_MS) {
      this.t.push(last + 1);
      this.v.push(null);
    }
    this.t.push(t);
    this.v.push(v);
    if (this.t.length > POINTS_MAX) this.thin();
  }

  private thin(): void {
    let kept = 0;
    for (let i = 0; i < this.t.length; i++) {
      if (i % 2 === 1 && this.v[i] !== null) continue;
      this.t[kept] = this.t[i] ?? 0;
      this.v[kept] = this.v[i] ?? null;
      kept++;
    }
    this.t.length = kept;
    this.v.length = kept;
  }

  /** Time of the last sample. */
  end(): number {
    return this.t[this.t.length - 1] ?? 0;
  }

  last(): number | null {
    return this.v[this.v.length - 1] ?? null;
  }

  /** The sample nearest to a moment, null inside a gap and beyond the ends. */
  at(t: number): number | null {
    let low = 0;
    let high = this.t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.t[middle] ?? 0) <= t) low = middle;
      else high = middle;
    }
    const near = Math.abs((this.t[high] ?? Infinity) - t) < Math.abs((this.t[low] ?? Infinity) - t) ? high : low;
    return Math.abs((this.t[near] ?? Infinity) - t) > GAP_MS ? null : (this.v[near] ?? null);
  }
}

class Chart {
  readonly figure: HTMLElement;
  private readonly name: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly holder: HTMLElement;
  private plot: uPlot | null = null;
  private drawn = 0;

  constructor(readonly id: string, private readonly all: Tracks) {
    this.name = make("span", { class: "name" });
    this.readout = make("span", { class: "readout", "aria-live": "off" });
    this.holder = make("div", { class: "plot", tabindex: "0", role: "img" });
    this.holder.addEventListener("keydown", (event) => this.keys(event));
    this.figure = make("figure", { class: "chart drawn", "data-track": id }, make("figcaption", {}, this.name, this.readout), this.holder);
    this.words();
  }

  words(): void {
    put(this.name, word(`track-${this.id}`));
    this.holder.setAttribute("aria-label", word(`track-${this.id}`));
  }

  lines(): Line[] {
    return this.all.lines.filter((line) => line.head.track === this.id);
  }

  private table(lines: Line[]): uPlot.AlignedData {
    return uPlot.join(lines.map((line) => [line.t, line.v] as uPlot.AlignedData));
  }

  /** Draws anew; needed when lines, colours or the width have changed. */
  draw(): void {
    const lines = this.lines();
    const width = this.holder.clientWidth;
    this.figure.hidden = lines.length === 0;
    if (lines.length === 0 || width === 0) return;
    this.plot?.destroy();
    this.drawn = lines.length;
    this.plot = new uPlot(this.options(lines, width), this.table(lines), this.holder);
    this.tell(null);
  }

  /** Shows new samples. */
  update(): void {
    const lines = this.lines();
    if (!this.plot || lines.length !== this.drawn) return this.draw();
    this.plot.batch(() => {
      this.plot?.setData(this.table(lines), false);
      this.plot?.setScale("x", { min: this.all.zoom[0], max: this.all.zoom[1] });
    });
    if ((this.plot.cursor.left ?? -1) < 0) this.tell(null);
  }

  resize(): void {
    if (this.plot && Math.abs(this.plot.width - this.holder.clientWidth) > 1) this.draw();
  }

  zoom(min: number, max: number): void {
    this.plot?.setScale("x", { min, max });
  }

  private colour(line: Line): string {
    const names = COLOURS[this.id];
    return seriesColour(names ? Math.max(names.indexOf(line.head.name), 0) : this.all.colour(line.head.host));
  }

  private options(lines: Line[], width: number): uPlot.Options {
    const unit = lines[0]?.head.unit ?? "1";
    const narrow = width < NARROW;
    const inks = lines.map((line) => this.colour(line));
    return {
      width,
      height: 132,
      // The last label of the time axis is centred on the end of the chart.
      padding: [12, narrow ? 18 : 118, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: (_u, min, max) => [min, max], min: this.all.zoom[0], max: this.all.zoom[1] },
        y: { range: (_u, _min, max) => uPlot.rangeNum(0, max > 0 ? max : 1, { min: { pad: 0, hard: 0, mode: 1 }, max: { pad: 0.08, soft: unit === "ratio" ? 0.01 : 0, mode: 1 } }) },
      },
      axes: [
        {
          size: 22, gap: 2, font: FONT, stroke: token("--dim"), grid: { show: false },
          ticks: { stroke: token("--grid"), size: 4 },
          values: (_u, splits) => splits.map((v) => axisTime(v, (splits[1] ?? 0) - (splits[0] ?? 0) || 1000)),
        },
        {
          size: narrow ? 62 : 74, gap: 4, font: FONT, stroke: token("--dim"),
          grid: { stroke: token("--grid"), width: 1 }, ticks: { show: false }, space: 26,
          values: (_u, splits) => splits.map((v) => (v === 0 ? "0" : human(v, unit))),
        },
      ],
      series: [{}, ...lines.map((line, i): uPlot.Series => ({
        stroke: inks[i],
        width: line.earlier ? 1.25 : 1.75,
        alpha: line.earlier ? 0.65 : 1,
        dash: line.earlier ? [2, 3] : DASHES[line.head.name],
        points: { show: (_u: uPlot, _s: number, i0: number, i1: number) => i1 - i0 < 2 },
        spanGaps: false,
      }))],
      cursor: {
        sync: { key: SYNC, scales: ["x", null] },
        drag: { x: true, y: false, setScale: true },
        y: false,
        points: { size: 6 },
        bind: { dblclick: () => () => (this.all.whole(), null) },
      },
      hooks: {
        drawClear: [(u) => bands(u, { phases: this.all.phases, events: [] })],
        draw: [(u) => {
          if (narrow) return;
          const own = lines.filter((line) => !line.earlier);
          const places = own.map((line) => {
            const v = line.last();
            return v === null ? null : u.valToPos(v, "y", true);
          });
          endLabels(u, own.map((line) => ({ label: this.label(line) })), own.map((line) => this.colour(line)), places);
        }],
        setScale: [(u, key) => {
          if (key !== "x") return;
          const { min, max } = u.scales.x!;
          if (min != null && max != null) this.all.zoomed(min, max);
        }],
        setCursor: [(u) => {
          const left = u.cursor.left ?? -1;
          this.tell(left < 0 ? null : u.posToVal(left, "x"));
        }],
      },
    };
  }

  private label(line: Line): string {
    return [line.head.host, line.head.name].filter(Boolean).join(" ");
  }

  /** Values at a moment, or the newest ones. */
  private tell(t: number | null): void {
    this.readout.replaceChildren();
    for (const line of this.lines()) {
      const value = t === null ? line.last() : line.at(t);
      if (value === null || (line.earlier && t === null)) continue;
      const name = line.earlier ? word("track-earlier", { name: this.label(line) }) : this.label(line);
      const part = make("span", {}, `${name} ${human(value, line.head.unit)}`);
      part.style.color = this.colour(line);
      if (line.earlier) part.className = "earlier";
      this.readout.append(part);
    }
    this.all.moment(t);
  }

  private keys(event: KeyboardEvent): void {
    const { plot } = this;
    if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const [min, max] = this.all.zoom;
    const span = max - min;
    const left = plot.cursor.left ?? -1;
    const at = left >= 0 ? plot.posToVal(left, "x") : (min + max) / 2;
    const set = plot.setCursor as (at: { left: number; top: number }, fire: boolean, publish: boolean) => void;
    const move = (t: number) => set({ left: plot.valToPos(Math.min(Math.max(t, min), max), "x"), top: 10 }, true, true);
    const step = event.shiftKey ? span / 20 : span / 200;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => move(at - step),
      ArrowRight: () => move(at + step),
      "+": () => this.all.zoomed(at - span / 4, at + span / 4),
      "-": () => this.all.zoomed(at - span, at + span),
      Home: () => this.all.whole(),
      Escape: () => set({ left: -10, top: -10 }, true, true),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** All tracks of the page. */
export class Tracks {
  lines: Line[] = [];
  zoom: [number, number] = [0, SHORTEST_MS];
  phases: { name: string; t0: number; t1: number; probe: boolean }[] = [];
  private own: Line[] = [];
  private earlier: Line[] = [];
  private hosts: string[] = [];
  private chosen = false;
  /** The time axis is at least so long, milliseconds. */
  private shortest = SHORTEST_MS;
  private zooming = false;
  private readonly charts = ORDER.map((id) => new Chart(id, this));
  private readonly pill = make("output", { class: "moment", hidden: true });

  constructor(place: HTMLElement) {
    place.append(...this.charts.map((chart) => chart.figure));
    document.body.append(this.pill);
    new ResizeObserver(() => this.charts.forEach((chart) => chart.resize())).observe(place);
  }

  /** Begins with these lines: another run, or the same after the line to the server was lost. */
  begin(lines: LineData[]): void {
    this.own = lines.map((data) => line(data, false));
    this.chosen = false;
    this.shortest = SHORTEST_MS;
    this.gather();
  }

  /** The run is over: the axis ends with it. */
  over(): void {
    this.shortest = 1000;
    this.gather();
  }

  add(samples: Samples): void {
    // Heads that are known already came with a snapshot.
    const fresh = samples.heads.slice(Math.max(0, this.own.length - samples.first));
    this.own.push(...fresh.map((head) => new Line(head, false)));
    for (const [index, t, v] of samples.points) this.own[index]?.add(t, v);
    if (fresh.length > 0) this.gather();
    else this.show();
  }

  marks(state: State): void {
    this.phases = state.phases.map((phase) => ({ ...phase, probe: false }));
    const hosts = state.hosts.map((host) => host.name);
    if (hosts.join("\n") !== this.hosts.join("\n")) {
      this.hosts = hosts;
      this.redraw();
    }
  }

  /** Lays an earlier run under this one; an empty list takes it away. */
  under(lines: LineData[]): void {
    this.earlier = lines.map((data) => line(data, true));
    this.gather();
  }

  colour(host: string): number {
    const known = this.hosts.indexOf(host);
    if (known >= 0) return known;
    const others = [...new Set(this.lines.map((line) => line.head.host))].filter((name) => !this.hosts.includes(name));
    return this.hosts.length + Math.max(others.indexOf(host), 0);
  }

  /** The newest value of a track for each host that has one. */
  newest(track: string, name = ""): Map<string, number> {
    const out = new Map<string, number>();
    const end = this.own.reduce((end, line) => Math.max(end, line.end()), 0);
    // What a phase measured that is over tells nothing of now, but for the hosts' own state.
    const over = track === "cpu" || track === "processes" ? 0 : (this.phases[this.phases.length - 1]?.t1 ?? 0);
    const since = Math.max(end - FRESH_MS, over);
    for (const line of this.own) {
      const value = line.end() >= since ? line.last() : null;
      if (line.head.track === track && line.head.name === name && value !== null) out.set(line.head.host, value);
    }
    return out;
  }

  unit(track: string): string {
    return this.own.find((line) => line.head.track === track)?.head.unit ?? "1";
  }

  get empty(): boolean {
    return this.lines.length === 0;
  }

  private gather(): void {
    this.lines = [...this.earlier, ...this.own];
    this.fit();
    this.redraw();
  }

  private show(): void {
    this.fit();
    this.charts.forEach((chart) => chart.update());
  }

  private end(): number {
    return this.lines.reduce((end, line) => Math.max(end, line.end()), 0);
  }

  private fit(): void {
    if (!this.chosen) this.zoom = [0, Math.max(this.end(), this.shortest)];
  }

  redraw(): void {
    this.charts.forEach((chart) => chart.draw());
  }

  words(): void {
    this.charts.forEach((chart) => chart.words());
    this.redraw();
  }

  whole(): void {
    this.chosen = false;
    this.fit();
    this.zoomAll();
  }

  zoomed(min: number, max: number): void {
    if (this.zooming || !(max > min) || (min === this.zoom[0] && max === this.zoom[1])) return;
    this.zoom = [Math.max(0, min), Math.min(max, Math.max(this.end(), this.shortest))];
    this.chosen = true;
    this.zoomAll();
  }

  private zoomAll(): void {
    this.zooming = true;
    this.charts.forEach((chart) => chart.zoom(...this.zoom));
    this.zooming = false;
  }

  /** The moment under the cursor. */
  moment(t: number | null): void {
    this.pill.hidden = t === null;
    if (t === null) return;
    const seconds = `${threeDigits(t / 1000)} s`;
    const start = word("tracks-start");
    const parts = [document.documentElement.lang === "ja" ? `${start} ${seconds}` : `${seconds} ${start}`];
    const phase = this.phases.find((p) => p.t0 <= t && t <= p.t1);
    if (phase) parts.push(phase.name);
    put(this.pill, parts.join(" · "));
  }
}

function line(data: LineData, earlier: boolean): Line {
  const out = new Line(data, earlier);
  for (let i = 0; i + 1 < data.points.length; i += 2) out.add(data.points[i] ?? 0, data.points[i + 1] ?? 0);
  return out;
}
