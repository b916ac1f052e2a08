// Who is there: name, system, health, clock with its error, CPU.
import { human } from "../format";
import { fill, make, put, rich } from "./dom";
import type { Host } from "./server";
import { word } from "./words";

/** How each health looks, and its sign: never told by colour alone. */
const HEALTH: Record<Host["health"], [string, string]> = {
  ready: ["good", "●"], suspect: ["doubt", "◐"], lost: ["bad", "▲"],
};

interface Row {
  bar: HTMLElement;
  share: HTMLElement;
}

/** The list of hosts on the left. */
export class Hosts {
  private rows = new Map<string, Row>();
  private shown = "";

  constructor(private readonly list: HTMLElement, private readonly speak: (host: Host) => void) {}

  show(hosts: Host[]): void {
    const all = JSON.stringify([hosts, document.documentElement.lang]);
    if (all === this.shown) return;
    this.shown = all;
    this.rows.clear();
    if (hosts.length === 0) {
      fill(this.list, make("li", { class: "empty" }, ...rich(word("hosts-none"))));
      return;
    }
    fill(this.list, ...hosts.map((host, index) => this.row(host, index)));
  }

  private row(host: Host, index: number): HTMLElement {
    const number = make("span", { class: "number-sign" }, String(host.number));
    number.style.borderColor = `var(--s${index % 8})`;
    const bar = make("span", { class: "cpu-bar" });
    bar.style.background = `var(--s${index % 8})`;
    const share = make("span", { class: "cpu-share" }, "–");
    this.rows.set(host.name, { bar, share });
    const clock = host.clock_error_seconds === 0
      ? word("hosts-one-clock")
      : word("hosts-clock", { time: signed(host.clock_offset_seconds), error: human(host.clock_error_seconds, "seconds") });
    const [look, sign] = HEALTH[host.health];
    const health = make("span", { class: `health ${look}` }, `${sign} `, word(`hosts-${host.health}`));
    return make("li", { class: "host", "data-host": host.name },
      make("button", { type: "button", class: "host-head", title: word("hosts-speak", { host: host.name }), onclick: () => this.speak(host) },
        number, make("span", { class: "host-name" }, host.name), health),
      make("span", { class: "host-facts" }, [host.address, host.os, word("hosts-cores", { n: host.cores })].filter(Boolean).join(" · ")),
      make("span", { class: "host-facts" }, clock),
      make("span", { class: "cpu", title: word("hosts-cpu") }, make("span", { class: "cpu-frame" }, bar), share, make("span", { class: "hidden" }, word("hosts-cpu"))));
  }

  /** CPU of each host, from the newest samples. */
  cpu(shares: Map<string, number>): void {
    for (const [host, { bar, share }] of this.rows) {
      const value = shares.get(host);
      bar.style.width = `${Math.min(Math.max(value ?? 0, 0), 1) * 100}%`;
      put(share, value === undefined ? "–" : `${Math.round(value * 100)} %`);
    }
  }
}

function signed(seconds: number): string {
  const text = human(Math.abs(seconds), "seconds");
  return seconds < 0 ? `−${text}` : `+${text}`;
}
