// Charts on one time axis: one cursor, one zoom, drawn when they come into view.
import uPlot from "uplot";
import type { ChartData, Data, Line } from "./data";
import { say, times } from "./data";
import { axisTime, human, threeDigits, timeOfDay } from "./format";
import { FONT, bands, endLabels, heat, labelWidth, layerColour, seriesColour, strip, token } from "./paint";

const SYNC = "time";
const NARROW = 640;
/** Room for the lines' names at the right of every chart, at least and at most, CSS pixels. */
const GUTTER: [number, number] = [110, 200];
/** Lines that a chart may have for each of them to be named at its end. */
const FEW_LINES = 4;

interface Live {
  chart: ChartData;
  figure: HTMLElement;
  holder: HTMLElement;
  readout: HTMLElement | null;
  plot: uPlot | null;
  seen: boolean;
  /** Linear instead of logarithmic value axis. */
  linear: boolean;
}

let data: Data;
let zoom: [number, number];
let zooming = false;
/** The room that the widest name takes: the same for all charts, so that their time axes agree. */
let gutter = GUTTER[0];
const live: Live[] = [];

/** Height of the drawing area in CSS pixels. */
function height(chart: ChartData): number {
  if (chart.kind === "strip") return Math.max(chart.lines.length * 16, 16) + 40;
  if (chart.kind === "stack") return chart.unit === "ratio" ? 130 : 190;
  return chart.kind === "heat" ? 230 : 190;
}

function colours(chart: ChartData): string[] {
  const of = chart.kind === "stack" ? layerColour : seriesColour;
  return chart.lines.map((line) => of(line.colour));
}

/** Times and values as the plot wants them: one x for all lines, layers added up. */
function table(chart: ChartData): uPlot.AlignedData {
  if (chart.kind === "strip") {
    const longest = chart.lines.reduce((a, b) => (b.v.length > a.v.length ? b : a));
    return [times(longest), longest.v.map(() => null)];
  }
  if (chart.kind === "stack") {
    const first = chart.lines[0];
    if (!first) return [[]];
    const sums: (number | null)[][] = [];
    let below: (number | null)[] = first.v.map(() => 0);
    for (const line of chart.lines) {
      below = below.map((b, i) => {
        const v = line.v[i];
        return b === null || v === null || v === undefined ? null : b + v;
      });
      sums.push(below);
    }
    return [times(first), ...sums.reverse()];
  }
  // A gap reaches to the line's own next sample, past the times of other lines in between.
  const expand = 2;
  return uPlot.join(chart.lines.map((line) => [times(line), line.v]), chart.lines.map(() => [0, expand]));
}

/** Places of the samples that no line joins to another: gaps or ends on both sides. */
function alone(u: uPlot, index: number): number[] {
  const values = Array.from((u.data[index] ?? []) as ArrayLike<number | null | undefined>);
  // Where only other lines have a sample this one has none, which is not a gap.
  const own = values.map((v, i) => [v, i] as const).filter(([v]) => v !== undefined);
  return own.filter(([v], k) => v !== null && own[k - 1]?.[0] == null && own[k + 1]?.[0] == null).map(([, i]) => i);
}

function series(chart: ChartData): uPlot.Series[] {
  if (chart.kind === "strip") return [{}, { show: false }];
  const inks = colours(chart);
  const lines = chart.lines.map((line, i): uPlot.Series => ({
    stroke: inks[i],
    width: chart.kind === "stack" ? 0.5 : 1.5,
    dash: line.dashed ? [5, 4] : undefined,
    fill: chart.kind === "stack" ? inks[i] : undefined,
    points: chart.kind === "lines" ? { show: true, size: 4, width: 0, fill: inks[i], filter: alone } : { show: false },
  }));
  return [{}, ...(chart.kind === "stack" ? lines.reverse() : lines)];
}

