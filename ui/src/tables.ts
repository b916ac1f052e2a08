// Tables that can be sorted and copied.

/** Sorts the table of a header's button: first press down for numbers, up for words. */
export function sort(button: HTMLElement): void {
  const header = button.closest("th");
  const table = button.closest("table");
  const body = table?.tBodies[0];
  if (!header || !table || !body) return;
  const column = header.cellIndex;
  const numeric = header.classList.contains("n");
  const before = header.getAttribute("aria-sort");
  const down = before === null ? numeric : before === "ascending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows];
  rows.sort((a, b) => {
    const order = compare(a.cells[column], b.cells[column], numeric);
    return down ? -order : order;
  });
  body.append(...rows);
}

function compare(a: HTMLElement | undefined, b: HTMLElement | undefined, numeric: boolean): number {
  if (numeric) return number(a) - number(b);
  return text(a).localeCompare(text(b), undefined, { numeric: true });
}

function number(cell: HTMLElement | undefined): number {
  const value = Number(cell?.dataset["v"]);
  return cell?.dataset["v"] === undefined || Number.isNaN(value) ? -Infinity : value;
}

/** What a cell says in the page's language. */
function text(cell: HTMLElement | undefined): string {
  return (cell?.innerText ?? "").replace(/\s+/g, " ").trim();
}

/** A field of CSV: quoted where needed, and never read as a formula by a spreadsheet. */
function field(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** The table near a button as CSV; numbers as they were measured, in base units. */
export function csv(button: HTMLElement): string {
  const table = button.closest(".table")?.querySelector("table");
  if (!table) return "";
  const lines = [...table.rows].map((row) =>
    [...row.cells].map((cell) => field(cell.dataset["v"] ?? (cell.tagName === "TH" ? heading(cell) : text(cell)))).join(","));
  return lines.join("\r\n") + "\r\n";
}

/** A column's title without the prefixed unit: the copied numbers have none. */
function heading(cell: HTMLElement): string {
  const unit = cell.querySelector<HTMLElement>(".unit");
  const whole = text(cell);
  const shown = unit ? text(unit) : "";
  return shown && whole.endsWith(shown) ? whole.slice(0, -shown.length).trim() : whole;
}

export async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    // Pages opened from a file may not use the clipboard directly.
    const area = document.createElement("textarea");
    area.value = value;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
