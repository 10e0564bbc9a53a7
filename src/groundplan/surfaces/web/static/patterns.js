// While a person types patterns, show which files of the last check match them.
import { morph } from "./morph.js";

const PAUSE_MS = 250;
const SOURCE = "matches-new"; // where the page shows the matches of the patterns in its address

/** @param {HTMLTextAreaElement} field */
async function showMatches(field) {
  const query = new URLSearchParams(location.search);
  query.set("patterns", field.value);
  const response = await fetch(`${location.pathname}?${query}`, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById(SOURCE);
  const old = document.getElementById(field.dataset.matches ?? "");
  if (!fresh || !old || query.get("patterns") !== field.value) return; // it was typed on meanwhile
  fresh.id = old.id;
  fresh.dataset.id = old.id;
  morph(old, fresh, () => false);
}

export function listenToPatterns() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLTextAreaElement) || !field.dataset.matches) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => void showMatches(field).catch(() => undefined), PAUSE_MS);
  });
}
