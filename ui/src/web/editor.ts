// Where the script is written: line numbers, marks where something is wrong, options of the writer.
import { say } from "../data";
import { fill, make, put } from "./dom";
import type { Mistake } from "./server";
import { post } from "./server";
import { word } from "./words";

export type Language = "lines" | "javascript";

/** A pause in typing after which the script is read, milliseconds. */
const PAUSE_MS = 500;
const INDENT = "  ";

export class Editor {
  readonly text: HTMLTextAreaElement;
  private readonly numbers: HTMLElement;
  private readonly told: HTMLElement;
  private readonly language: HTMLSelectElement;
  private readonly pairs: HTMLInputElement;
  private readonly size: HTMLInputElement;
  private readonly times: HTMLInputElement;
  private readonly duplex: HTMLInputElement;
  private mistakes: Mistake[] = [];
  private timer = 0;
  private asked = 0;

  constructor(place: HTMLElement, private readonly changed: () => void) {
    this.text = make("textarea", {
      class: "script", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", rows: "16", id: "script",
      "aria-label": word("script-label"), placeholder: word("script-hint"),
      oninput: () => this.edited(),
      onscroll: () => (this.numbers.scrollTop = this.text.scrollTop),
      onkeydown: (event) => this.key(event as KeyboardEvent),
    });
    this.numbers = make("div", { class: "numbers-column", "aria-hidden": "true" });
    this.told = make("ol", { class: "mistakes", role: "status" });
    this.language = make("select", { id: "language", onchange: () => this.edited() },
      make("option", { value: "lines" }, word("script-lines")), make("option", { value: "javascript" }, word("script-javascript")));
    this.pairs = make("input", { id: "pairs", inputmode: "numeric", size: "4", placeholder: word("script-all") });
    this.size = make("input", { id: "size", size: "7", value: "1MB" });
    this.times = make("input", { id: "times", inputmode: "numeric", size: "7", value: "1000" });
    this.duplex = make("input", { id: "duplex", type: "checkbox" });
    const field = (key: string, input: HTMLElement) => make("label", { class: "field" }, make("span", { "data-word": key }, word(key)), input);
    place.append(
      make("div", { class: "fields" },
        field("script-language", this.language), field("script-pairs", this.pairs), field("script-size", this.size),
        field("script-times", this.times), make("label", { class: "field check" }, this.duplex, make("span", { "data-word": "script-duplex" }, word("script-duplex")))),
      make("div", { class: "paper" }, this.numbers, this.text),
      this.told);
    this.number();
  }

  words(): void {
    this.text.setAttribute("aria-label", word("script-label"));
    this.text.placeholder = word("script-hint");
    this.pairs.placeholder = word("script-all");
    put(this.language.options[0]!, word("script-lines"));
    put(this.language.options[1]!, word("script-javascript"));
    this.mark(this.mistakes);
  }

  chosen(): Language {
    return this.language.value === "javascript" ? "javascript" : "lines";
  }

  /** What the writer of scripts is asked for. */
  emit(): Record<string, unknown> {
    const pairs = this.pairs.value.trim();
    return {
      language: this.chosen(),
      pairs: pairs === "" ? null : Number(pairs),
      size: this.size.value.trim(),
      times: Number(this.times.value.trim() || "NaN"),
      duplex: this.duplex.checked,
    };
  }

  put(text: string, language?: Language): void {
    if (language !== undefined) this.language.value = language;
    this.text.value = text;
    this.text.scrollTop = 0;
    this.edited();
  }

  mark(mistakes: Mistake[]): void {
    this.mistakes = mistakes;
    fill(this.told, ...mistakes.map((mistake) => make("li", {},
      make("button", { type: "button", class: "place", onclick: () => this.go(mistake) }, mistake.line > 0 ? word("script-place", { n: mistake.line }) : "–"),
      make("span", {}, say(mistake.says)), say(mistake.hint) !== "" && make("span", { class: "hint" }, say(mistake.hint)))));
    this.number();
  }

  /** The script is about to be carried out: what reading it found is of no interest any more. */
  forget(): void {
    clearTimeout(this.timer);
    this.asked++;
    this.mark([]);
  }

  private go({ line, column }: Mistake): void {
    const lines = this.text.value.split("\n");
    const before = lines.slice(0, Math.max(line - 1, 0)).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + Math.max(column - 1, 0);
    this.text.focus();
    this.text.setSelectionRange(at, before + (lines[line - 1]?.length ?? 0));
    this.text.scrollTop = Math.max(0, (line - 4) * this.lineHeight());
  }

  private lineHeight(): number {
    return parseFloat(getComputedStyle(this.text).lineHeight) || 20;
  }

  private edited(): void {
    this.number();
    this.changed();
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.check(), PAUSE_MS);
  }

  private async check(): Promise<void> {
    const asked = ++this.asked;
    try {
      const body = { language: this.chosen(), text: this.text.value };
      const answer = (await (await post("/api/check", body)).json()) as { mistakes: Mistake[] };
      // Another question may have been asked meanwhile.
      if (asked === this.asked) this.mark(answer.mistakes);
    } catch {
      // The script is read again when it is run.
    }
  }

  private number(): void {
    const count = this.text.value.split("\n").length;
    const wrong = new Set(this.mistakes.map((mistake) => mistake.line));
    const signs = Array.from({ length: count }, (_, i) => make("span", { class: wrong.has(i + 1) ? "wrong" : "" }, String(i + 1)));
    fill(this.numbers, ...signs);
    this.numbers.scrollTop = this.text.scrollTop;
  }

  /** Tab leaves the field, as everywhere on a page; Ctrl+] and Ctrl+[ would be the browser's. */
  private key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing || this.chosen() !== "javascript") return;
    const { value, selectionStart } = this.text;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const indent = (/^\s*/.exec(line)?.[0] ?? "") + (/[{[(]\s*$/.test(line) ? INDENT : "");
    if (indent === "") return;
    event.preventDefault();
    this.text.setRangeText(`\n${indent}`, selectionStart, this.text.selectionEnd, "end");
    this.edited();
  }
}