function yScale({ chart, linear }: Live): uPlot.Scale {
  if (chart.kind === "strip") return { range: [0, chart.lines.length] };
  if (chart.kind === "stack" && chart.unit === "ratio") return { range: [0, 1] };
  if (chart.heat) {
    const { low, factor, rows } = chart.heat;
    const high = low * factor ** rows;
    return linear ? { range: [0, high] } : { distr: 3, range: [low, high] };
  }
  return { range: (_u, _min, max) => uPlot.rangeNum(0, max > 0 ? max : 1, { min: { pad: 0, hard: 0, mode: 1 }, max: { pad: 0.08, soft: 0, mode: 1 } }) };
}

function yAxis({ chart, linear }: Live, narrow: boolean): uPlot.Axis {
  const axis: uPlot.Axis = {
    size: narrow ? 62 : 78,
    gap: 4,
    font: FONT,
    stroke: token("--dim"),
    grid: { stroke: token("--grid"), width: 1 },
    ticks: { show: false },
    values: (_u, splits) => splits.map((v) => (v === null ? "" : v === 0 ? "0" : human(v, chart.unit))),
  };
  if (chart.unit === "bytes") axis.incrs = Array.from({ length: 50 }, (_, i) => 2 ** i);
  if (chart.kind === "strip") {
    axis.splits = () => chart.lines.map((_, i) => chart.lines.length - i - 0.5);
    axis.values = () => chart.lines.map((line) => {
      const label = say(line.label);
      return label.length <= 11 || narrow ? label : "";
    });
    axis.grid = { show: false };
  }
  if (chart.kind === "heat" && !linear) {
    axis.filter = (_u, splits) => splits.map((v) => (isDecade(v) ? v : null));
    axis.grid = { ...axis.grid, filter: axis.filter };
  }
  return axis;
}

function isDecade(v: number): boolean {
  const e = Math.log10(v);
  return Math.abs(e - Math.round(e)) < 1e-6;
}

function options(item: Live, width: number): uPlot.Options {
  const { chart } = item;
  const narrow = width < NARROW;
  const inks = colours(chart);
  return {
    width,
    height: height(chart),
    padding: [16, narrow ? 8 : gutter, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, min: zoom[0], max: zoom[1] }, y: yScale(item) },
    axes: [
      {
        size: 24,
        gap: 2,
        font: FONT,
        stroke: token("--dim"),
        grid: { show: false },
        ticks: { stroke: token("--grid"), size: 4 },
        values: (_u, splits) => {
          const step = splits.length > 1 ? (splits[1] ?? 0) - (splits[0] ?? 0) : 1000;
          return splits.map((v) => axisTime(v, step));
        },
      },
      yAxis(item, narrow),
    ],
    series: series(chart),
    cursor: {
      sync: { key: SYNC, scales: ["x", null] },
      drag: { x: true, y: false, setScale: true },
      y: false,
      points: { show: chart.kind === "lines" || chart.kind === "heat", size: 6 },
      bind: { dblclick: () => () => (setZoom(0, data.end), null) },
    },
    hooks: {
      drawClear: [(u) => {
        bands(u, data);
        if (chart.kind === "heat" && chart.heat) heat(u, chart.heat);
      }],
      draw: [(u) => {
        if (chart.kind === "strip") strip(u, chart.lines, chart.log ?? false, chart.full ?? 1);
        if (!narrow) endLabels(u, chart.lines, labelInks(chart, inks), labelPlaces(u, chart));
      }],
      setScale: [(u, key) => {
        if (key !== "x" || zooming) return;
        const { min, max } = u.scales.x!;
        if (min != null && max != null && (min !== zoom[0] || max !== zoom[1])) setZoom(min, max);
      }],
      setCursor: [(u) => readOut(item, u)],
    },
  };
}

function labelInks(chart: ChartData, inks: string[]): string[] {
  return chart.kind === "strip" ? chart.lines.map(() => token("--ink")) : inks;
}

