// Rows of what goes on for long: a light, a name, and what is told of it.
import { say } from "../data";
import { fill, make } from "./dom";
import type { Row } from "./server";
import { word } from "./words";

/** How each light looks, and its sign: never told by colour alone. */
const LIGHT: Record<Exclude<Row["light"], "">, [string, string]> = {
  green: ["good", "●"], yellow: ["doubt", "◐"], red: ["bad", "▲"],
};

/** Fills the list with the rows of which something was said. */
export function showBoard(list: HTMLElement, rows: Row[]): void {
  const lines = rows.flatMap((row) => {
    if (row.light === "") return [];
    const [look, sign] = LIGHT[row.light];
    return make("li", { class: "board-row", "data-spec": row.name },
      make("span", { class: `health ${look}` }, `${sign} `, word(`board-${row.light}`)),
      make("span", { class: "board-name" }, row.name),
      make("span", { class: "board-said" }, say(row.said)));
  });
  const shown = lines.map((line) => line.outerHTML).join("");
  if (list.dataset["shown"] === shown) return;
  list.dataset["shown"] = shown;
  fill(list, ...lines);
}
