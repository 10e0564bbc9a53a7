// Move a task: drag its row onto another one, or cut it with M and paste it with P under the row that has the focus.
import { showToast } from "./words.js";

/** @type {string} */
let cut = "";

/** @param {EventTarget | null} target */
const rowOf = (target) => (target instanceof Element ? target.closest("[data-node]") : null);

/** @param {Element} row */
const titleOf = (row) => row.querySelector(".title")?.textContent ?? "";

/** @param {string} node @param {string} parent */
function move(node, parent) {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("move-row"));
  if (!form || !node || node === parent) return;
  for (const [name, value] of Object.entries({ node_id: node, new_parent: parent })) {
    const field = form.elements.namedItem(`operations.0.${name}`);
    if (field instanceof HTMLInputElement) field.value = value;
  }
  form.requestSubmit();
}

/** Cut the row that has the focus or is selected, or paste what was cut under it. @param {"M" | "P"} key */
export function cutOrPaste(key) {
  const row = rowOf(document.activeElement) ?? document.querySelector(".selected[data-node]");
  if (!row || !document.getElementById("move-row")) return false;
  if (key === "M") {
    document.querySelector(".cut")?.classList.remove("cut");
    cut = row.getAttribute("data-node") ?? "";
    row.classList.add("cut");
    showToast(`“${titleOf(row)}” is cut. Go to its new place and press P.`);
  } else if (cut) {
    move(cut, row.getAttribute("data-node") ?? "");
    cut = "";
  }
  return true;
}

export function listenToDrags() {
  document.addEventListener("dragstart", (event) => {
    const row = rowOf(event.target);
    if (!row) return;
    cut = row.getAttribute("data-node") ?? "";
    event.dataTransfer?.setData("text/plain", cut);
    row.classList.add("cut");
  });
  document.addEventListener("dragover", (event) => {
    const row = cut ? rowOf(event.target) : null;
    for (const other of document.querySelectorAll(".over-row")) if (other !== row) other.classList.remove("over-row");
    if (!row) return;
    event.preventDefault();
    row.classList.add("over-row");
  });
  document.addEventListener("drop", (event) => {
    const row = cut ? rowOf(event.target) : null;
    if (!row) return;
    event.preventDefault();
    move(cut, row.getAttribute("data-node") ?? "");
  });
  document.addEventListener("dragend", () => {
    cut = "";
    for (const row of document.querySelectorAll(".cut, .over-row")) row.classList.remove("cut", "over-row");
  });
}