/** Where each line's label stands, in canvas pixels. */
function labelPlaces(u: uPlot, chart: ChartData): (number | null)[] {
  const { bbox } = u;
  if (chart.kind === "strip") {
    const row = bbox.height / chart.lines.length;
    return chart.lines.map((line, i) => (say(line.label).length <= 11 ? null : bbox.top + (i + 0.5) * row));
  }
  const step = 13 * devicePixelRatio;
  if (chart.kind === "stack") return chart.lines.map((_, i) => bbox.top + bbox.height - (i + 0.5) * step);
  return chart.lines.map((line) => {
    // Where many lines end, the dashed ones share their colour with a solid one beside them.
    if (line.dashed && chart.lines.length > FEW_LINES) return null;
    const at = times(line);
    for (let i = line.v.length - 1; i >= 0; i--) {
      const v = line.v[i];
      if (v != null && (at[i] ?? 0) <= zoom[1]) return u.valToPos(v, "y", true);
    }
    return null;
  });
}

/** Usual time between two samples of a line, milliseconds. */
function usualStep(at: number[]): number {
  const steps = at.slice(1).map((t, i) => t - (at[i] ?? t)).filter((d) => d > 0).sort((a, b) => a - b);
  return steps[steps.length >> 1] ?? Infinity;
}

/** Value of a line at a moment: the sample nearest to it, null inside a gap and beyond its ends. */
function valueAt(line: Line, t: number): number | null {
  const at = times(line);
  let low = 0;
  let high = at.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) <= t) low = middle;
    else high = middle;
  }
  const nearer = Math.abs((at[high] ?? 0) - t) < Math.abs((at[low] ?? 0) - t) ? high : low;
  if (Math.abs((at[nearer] ?? 0) - t) > 2 * usualStep(at)) return null;
  return line.v[nearer] ?? null;
}

function readOut(item: Live, u: uPlot): void {
  const { readout, chart } = item;
  const left = u.cursor.left ?? -1;
  if (!readout) return;
  readout.replaceChildren();
  const inks = labelInks(chart, colours(chart));
  const add = (text: string, ink: string) => {
    const part = document.createElement("span");
    part.style.color = ink;
    part.textContent = text;
    readout.append(part);
  };
  if (left < 0) {
    // Where no names stand beside the lines, they stand here.
    if (u.width < NARROW && chart.lines.length > 1 && chart.kind !== "strip") chart.lines.forEach((line, i) => add(say(line.label), inks[i] ?? ""));
    clock(null);
    return;
  }
  const t = u.posToVal(left, "x");
  chart.lines.forEach((line, i) => {
    const value = valueAt(line, t);
    if (value !== null) add(`${say(line.label)} ${human(value, chart.unit)}`, inks[i] ?? "");
  });
  if (!readout.hasChildNodes()) {
    // What went wrong before a stretch without data is the likely reason for it.
    const reason = data.problems.filter((p) => p.t <= t).pop();
    add(say(data.words["no-data"]) + (reason ? ` (${say(reason.says)})` : ""), token("--dim"));
  }
  clock(t);
}

let pill: HTMLElement | null = null;

/** The moment under the cursor, how well the clocks agree, and what happened then. */
function clock(t: number | null): void {
  if (!pill) {
    pill = document.createElement("output");
    pill.className = "moment";
    document.body.append(pill);
  }
  pill.hidden = t === null;
  if (t === null) return;
  const parts = [];
  if (data.start !== null) parts.push(timeOfDay(data.start + t));
  const seconds = `${threeDigits(t / 1000)} s`;
  parts.push(document.documentElement.lang === "ja" ? `${say(data.words["start"])} ${seconds}` : `${seconds} ${say(data.words["start"])}`);
  const phase = data.phases.find((p) => p.t0 <= t && t <= p.t1);
  if (phase) parts.push(phase.name);
  if (data.clock !== null) parts.push(`${say(data.words["clock"])} ${human(data.clock, "seconds")}`);
  const reach = (zoom[1] - zoom[0]) / 200;
  for (const mark of [...data.events, ...data.problems]) {
    if (Math.abs(mark.t - t) <= reach) parts.push(`${mark.host ? mark.host + ": " : ""}${say(mark.says)}`);
  }
  pill.textContent = parts.join(" · ");
}

