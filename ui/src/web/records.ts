// Earlier runs: their reports, and their tracks to be laid under the running one.
import { human } from "../format";
import { fill, make } from "./dom";
import type { LineData, Order, RecordRow } from "./server";
import { get } from "./server";
import { word } from "./words";

/** Records that are shown before anybody asks for all of them. */
const FEW = 8;
/** Share of failures from which on a load has failed as a whole. */
const ALL = 0.999;

export function reportOf(id: string): string {
  return `/records/${encodeURIComponent(id)}/report`;
}

export class Records {
  private rows: RecordRow[] = [];
  private all = false;
  private laid = "";

  constructor(private readonly list: HTMLElement, private readonly under: (lines: LineData[]) => void, private readonly again: (order: Order) => void, private readonly failed: (error: unknown) => void) {}

  async load(): Promise<void> {
    try {
      this.rows = await get<RecordRow[]>("/api/records");
      this.show();
    } catch (error) {
      this.failed(error);
    }
  }

  show(): void {
    if (this.rows.length === 0) {
      fill(this.list, make("li", { class: "empty" }, word("records-none")));
      return;
    }
    const shown = this.all ? this.rows : this.rows.slice(0, FEW);
    const more = this.rows.length > shown.length && make("li", {},
      make("button", { type: "button", class: "quiet", onclick: () => ((this.all = true), this.show()) }, word("records-more", { n: this.rows.length })));
    fill(this.list, ...shown.map((row) => this.row(row)), more);
  }

  private row(row: RecordRow): HTMLElement {
    const share = row.failed ?? 0;
    // What was measured to the end may still have failed: the sign says how it went.
    const tone = share >= ALL ? "failed" : row.status === "ok" && share > 0 ? "partial" : row.status;
    const sign = { ok: "●", missed: "◐", partial: "◐", failed: "▲", running: "…" }[tone] ?? "";
    const failed = share > 0 && word("records-failed", { share: human(share, "ratio") });
    const said = [share < ALL && word(`status-${row.status}`), failed].filter(Boolean).join(" · ");
    const state = make("span", { class: `status ${tone}` }, `${sign} ${said}`);
    const pressed = this.laid === row.id;
    return make("li", { class: "record", "data-record": row.id },
      make("span", { class: "record-name" }, make("b", {}, row.did || row.workload)),
      state,
      make("span", { class: "record-time" }, row.started.slice(0, 19).replace("T", " ")),
      make("span", { class: "record-do" },
        row.has_report && make("a", { href: reportOf(row.id), target: "_blank", rel: "noopener" }, word("records-report")),
        row.has_order && make("button", { type: "button", class: "link again", onclick: () => void this.repeat(row.id) }, word("records-again")),
        row.status !== "running" && make("button", { type: "button", class: "link under", "aria-pressed": String(pressed), onclick: () => void this.lay(row.id) }, word(pressed ? "records-under-off" : "records-under"))));
  }

  private async repeat(id: string): Promise<void> {
    try {
      this.again(await get<Order>(`/api/records/${encodeURIComponent(id)}/order`));
    } catch (error) {
      this.failed(error);
    }
  }

  private async lay(id: string): Promise<void> {
    try {
      if (this.laid === id) {
        this.laid = "";
        this.under([]);
      } else {
        this.under(await get<LineData[]>(`/api/records/${encodeURIComponent(id)}/tracks`));
        this.laid = id;
      }
    } catch (error) {
      this.failed(error);
    }
    this.show();
  }
}
