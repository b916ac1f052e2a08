// Numbers as people read them: the same rules as crates/model/src/units.rs.

type Step = readonly [number, string];

const DECIMAL: readonly Step[] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const BINARY: readonly Step[] = [
  [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"],
];
const TIME: readonly Step[] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const SYMBOLS: Record<string, string> = {
  "1": "", packets: "", "bytes/second": "B/s", "bits/second": "b/s",
  "packets/second": "/s", "1/second": "/s", hertz: "Hz",
};

const QUANTITY = /(\d) (?=(?:%|s|ms|µs|ns|min|h|d|[kMGT]|(?:[KMGT]i|[kMGT])?(?:b\/s|B\/s|\/s|Hz|b|B)|\d{3})(?![A-Za-z0-9/µ%]))/g;

/** The text with narrow gaps that no line is broken at inside of quantities: as crates/report/src/unbroken.rs. */
export function unbroken(text: string): string {
  return text.replace(QUANTITY, "$1\u202f");
}

/** Three significant digits. */
export function threeDigits(value: number): string {
  if (value === 0) return "0";
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  const text = value.toFixed(Math.min(Math.max(digits, 0), 12));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

function scaled(value: number, steps: readonly Step[], least: Step): string {
  const size = Math.abs(value);
  const [step, sign] = steps.find(([s]) => size >= s * 0.9995) ?? least;
  return `${threeDigits(value / step)} ${sign}`;
}

/** A value with its unit. */
export function human(value: number, unit: string): string {
  if (unit === "ratio") return `${threeDigits(value * 100)} %`;
  if (value === 0 && (unit === "seconds" || unit === "bytes")) return unit === "bytes" ? "0 B" : "0 s";
  if (unit === "seconds") return scaled(value, TIME, [1e-9, "ns"]);
  if (unit === "bytes") return scaled(value, BINARY, [1, "B"]);
  const symbol = SYMBOLS[unit] ?? "";
  const [step, sign] = DECIMAL.find(([s]) => Math.abs(value) >= s * 0.9995) ?? ([1, ""] as const);
  const text = threeDigits(value / step);
  if (sign === "") return symbol === "" || symbol === "/s" ? text + symbol : `${text} ${symbol}`;
  return `${text} ${sign}${symbol}`;
}

/** Seconds on a time axis. */
export function axisTime(ms: number, stepMs: number): string {
  const seconds = ms / 1000;
  let decimals = 0;
  while (decimals < 3 && Math.abs((stepMs / 1000) * 10 ** decimals % 1) > 1e-9) decimals++;
  return `${seconds.toFixed(decimals)} s`;
}

/** Time of day, tenths of a second. */
export function timeOfDay(ms: number): string {
  const day = 86_400_000;
  const t = ((ms % day) + day) % day;
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  const tenths = Math.floor((t % 1000) / 100);
  return `${two(t / 3_600_000)}:${two((t / 60_000) % 60)}:${two((t / 1000) % 60)}.${tenths}`;
}
