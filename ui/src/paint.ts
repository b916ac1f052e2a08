// Colours of the page's tokens, and what is painted below and above the lines of a chart.
import type uPlot from "uplot";
import type { Data, Heat, Line, Words } from "./data";
import { say, times } from "./data";

const root = document.documentElement;

/** Value of a CSS custom property of the page. */
export function token(name: string): string {
  return getComputedStyle(root).getPropertyValue(name).trim();
}

export function seriesColour(index: number): string {
  return token(`--s${index % 8}`);
}

/** Colour of a CPU state's layer. */
export function layerColour(index: number): string {
  return token(`--layer${index % 7}`);
}

export const FONT = '11px system-ui, "Hiragino Sans", "Noto Sans JP", "Yu Gothic UI", sans-serif';

function font(): string {
  return FONT.replace("11px", `${11 * devicePixelRatio}px`);
}

/** Phases as faint bands, events as thin marks, names of phases where there is room. */
export function bands(u: uPlot, data: Pick<Data, "phases" | "events">): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  ctx.clip();
  ctx.font = font();
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  let free = bbox.left;
  data.phases.forEach((phase, i) => {
    const x0 = u.valToPos(phase.t0, "x", true);
    const x1 = u.valToPos(phase.t1, "x", true);
    ctx.fillStyle = token(i % 2 ? "--band-odd" : "--band");
    ctx.fillRect(x0, bbox.top, Math.max(x1 - x0, 1), bbox.height);
    const from = Math.max(x0, bbox.left) + 3 * devicePixelRatio;
    const width = ctx.measureText(phase.name).width;
    if (!phase.probe && data.phases.length > 1 && from >= free && from + width <= Math.min(x1, bbox.left + bbox.width)) {
      ctx.fillStyle = token("--dim");
      ctx.fillText(phase.name, from, bbox.top - 1);
      free = from + width + 8;
    }
  });
  ctx.strokeStyle = token("--mark");
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const event of data.events) {
    const x = Math.round(u.valToPos(event.t, "x", true)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

const measuring = document.createElement("canvas").getContext("2d");

/** Width of a label in CSS pixels. */
export function labelWidth(text: string): number {
  if (!measuring) return 0;
  measuring.font = FONT;
  return measuring.measureText(text).width;
}

/** The text, with its middle left out where it is wider than the room in CSS pixels. */
function fitted(text: string, room: number): string {
  if (labelWidth(text) <= room) return text;
  const signs = [...text];
  for (let kept = signs.length - 1; kept > 2; kept--) {
    const head = Math.ceil(kept / 2);
    const shorter = `${signs.slice(0, head).join("")}…${signs.slice(signs.length - (kept - head)).join("")}`;
    if (labelWidth(shorter) <= room) return shorter;
  }
  return "…";
}

/** Labels at the lines' right ends, moved apart. */
export function endLabels(u: uPlot, lines: { label: Words }[], colours: string[], at: (number | null)[]): void {
  const { ctx, bbox } = u;
  const gap = 12 * devicePixelRatio;
  const wanted = lines
    .map((line, i) => ({ text: say(line.label), colour: colours[i] ?? "", y: at[i] ?? null }))
    .filter((w): w is { text: string; colour: string; y: number } => w.y !== null)
    .sort((a, b) => a.y - b.y);
  let floor = bbox.top + gap / 2;
  for (const w of wanted) {
    w.y = Math.max(w.y, floor);
    floor = w.y + gap;
  }
  let ceiling = bbox.top + bbox.height;
  for (const w of [...wanted].reverse()) {
    w.y = Math.min(w.y, ceiling);
    ceiling = w.y - gap;
  }
  ctx.save();
  ctx.font = font();
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const from = bbox.left + bbox.width + 6 * devicePixelRatio;
  const room = (ctx.canvas.width - from) / devicePixelRatio;
  for (const w of wanted) {
    ctx.fillStyle = w.colour;
    ctx.fillText(fitted(w.text, room), from, w.y);
  }
  ctx.restore();
}

/** How strongly a cell is coloured, 0 to 1: the same rule as crates/report/src/chart.rs. */
export function strength(value: number, log: boolean, full: number): number {
  if (value <= 0 || full <= 0) return 0;
  const share = Math.min(value / full, 1);
  return log ? Math.min(Math.max(1 + Math.log10(share) / 4, 0.15), 1) : share;
}

/** Rows of coloured cells; a stretch without data is hatched. */
export function strip(u: uPlot, lines: Line[], log: boolean, full: number): void {
  const { ctx, bbox } = u;
  const colour = token(log ? "--bad" : "--accent");
  const height = bbox.height / lines.length;
  const inset = Math.max(1, Math.round(devicePixelRatio));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  lines.forEach((line, row) => {
    const at = times(line);
    const half = at.length > 1 ? ((at[1] ?? 0) - (at[0] ?? 0)) / 2 : u.scales.x!.max! / 2;
    const y = bbox.top + row * height;
    line.v.forEach((value, i) => {
      const t = at[i] ?? 0;
      const x0 = Math.round(u.valToPos(t - half, "x", true));
      const x1 = Math.round(u.valToPos(t + half, "x", true));
      if (x1 < bbox.left || x0 > bbox.left + bbox.width) return;
      if (value === null) {
        ctx.fillStyle = token("--gap");
        ctx.fillRect(x0, y + height / 2, x1 - x0, inset);
        return;
      }
      const alpha = strength(value, log, full);
      if (alpha === 0) return;
      ctx.globalAlpha = alpha;
      ctx.fillStyle = colour;
      ctx.fillRect(x0, y + inset, Math.max(x1 - x0, 1), height - 2 * inset);
      ctx.globalAlpha = 1;
    });
  });
  ctx.restore();
}

/** Cells of a heat map, coloured by the logarithm of the count. */
export function heat(u: uPlot, cells: Heat): void {
  const { ctx, bbox } = u;
  let most = 1;
  for (const column of cells.columns) {
    for (let i = 1; i < column.length; i++) most = Math.max(most, column[i] ?? 0);
  }
  const top = Math.log1p(most);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = token("--accent");
  cells.columns.forEach((column, c) => {
    const x0 = Math.round(u.valToPos(cells.t0 + c * cells.step, "x", true));
    const x1 = Math.round(u.valToPos(cells.t0 + (c + 1) * cells.step, "x", true));
    const first = column[0] ?? 0;
    for (let i = 1; i < column.length; i++) {
      const count = column[i] ?? 0;
      if (count === 0) continue;
      const row = first + i - 1;
      const y1 = Math.round(u.valToPos(cells.low * cells.factor ** row, "y", true));
      const y0 = Math.round(u.valToPos(cells.low * cells.factor ** (row + 1), "y", true));
      ctx.globalAlpha = 0.06 + 0.5 * (Math.log1p(count) / top);
      ctx.fillRect(x0, y0, Math.max(x1 - x0, 1), y1 - y0);
    }
  });
  ctx.restore();
}
