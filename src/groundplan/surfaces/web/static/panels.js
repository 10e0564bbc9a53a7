// The buttons of the bar: the colours of the page, and the panels beside the content.
import { showToast } from "./words.js";

/** Light, dark, or as the system has them: first the one that is not shown now. */
function changeTheme() {
  const root = document.documentElement;
  const steps = matchMedia("(prefers-color-scheme: dark)").matches ? ["", "light", "dark"] : ["", "dark", "light"];
  const next = steps[(steps.indexOf(root.dataset.theme ?? "") + 1) % steps.length] ?? "";
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  document.cookie = `groundplan_theme=${next}; path=/; max-age=${next ? 31_536_000 : 0}; samesite=lax`;
  const said = `Colours: ${next || "as the system has them"}`;
  document.getElementById("theme")?.setAttribute("aria-label", said);
  showToast(said);
}

const HIDDEN = /** @type {const} */ ({ rail: "no-rail", inspector: "no-inspector" });

/** Hide a panel, or show it again. @param {keyof typeof HIDDEN} panel */
function togglePanel(panel) {
  const isHidden = document.body.classList.toggle(HIDDEN[panel]);
  document.getElementById(`hide-${panel}`)?.setAttribute("aria-pressed", String(isHidden));
  const at = document.activeElement;
  if (isHidden && at?.closest(`.${panel}`)) document.querySelector("main")?.focus(); // it must not be where nobody sees it
}

let shown = ""; // what the inspector shows

/** What a person opens is seen, also if the inspector was hidden before. */
function showOther() {
  const of = /** @type {HTMLElement | null} */ (document.querySelector(".inspector"))?.dataset.id ?? "";
  if (of && of !== shown && document.body.classList.contains(HIDDEN.inspector)) togglePanel("inspector");
  shown = of;
}

export function listenToPanels() {
  showOther();
  document.addEventListener("shown", showOther);
  document.getElementById("theme")?.addEventListener("click", changeTheme);
  document.getElementById("hide-rail")?.addEventListener("click", () => togglePanel("rail"));
  document.getElementById("hide-inspector")?.addEventListener("click", () => togglePanel("inspector"));
  for (const id of ["theme", "keys", "hide-rail", "hide-inspector"]) document.getElementById(id)?.removeAttribute("hidden");
}
