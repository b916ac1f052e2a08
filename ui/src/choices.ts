// What the reader has chosen: language, light or dark; remembered by the browser when it may.

const root = document.documentElement;

/** What was chosen before, or is asked for in the address. */
export function remembered(name: string): string | null {
  const asked = new URLSearchParams(location.search).get(name);
  if (asked) return asked;
  try {
    return localStorage.getItem(`sokudo-${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`sokudo-${name}`, value);
  } catch {
    // Nothing is lost but the memory of a choice.
  }
}

/** True when the page is dark now. */
export function dark(): boolean {
  const chosen = root.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
