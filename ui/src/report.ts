// The report's controls: language, light and dark, print, copying, sorting, and the charts.
import { redraw, start, toggleLog } from "./charts";
import { dark, remember, remembered } from "./choices";
import type { Data, Lang } from "./data";
import { readData, say } from "./data";
import { copy, csv, sort } from "./tables";

const root = document.documentElement;

/** The first thing below the window's upper edge, so that it can stay where it is. */
function anchor(): { element: Element; top: number } | null {
  const things = document.querySelectorAll("h2, h3, figure, .table, .finding, .lead, details");
  for (const element of things) {
    const { top, bottom, height } = element.getBoundingClientRect();
    if (height > 0 && bottom > 60) return { element, top };
  }
  return null;
}

function setLanguage(lang: Lang): void {
  const before = anchor();
  root.lang = lang;
  for (const button of document.querySelectorAll<HTMLElement>("[data-lang]")) {
    button.setAttribute("aria-pressed", String(button.dataset["lang"] === lang));
  }
  redraw();
  if (before) window.scrollBy(0, before.element.getBoundingClientRect().top - before.top);
}

function setTheme(theme: string): void {
  root.dataset["theme"] = theme;
  redraw();
}

async function copied(button: HTMLElement, text: string, data: Data | null): Promise<void> {
  if (!(await copy(text)) || !data) return;
  const before = button.innerHTML;
  button.textContent = say(data.words["copied"]);
  setTimeout(() => (button.innerHTML = before), 1500);
}

function act(button: HTMLElement, data: Data | null): void {
  const lang = button.dataset["lang"];
  if (lang === "en" || lang === "ja") {
    remember("lang", lang);
    setLanguage(lang);
    return;
  }
  switch (button.dataset["do"]) {
    case "theme": {
      const theme = dark() ? "light" : "dark";
      remember("theme", theme);
      setTheme(theme);
      break;
    }
    case "print":
      window.print();
      break;
    case "log":
      toggleLog(button);
      break;
    case "sort":
      sort(button);
      break;
    case "copy-table":
      void copied(button, csv(button), data);
      break;
    case "copy-command":
      void copied(button, button.parentElement?.querySelector("code")?.textContent ?? "", data);
      break;
  }
}

function main(): void {
  const data = readData();
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button) act(button, data);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
  const theme = remembered("theme");
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
  if (data) {
    const how = document.querySelector("#over-time > .how");
    if (how) {
      for (const lang of ["en", "ja"] as const) {
        const words = data.words["reset"];
        const part = document.createElement("span");
        part.lang = lang;
        part.className = "screen";
        part.textContent = ` ${typeof words === "object" ? words[lang] : (words ?? "")}`;
        how.append(part);
      }
    }
    start(data);
  }
  const lang = remembered("lang");
  if ((lang === "en" || lang === "ja") && lang !== root.lang) setLanguage(lang);
}

main();
