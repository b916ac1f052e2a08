// A form for load on a web server, as `sokudo http` makes it.
import { make, put } from "./dom";
import { word } from "./words";

export class WebServer {
  private readonly url = make("input", { id: "url", class: "url", type: "text", inputmode: "url", spellcheck: "false", autocomplete: "off", placeholder: "http://hostb:8080/" });
  private readonly connections = make("input", { id: "connections", inputmode: "numeric", size: "5", value: "64" });
  private readonly duration = make("input", { id: "duration", size: "5", value: "10s" });
  private readonly rate = make("input", { id: "rate", size: "10" });
  private readonly monitors = make("input", { id: "monitors", spellcheck: "false", autocomplete: "off", placeholder: "process:port=8080" });
  private readonly go = make("button", { type: "submit", class: "button", id: "do-http" }, word("http-do"));

  constructor(place: HTMLElement, order: (asked: Record<string, unknown>) => Promise<boolean>) {
    const field = (key: string, input: HTMLElement, kind = "") =>
      make("label", { class: `field ${kind}` }, make("span", { "data-word": key }, word(key)), input);
    place.append(make("form", {
      class: "fields",
      onsubmit: (event) => {
        event.preventDefault();
        void order({
          url: this.url.value.trim(),
          connections: Math.trunc(Number(this.connections.value)) || 0,
          duration: this.duration.value.trim(),
          rate: this.rate.value.trim(),
          // One monitor has commas between its options; several have blanks between them.
          monitors: this.monitors.value.split(/\s+/).filter((monitor) => monitor !== ""),
        });
      },
    }, field("http-url", this.url, "wide"), field("http-connections", this.connections), field("http-duration", this.duration), field("http-rate", this.rate), field("http-monitors", this.monitors), this.go));
    this.words();
  }

  words(): void {
    put(this.go, word("http-do"));
    this.rate.placeholder = word("http-rate-none");
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