function setZoom(min: number, max: number): void {
  if (!(max > min)) return;
  zoom = [Math.max(0, min), Math.min(data.end, max)];
  zooming = true;
  for (const { plot } of live) plot?.setScale("x", { min: zoom[0], max: zoom[1] });
  zooming = false;
}

/** Moves the cursor of a chart and of all that follow it; the library's types leave out the third argument. */
function moveCursor(plot: uPlot, left: number): void {
  const set = plot.setCursor as (at: { left: number; top: number }, fire: boolean, publish: boolean) => void;
  set({ left, top: left < 0 ? -10 : 10 }, true, true);
}

function keys(item: Live, event: KeyboardEvent): void {
  const { plot } = item;
  if (!plot || event.ctrlKey || event.metaKey || event.altKey) return;
  const span = zoom[1] - zoom[0];
  const at = plot.cursor.left != null && plot.cursor.left >= 0
    ? plot.posToVal(plot.cursor.left, "x")
    : (zoom[0] + zoom[1]) / 2;
  const move = (to: number) => {
    const t = Math.min(Math.max(to, zoom[0]), zoom[1]);
    moveCursor(plot, plot.valToPos(t, "x"));
  };
  const step = event.shiftKey ? span / 20 : span / 200;
  const actions: Record<string, () => void> = {
    ArrowLeft: () => move(at - step),
    ArrowRight: () => move(at + step),
    "+": () => setZoom(at - span / 4, at + span / 4),
    "-": () => setZoom(at - span, at + span),
    Home: () => setZoom(0, data.end),
    Escape: () => moveCursor(plot, -10),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function draw(item: Live): void {
  const width = item.figure.clientWidth;
  if (!item.seen || width === 0 || item.chart.lines.length === 0) return;
  item.plot?.destroy();
  // From here on the drawing for paper is hidden on the screen.
  item.figure.classList.add("drawn");
  item.plot = new uPlot(options(item, width), table(item.chart), item.holder);
  readOut(item, item.plot);
}

/** Room for the widest name of all charts. */
function measure(): void {
  const names = live.flatMap(({ chart }) => chart.lines.map((line) => labelWidth(say(line.label)) + 10));
  gutter = Math.min(Math.max(GUTTER[0], ...names), GUTTER[1]);
}

/** Switches the value axis of the chart around a button between logarithmic and linear. */
export function toggleLog(button: HTMLElement): void {
  const item = live.find(({ figure }) => figure.contains(button));
  if (!item) return;
  item.linear = !item.linear;
  button.setAttribute("aria-pressed", String(!item.linear));
  draw(item);
}

/** Draws every chart that was drawn before once more: after a change of colours or language. */
export function redraw(): void {
  measure();
  live.forEach(draw);
}

/** Prepares all charts; each is drawn when it comes near the window. */
export function start(read: Data): void {
  data = read;
  zoom = [0, Math.max(data.end, 1)];
  const byId = new Map(data.charts.map((chart) => [chart.id, chart]));
  for (const holder of document.querySelectorAll<HTMLElement>(".plot")) {
    const chart = byId.get(holder.dataset["chart"] ?? "");
    const figure = holder.closest("figure");
    if (!chart || !figure) continue;
    const readout = figure.querySelector<HTMLElement>(".readout");
    const item: Live = { chart, figure, holder, readout, plot: null, seen: false, linear: false };
    holder.addEventListener("keydown", (event) => keys(item, event));
    live.push(item);
  }
  measure();
  const find = (element: Element) => live.find((item) => item.figure === element);
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const item = find(entry.target);
      if (!entry.isIntersecting || !item || item.seen) continue;
      item.seen = true;
      draw(item);
    }
  }, { rootMargin: "600px" });
  const size = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const item = find(entry.target);
      const width = item?.figure.clientWidth ?? 0;
      if (item?.plot && width > 0 && Math.abs(width - item.plot.width) > 1) draw(item);
    }
  });
  for (const { figure } of live) {
    near.observe(figure);
    size.observe(figure);
  }
}
