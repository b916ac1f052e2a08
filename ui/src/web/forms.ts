// Forms for load: on one URL as `sokudo http` makes it, or by a JMeter plan; and its change while it runs.
import { say } from "../data";
import { fill, make, put } from "./dom";
import type { Order, PlanFile } from "./server";
import { Refused } from "./server";
import { word } from "./words";

/** Largest files that are handed over together, bytes; the server takes 11 MiB. */
const FILES_MAX = 10 << 20;
const FIELDS = ["url", "users", "ramp", "duration", "rate", "slo", "properties", "monitors"] as const;
type Name = (typeof FIELDS)[number];
/** Fields that only one kind of load has. */
const ONLY: Partial<Record<Name, "http" | "plan">> = { url: "http", rate: "http", properties: "plan" };

/** An input with its label, and room for what is wrong with it. */
class Field {
  readonly input: HTMLInputElement;
  readonly whole: HTMLElement;
  private readonly error: HTMLElement;

  constructor(name: Name) {
    this.input = make("input", { id: `load-${name}`, spellcheck: "false", autocomplete: "off", "aria-describedby": `load-${name}-error`, oninput: () => this.tell("") });
    this.error = make("span", { class: "field-error", id: `load-${name}-error`, role: "alert", hidden: true });
    this.whole = make("div", { class: `load-field ${name}` },
      make("label", { class: "field" }, make("span", { "data-word": `load-${name}` }, word(`load-${name}`)), this.input), this.error);
  }

  tell(text: string): void {
    put(this.error, text);
    this.error.hidden = text === "";
    if (text === "") this.input.removeAttribute("aria-invalid");
    else this.input.setAttribute("aria-invalid", "true");
  }
}

export class Load {
  private readonly what = make("select", { id: "load-what", onchange: () => this.chosen() },
    make("option", { value: "http" }), make("option", { value: "plan" }));
  private readonly fields = new Map<Name, Field>(FIELDS.map((name) => [name, new Field(name)]));
  private readonly plan = make("textarea", { id: "load-plan", class: "script plan", spellcheck: "false", autocomplete: "off", wrap: "off", rows: "6", "aria-describedby": "load-plan-error", oninput: () => this.told() });
  private readonly file = make("input", { id: "load-files", type: "file", multiple: true, accept: ".jmx,.csv,.txt,.json,.xml,.properties", onchange: () => void this.read() });
  private readonly names = make("span", { class: "how" });
  private readonly planError = make("div", { class: "field-error", id: "load-plan-error", hidden: true });
  private readonly planPart = make("div", { class: "plan-part", hidden: true },
    make("label", { class: "field" }, make("span", { "data-word": "load-files" }, word("load-files")), this.file), this.names,
    make("label", { class: "field tall" }, make("span", { "data-word": "load-plan" }, word("load-plan")), this.plan), this.planError);
  private readonly go = make("button", { type: "submit", class: "button", id: "do-load" }, word("load-do"));
  private name = "plan.jmx";
  private data: PlanFile[] = [];
  private refused: Refused | null = null;

  constructor(place: HTMLElement, private readonly order: (order: Order) => Promise<Refused | null>) {
    this.value("users", "10");
    this.value("duration", "10s");
    place.append(make("form", { class: "load", onsubmit: (event) => (event.preventDefault(), void this.start()) },
      make("label", { class: "field" }, make("span", { "data-word": "load-what" }, word("load-what")), this.what),
      this.planPart,
      make("div", { class: "load-fields" }, ...[...this.fields.values()].map((field) => field.whole)),
      this.go));
    this.words();
    this.chosen();
  }

  words(): void {
    put(this.go, word("load-do"));
    put(this.what.options[0]!, word("load-http"));
    put(this.what.options[1]!, word("load-jmx"));
    this.placeholders();
    if (this.refused) this.wrong(this.refused);
  }

  private placeholders(): void {
    const plan = this.kind() === "plan";
    const as = plan ? word("load-as-plan") : word("load-none");
    const texts: Record<Name, string> = {
      url: "http://hostb:8080/", users: as, ramp: as, duration: as, rate: word("load-closed"),
      slo: "p95<2s,err<0.1%", properties: "THREADS=40 HOST=hostb", monitors: "process:port=8080",
    };
    for (const [name, field] of this.fields) field.input.placeholder = texts[name];
  }

  private kind(): "http" | "plan" {
    return this.what.value === "plan" ? "plan" : "http";
  }

  private chosen(): void {
    const kind = this.kind();
    this.planPart.hidden = kind !== "plan";
    for (const [name, field] of this.fields) field.whole.hidden = ONLY[name] !== undefined && ONLY[name] !== kind;
    this.placeholders();
  }

