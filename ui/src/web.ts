// The live page: who is there, what they do, what to do next. Everything it shows comes from the
// server's events; everything it does is an order to it.
import { dark, remember, remembered } from "./choices";
import type { Lang } from "./data";
import { language, say } from "./data";
import { human, threeDigits } from "./format";
import { showBoard } from "./web/board";
import { Console } from "./web/console";
import { fill, make, put } from "./web/dom";
import { Editor } from "./web/editor";
import { Hosts } from "./web/hosts";
import { showFailures } from "./web/failures";
import { Load, Steering } from "./web/forms";
import { showMix } from "./web/mix";
import { Records, reportOf } from "./web/records";
import type { Order, State } from "./web/server";
import { Refused, listen, post } from "./web/server";
import { showSettings } from "./web/settings";
import { Tracks } from "./web/tracks";
import { readWords, word } from "./web/words";

const root = document.documentElement;
/** What stands in records in place of secrets. */
const HIDDEN = "(hidden)";
const SVG = "http://www.w3.org/2000/svg";

/** An element whose text is a message, so that it follows the language. */
function told<K extends keyof HTMLElementTagNameMap>(tag: K, key: string, attributes: Record<string, string> = {}): HTMLElementTagNameMap[K] {
  return make(tag, { ...attributes, "data-word": key }, word(key));
}

function themeSign(): Element {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [name, value] of [["viewBox", "0 0 16 16"], ["width", "16"], ["height", "16"], ["aria-hidden", "true"]] as const) svg.setAttribute(name, value);
  path.setAttribute("d", "M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13");
  path.setAttribute("fill", "none");
  path.setAttribute("stroke", "currentColor");
  path.setAttribute("stroke-width", "1.3");
  const half = document.createElementNS(SVG, "path");
  half.setAttribute("d", "M8 2a6 6 0 0 0 0 12z");
  half.setAttribute("fill", "currentColor");
  svg.append(path, half);
  return svg;
}

