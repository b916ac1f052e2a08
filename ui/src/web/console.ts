// The console: to whom, a line with its history, and what was answered.
import { say } from "../data";
import { fill, make, put, rich } from "./dom";
import type { Host, Said } from "./server";
import { word } from "./words";

const SHOWN_MAX = 500;
const HISTORY_MAX = 200;
const SIGNS: Record<Said["kind"], string> = { order: "›", answer: "", error: "✕", problem: "!" };

export class Console {
  private readonly log: HTMLElement;
  private readonly to: HTMLSelectElement;
  private readonly line: HTMLInputElement;
  private readonly send: HTMLButtonElement;
  private said: Said[] = [];
  private history: string[] = [];
  private at = 0;
  private hosts: Host[] = [];

  constructor(place: HTMLElement, private readonly ordered: (line: string) => Promise<boolean>) {
    this.log = make("div", { class: "log", role: "log", tabindex: "0", "aria-label": word("console-title") });
    this.to = make("select", { id: "to", "aria-label": word("console-to") });
    this.line = make("input", {
      id: "line", class: "line", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      "aria-label": word("console-line"), placeholder: "hosts",
      onkeydown: (event) => this.key(event as KeyboardEvent),
    });
    this.send = make("button", { type: "submit", class: "button" }, word("console-send"));
    place.append(this.log, make("form", { class: "speak", onsubmit: (event) => (event.preventDefault(), void this.say()) }, this.to, this.line, this.send));
    this.words();
  }

  words(): void {
    put(this.send, word("console-send"));
    this.log.setAttribute("aria-label", word("console-title"));
    this.choices();
    this.show();
  }

  who(hosts: Host[]): void {
    const names = (list: Host[]) => list.map((host) => host.name).join("\n");
    if (names(hosts) === names(this.hosts)) return;
    this.hosts = hosts;
    this.choices();
  }

  private choices(): void {
    const before = this.to.value;
    fill(this.to,
      make("option", { value: "" }, word("console-typed")),
      make("option", { value: "all" }, word("console-all")),
      ...this.hosts.map((host) => make("option", { value: `node ${host.number}` }, word("console-host", { n: host.number, host: host.name }))));
    this.to.value = [...this.to.options].some((option) => option.value === before) ? before : "";
  }

  /** Talks to one host from now on. */
  speakTo(host: Host): void {
    this.to.value = `node ${host.number}`;
    this.line.focus();
  }

  begin(said: Said[]): void {
    this.said = [];
    this.add(said);
    this.show();
  }

  add(said: Said[]): void {
    if (said.length === 0) return;
    this.said = [...this.said, ...said].slice(-SHOWN_MAX);
    this.show();
  }

  private show(): void {
    const atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    if (this.said.length === 0) {
      fill(this.log, make("p", { class: "empty" }, ...rich(word("console-none"))));
      return;
    }
    fill(this.log, ...this.said.map((one) => make("p", { class: `said ${one.kind}` },
      make("span", { class: "kind", "aria-hidden": "true" }, SIGNS[one.kind]), make("span", { class: "text" }, say(one.says)))));
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private async say(): Promise<void> {
    const typed = this.line.value.trim();
    if (typed === "") return;
    if (!(await this.ordered([this.to.value, typed].filter(Boolean).join(" ")))) return;
    if (this.history[this.history.length - 1] !== typed) this.history.push(typed);
    this.history = this.history.slice(-HISTORY_MAX);
    this.at = this.history.length;
    this.line.value = "";
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined || event.isComposing) return;
    event.preventDefault();
    this.at = Math.min(Math.max(this.at + step, 0), this.history.length);
    this.line.value = this.history[this.at] ?? "";
  }
}