  private value(name: Name, value?: string): string {
    const input = this.fields.get(name)!.input;
    if (value !== undefined) input.value = value;
    return input.value.trim();
  }

  /** Takes the files that were chosen: the plan becomes text, the others go with it. */
  private async read(): Promise<void> {
    const files = [...(this.file.files ?? [])];
    if (files.reduce((sum, file) => sum + file.size, 0) > FILES_MAX) {
      this.told(word("load-too-large", { n: FILES_MAX >> 20 }));
      return;
    }
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
    const plan = read.find((file) => file.name.endsWith(".jmx")) ?? (read.length === 1 ? read[0] : undefined);
    if (plan) {
      this.name = plan.name;
      this.plan.value = plan.text;
      this.data = [];
    }
    this.data = [...this.data, ...read.filter((file) => file !== plan)];
    this.told();
  }

  /** Shows what is wrong with the plan; nothing when it is fine. */
  private told(...lines: string[]): void {
    fill(this.planError, ...lines.map((line) => make("p", {}, line)));
    this.planError.hidden = lines.length === 0;
    if (lines.length === 0) this.plan.removeAttribute("aria-invalid");
    else this.plan.setAttribute("aria-invalid", "true");
    put(this.names, this.data.map((file) => file.name).join(", "));
  }

  private asked(): Order {
    const words = (name: Name) => this.value(name).split(/\s+/).filter((one) => one !== "");
    const common = { users: this.value("users"), ramp: this.value("ramp"), duration: this.value("duration"), slo: this.value("slo"), monitors: words("monitors") };
    if (this.kind() === "http") return { order: "http", url: this.value("url"), rate: this.value("rate"), ...common };
    return { order: "plan", files: [{ name: this.name, text: this.plan.value }, ...this.data], properties: words("properties"), ...common };
  }

  private async start(): Promise<void> {
    for (const field of this.fields.values()) field.tell("");
    this.told();
    this.refused = await this.order(this.asked());
    if (!this.refused) return;
    this.wrong(this.refused);
    (this.refused.field === "plan" ? this.plan : this.fields.get(this.refused.field as Name)?.input)?.focus();
  }

  /** Tells at the field what is wrong with it. */
  private wrong(refused: Refused): void {
    const text = [say(refused.says), say(refused.hint)].filter(Boolean).join(" — ");
    if (refused.field === "plan") {
      const places = refused.mistakes.map((one) => [one.line > 0 ? `${word("script-place", { n: one.line })}:` : "", say(one.says), say(one.hint)].filter(Boolean).join(" "));
      this.told(text, ...places);
    } else this.fields.get(refused.field as Name)?.tell(text);
  }

  /** Fills in an earlier order. */
  put(order: Order): void {
    if (order.order !== "http" && order.order !== "plan") return;
    this.what.value = order.order;
    for (const name of FIELDS) {
      const value = (order as unknown as Record<string, string | string[] | undefined>)[name];
      this.value(name, Array.isArray(value) ? value.join(" ") : (value ?? ""));
    }
    if (order.order === "plan") {
      const plan = order.files.find((file) => file.name.endsWith(".jmx")) ?? order.files[0];
      this.name = plan?.name ?? this.name;
      this.plan.value = plan?.text ?? "";
      this.data = order.files.filter((file) => file !== plan);
      this.told();
    }
    this.chosen();
  }

  /** Whether an order would be taken on. */
  free(free: boolean): void {
    this.go.disabled = !free;
  }
}

/** Other load from now on: users or connections, or the rate. */
export class Steering {
  readonly form: HTMLFormElement;
  private readonly users = make("input", { id: "users", inputmode: "numeric", size: "7" });
  private readonly rate = make("input", { id: "rate-now", inputmode: "decimal", size: "9" });
  private readonly go = make("button", { type: "submit", class: "button" });

  constructor(order: (change: Record<string, number | null>) => Promise<boolean>) {
    const field = (key: string, input: HTMLElement) => make("label", { class: "field" }, make("span", { "data-word": key }, word(key)), input);
    const number = (input: HTMLInputElement) => (input.value.trim() === "" ? null : Number(input.value));
    this.form = make("form", {
      class: "fields steer",
      hidden: true,
      onsubmit: (event) => {
        event.preventDefault();
        const users = number(this.users);
        void order({ users: users === null ? null : Math.trunc(users), rate_per_s: number(this.rate) });
      },
    }, make("span", { class: "how", "data-word": "steer-title" }, word("steer-title")), field("steer-users", this.users), field("steer-rate", this.rate), this.go);
    this.words();
  }

  words(): void {
    put(this.go, word("steer-do"));
    for (const input of [this.users, this.rate]) input.placeholder = word("steer-same");
  }
}