class Page {
  private state: State | null = null;
  private up = false;
  private readonly what = make("h1", {});
  private readonly pill = make("span", { class: "pill", role: "status" });
  private readonly lead = make("p", { class: "first", id: "lead" });
  private readonly more = make("div", { class: "more" });
  private readonly bar = make("span", { class: "progress", "aria-hidden": "true" });
  private readonly figures = make("dl", { class: "numbers", id: "figures" });
  private readonly error = make("p", { class: "notice bad", role: "alert", hidden: true });
  private readonly collect = this.button("collect", "do-collect", () => this.order({ order: "collect" }));
  private readonly emit = this.button("emit", "do-emit", () => this.write());
  private readonly run = this.button("run", "do-run", () => this.start());
  private readonly stop = this.button("stop", "do-stop", () => this.send("/api/stop", {}));
  private readonly shut = this.button("close", "do-close", () => this.order({ order: "close" }));
  private readonly board = make("ul", { class: "board", id: "board" });
  private readonly boardPart = make("section", { id: "board-part", hidden: true }, told("h2", "board-title"), this.board);
  private readonly hostsPart = make("div", {}, told("h2", "hosts-title"));
  private readonly tracksPart = make("section", { id: "tracks", hidden: true });
  private readonly hosts: Hosts;
  private readonly records: Records;
  private readonly editor: Editor;
  private readonly console: Console;
  private readonly tracks: Tracks;
  private readonly load: Load;
  private readonly failures = make("table", { class: "failures", id: "failures" });
  private readonly failuresPart = make("section", { id: "failures-part", hidden: true }, told("h2", "failures-title"), make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": word("failures-title") }, this.failures));
  private readonly mix = make("table", { class: "mix", id: "mix" });
  private readonly mixPart = make("section", { id: "mix-part", hidden: true }, told("h2", "mix-title"), make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": word("mix-title") }, this.mix));
  private readonly settings = make("table", { class: "settings", id: "settings" });
  private readonly settingsPart = make("details", { id: "settings-part", hidden: true }, told("summary", "settings-title"), make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": word("settings-title") }, this.settings));
  private readonly steering = new Steering((change) => this.send("/api/steer", change));

  constructor(place: HTMLElement) {
    const hostList = make("ul", { class: "hosts", id: "hosts" });
    this.hostsPart.append(hostList);
    const recordList = make("ul", { class: "records", id: "records" });
    const scriptPart = make("section", { id: "script-part" }, told("h2", "script-title"));
    const consoleNote = told("p", "console-record", { class: "how" });
    const consolePart = make("section", { id: "console-part" }, make("div", { class: "head" }, told("h2", "console-title"), this.shut));
    const httpPart = make("section", { id: "http-part" }, told("h2", "load-title"));
    const trackPlace = make("div", { class: "tracks" });
    this.tracksPart.append(told("h2", "tracks-title"), told("p", "tracks-how", { class: "how" }), trackPlace);
    place.append(
      this.header(),
      make("div", { class: "frame" },
        make("aside", {}, this.hostsPart, told("h2", "records-title"), recordList),
        make("main", {},
          make("section", { id: "verdict" },
            make("div", { class: "lead" }, this.lead, this.bar, this.more),
            make("div", { class: "steps", role: "group" }, this.collect, this.emit, this.run, this.stop)),
          this.error, this.figures, this.steering.form, this.boardPart, this.failuresPart, this.mixPart, this.tracksPart, this.settingsPart,
          make("div", { class: "work" }, httpPart, scriptPart, consolePart))));
    this.hosts = new Hosts(hostList, (host) => this.console.speakTo(host));
    this.records = new Records(recordList, (lines) => {
      this.tracks.under(lines);
      this.show();
    }, (order) => void this.again(order), (error) => this.fail(error));
    this.editor = new Editor(scriptPart, () => this.buttons());
    this.console = new Console(consolePart, (line) => this.order({ order: "line", text: line }));
    consolePart.append(consoleNote);
    this.load = new Load(httpPart, (order) => this.give(order));
    this.tracks = new Tracks(trackPlace);
    this.controls(place);
    this.show();
    void this.records.load();
    this.hear();
  }

  private button(name: string, key: string, act: () => unknown): HTMLButtonElement {
    return make("button", { type: "button", class: "button", id: `do-${name}`, "data-word": key, onclick: () => void act() }, word(key));
  }

  private header(): HTMLElement {
    const tools = make("div", { class: "tools", role: "toolbar" },
      ...(["en", "ja"] as const).map((lang) => make("button", { type: "button", class: "quiet", "data-lang": lang, lang: "", "aria-pressed": String(language() === lang) }, lang === "en" ? "English" : "日本語")),
      make("button", { type: "button", class: "quiet sign", "data-do": "theme" }, themeSign(), told("span", "tool-theme", { class: "hidden" })));
    return make("header", { class: "top" }, make("div", { class: "bar" }, make("span", { class: "brand" }, "sokudo"), this.what, this.pill, tools));
  }

  private controls(place: HTMLElement): void {
    place.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest("button") : null;
      const lang = button?.dataset["lang"];
      if (lang === "en" || lang === "ja") {
        remember("lang", lang);
        this.speak(lang);
      } else if (button?.dataset["do"] === "theme") {
        const theme = dark() ? "light" : "dark";
        remember("theme", theme);
        root.dataset["theme"] = theme;
        this.tracks.redraw();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.tracks.redraw());
  }

  private speak(lang: Lang): void {
    root.lang = lang;
    for (const element of document.querySelectorAll<HTMLElement>("[data-word]")) put(element, word(element.dataset["word"] ?? ""));
    for (const button of document.querySelectorAll<HTMLElement>("[data-lang]")) button.setAttribute("aria-pressed", String(button.dataset["lang"] === lang));
    this.editor.words();
    this.console.words();
    this.load.words();
    this.steering.words();
    this.tracks.words();
    this.records.show();
    this.show();
  }

  private hear(): void {
    listen({
      snapshot: ({ state, said, lines }) => {
        this.take(state);
        this.console.begin(said);
        this.tracks.begin(lines);
        this.show();
      },
      state: (state) => {
        const fresh = this.state?.number !== state.number;
        if (fresh) this.tracks.begin([]);
        this.take(state);
        this.show();
      },
      said: (said) => this.console.add(said),
      samples: (samples) => {
        if (samples.number !== this.state?.number) return;
        this.tracks.add(samples);
        this.show();
      },
      line: (up) => {
        this.up = up;
        this.show();
      },
    });
  }

  private take(state: State): void {
    const was = this.state?.now;
    const marked = JSON.stringify(state.mistakes) !== JSON.stringify(this.state?.mistakes ?? []);
    this.state = state;
    if (marked && state.mistakes.length > 0) this.editor.mark(state.mistakes);
    this.tracks.marks(state);
    if (!state.now && was) this.tracks.over();
    this.console.who(state.hosts);
    if (was && !state.now) void this.records.load();
  }

  private show(): void {
    const { state } = this;
    document.title = [state?.place, "sokudo"].filter(Boolean).join(" · ");
    put(this.what, state?.place ?? "");
    this.hosts.show(state?.hosts ?? []);
    const rows = state?.board ?? [];
    showBoard(this.board, rows);
    this.boardPart.hidden = rows.length === 0;
    const failures = state?.failures ?? [];
    showFailures(this.failures, failures);
    this.failuresPart.hidden = failures.length === 0;
    const mix = state?.mix ?? [];
    showMix(this.mix, mix);
    this.mixPart.hidden = mix.length === 0;
    const settings = state?.settings ?? [];
    showSettings(this.settings, settings);
    this.settingsPart.hidden = settings.length === 0;
    this.settingsPart.classList.toggle("risk", settings.some((setting) => setting.commits === "at-risk"));
    // Specifications have hosts of their own, which their rows name.
    this.hostsPart.hidden = rows.length > 0 && state?.hosts.length === 0;
    this.hosts.cpu(this.tracks.newest("cpu"));
    const appears = this.tracksPart.hidden && !this.tracks.empty;
    this.tracksPart.hidden = this.tracks.empty;
    // What was hidden had no width to draw in.
    if (appears) this.tracks.redraw();
    this.said();
    this.numbers();
    this.buttons();
  }

  /** The sentence on top, and what belongs to it. */
  private said(): void {
    const { state } = this;
    const now = state?.now ?? null;
    const name = !this.up ? "away" : now?.stopping ? "stopping" : now ? (now.works ? "works" : "waits") : "idle";
    put(this.pill, word(`state-${name}`));
    this.pill.className = `pill ${name}`;
    const phase = now?.phase ?? null;
    const share = phase && phase.of_ms > 0 ? Math.min(phase.elapsed_ms / phase.of_ms, 1) : 0;
    this.bar.hidden = !phase || phase.of_ms === 0;
    this.bar.style.setProperty("--share", String(share));
    const last = now ? null : (state?.last ?? null);
    const sentences = last?.verdict.map(say) ?? [];
    put(this.lead, sentences[0] ?? this.leadKey());
    this.lead.classList.toggle("bad", last !== null && (last.status === "failed" || last.status === "missed"));
    const parts: (Node | string)[] = sentences.slice(1).map((text) => make("p", {}, text));
    if (phase) {
      const time = `${threeDigits(phase.elapsed_ms / 1000)} s`;
      const of = phase.of_ms > 0 ? ` ${word("phase-of", { time: `${threeDigits(phase.of_ms / 1000)} s` })}` : "";
      parts.push(make("p", {}, `${word("phase", { name: phase.name })} · ${time}${of}`));
    } else if (now?.doing) parts.push(make("p", {}, say(now.doing)));
    // The page of a single command ends with it: the record stays.
    if (last?.record && state?.watches) parts.push(make("p", {}, word("report-kept", { name: last.record })));
    else if (last?.record) parts.push(make("p", {}, make("a", { href: reportOf(last.record), target: "_blank", rel: "noopener", id: "report" }, word("report-open"))));
    if (state && state.dropped > 0) parts.push(make("p", { class: "how" }, word("dropped", { n: state.dropped })));
    const shown = parts.map((part) => (part instanceof HTMLElement ? part.outerHTML : part)).join("");
    if (this.more.dataset["shown"] !== shown) {
      this.more.dataset["shown"] = shown;
      fill(this.more, ...parts);
    }
  }

  private leadKey(): string {
    const { state } = this;
    if (!state) return "";
    const { now, hosts, last } = state;
    if (now?.stopping) return word("lead-stopping");
    if (now) return word(`lead-${["collect", "run", "console", "specs"].includes(now.what) ? now.what : "measure"}`);
    if (last) return word(last.record ? "lead-over" : "lead-nothing");
    if (state.watches) return word("lead-watch");
    const n = hosts.filter((host) => host.health !== "lost").length;
    if (n === 0) return word("lead-first");
    return n === 1 ? word("lead-alone") : word("lead-ready", { n });
  }

  /** The newest value of each track: sums of rates, the worst of the others. */
  private numbers(): void {
    const number = (track: string, name: string, key: string, sum: boolean) => {
      const values = [...this.tracks.newest(track, name).values()];
      if (values.length === 0 || !this.state?.now) return null;
      const value = sum ? values.reduce((a, b) => a + b, 0) : Math.max(...values);
      const [digits = "", ...unit] = human(value, this.tracks.unit(track)).split(" ");
      return make("div", { class: "number" }, make("dt", {}, word(key)), make("dd", { class: "value" }, digits, " ", make("span", { class: "unit" }, unit.join(" "))));
    };
    fill(this.figures,
      number("throughput", "", "figure-throughput", true), number("answers", "", "figure-answers", true),
      number("users", "", "figure-users", true), number("latency", "p50", "figure-p50", false),
      number("latency", "p99", "figure-p99", false), number("loss", "", "figure-loss", false), number("cpu", "", "figure-cpu", false));
    this.figures.hidden = this.figures.childElementCount === 0;
  }

  private buttons(): void {
    const { state } = this;
    const now = state?.now ?? null;
    const free = this.up && state !== null && !state.watches;
    this.collect.disabled = !free || now !== null;
    this.emit.disabled = !free || now !== null || state.hosts.length === 0;
    this.run.disabled = !free || now !== null || this.editor.text.value.trim() === "";
    this.stop.disabled = !this.up || now === null || now.stopping || now.what === "collect";
    this.load.free(free && now === null);
    this.steering.form.hidden = !this.up || !now?.phase || (now.what !== "http" && now.what !== "jmx");
    this.shut.hidden = now?.what !== "console";
    this.shut.disabled = !free || now === null || now.works;
    // The next step stands out.
    const next = now ? this.stop : !state || state.hosts.length === 0 ? this.collect : this.run.disabled ? this.emit : this.run;
    for (const button of [this.collect, this.emit, this.run, this.stop]) button.classList.toggle("next", button === next && !button.disabled);
    document.body.classList.toggle("watches", state?.watches ?? false);
  }

  private start(): Promise<boolean> {
    this.editor.forget();
    return this.order({ order: "run", language: this.editor.chosen(), text: this.editor.text.value });
  }

  private async write(): Promise<void> {
    try {
      const answer = (await (await post("/api/script", this.editor.emit())).json()) as { text: string };
      this.editor.put(answer.text);
      this.fail(null);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Gives an order; what is wrong with a field of it is told there. */
  private async give(order: Order): Promise<Refused | null> {
    try {
      await post("/api/order", order);
      this.fail(null);
      return null;
    } catch (error) {
      const refused = error instanceof Refused && error.field !== "" ? error : null;
      this.fail(refused ? null : error);
      return refused;
    }
  }

  /** Carries out an earlier order once more, as it was. */
  private async again(order: Order): Promise<void> {
    if (order.order === "run") this.editor.put(order.text, order.language);
    else this.load.put(order);
    if (JSON.stringify(order).includes(HIDDEN)) {
      this.fail(new Refused(word("records-hidden"), "", "", []));
      return;
    }
    if (order.order === "run") await this.start();
    else this.fail(await this.give(order));
  }

  private order(order: Record<string, unknown>): Promise<boolean> {
    return this.send("/api/order", order);
  }

  private async send(path: string, body: unknown): Promise<boolean> {
    try {
      await post(path, body);
      this.fail(null);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Tells why something did not work; `null` when it did. */
  private fail(error: unknown): void {
    this.error.hidden = error === null;
    if (error === null) return;
    if (error instanceof Refused) fill(this.error, make("b", {}, say(error.says)), say(error.hint) !== "" && ` ${say(error.hint)}`);
    else fill(this.error, word("error-sent", { error: error instanceof Error ? error.message : String(error) }));
  }
}

function main(): void {
  readWords();
  const theme = remembered("theme");
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  const lang = remembered("lang") ?? (navigator.language.startsWith("ja") ? "ja" : "en");
  root.lang = lang === "ja" ? "ja" : "en";
  const place = document.getElementById("page");
  if (place) new Page(place);
}

main();
