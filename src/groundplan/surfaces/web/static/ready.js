// Tasks that a change made ready: they pulse, and the live region names them.

const NAMED_MAX = 3;
const NOT_READY = new Set(["blocked", "claimed", "parent"]); // a board by status has other words

/** The states and titles of the tasks that a page shows. @param {ParentNode} page */
export function readStates(page) {
  /** @type {Map<string, { state: string, title: string }>} */
  const found = new Map();
  for (const one of page.querySelectorAll("main [data-state]")) {
    const id = (one.getAttribute("data-id") ?? "").replace(/^(card|vertex)-/, "");
    const title = one.querySelector("title, a.title, a:not(.over, .twist)")?.textContent ?? "";
    if (id) found.set(id, { state: one.getAttribute("data-state") ?? "", title: title.trim() });
  }
  return found;
}

/** Let the tasks pulse that were shown and not ready before; return a sentence about them.
 * @param {ReturnType<typeof readStates>} before */
export function markReady(before) {
  const ready = [...readStates(document)].filter(
    ([id, now]) => now.state === "ready" && NOT_READY.has(before.get(id)?.state ?? ""),
  );
  for (const [id] of ready) {
    for (const prefix of ["", "card-", "vertex-"]) {
      document.querySelector(`main [data-id="${CSS.escape(prefix + id)}"]`)?.classList.add("pulse");
    }
  }
  if (!ready.length) return "";
  const titles = ready.slice(0, NAMED_MAX).map(([, one]) => one.title);
  const more = ready.length > NAMED_MAX ? ` and ${ready.length - NAMED_MAX} more` : "";
  return `${ready.length} ${ready.length === 1 ? "task" : "tasks"} became ready: ${titles.join(", ")}${more}`;
}
