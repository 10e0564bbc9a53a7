import { CANVAS_KEYS } from "./canvas.js";
import { cutOrPaste } from "./moves.js";

// Keys: an element says by `data-key` which key presses it. Lists are walked with j and k.

const SEQUENCE_MS = 1200;
const OFF = "groundplan-single-keys-off";

const isTyping = () => {
  const at = document.activeElement;
  return at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement;
};

/** @param {string} key */
const find = (key) =>
  /** @type {HTMLElement | undefined} */ (
    [...document.querySelectorAll("[data-key]")].find((one) => one.getAttribute("data-key") === key)
  );

/** What an element with a key does, in words. @param {Element} one */
export const describeKey = (one) =>
  (one.getAttribute("aria-label") || one.getAttribute("placeholder") || one.textContent || "").replace(/\s+/g, " ").trim();

/** @param {HTMLElement} element */
export function press(element) {
  if (element instanceof HTMLInputElement) {
    element.focus();
    element.select();
  } else if (element.tagName === "SUMMARY") {
    const details = /** @type {HTMLDetailsElement} */ (element.parentElement);
    details.open = true;
    /** @type {HTMLElement | null} */ (details.querySelector("textarea, input:not([type=hidden])"))?.focus();
  } else element.click();
}

/** @param {number} by */
function walk(by) {
  const items = [...document.querySelectorAll("[data-list] > [data-id]")];
  if (!items.length) return;
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const start = at >= 0 ? at : items.findIndex((item) => item.classList.contains("selected")) - (by > 0 ? 0 : 0);
  const next = items[Math.min(items.length - 1, Math.max(0, (start < 0 ? -1 : start) + by))];
  const main = next?.querySelector("[data-main]") ?? next?.querySelector("a.title, a:not(.twist)");
  /** @type {HTMLElement | null | undefined} */ (main)?.focus();
}

function showSheet() {
  const sheet = /** @type {HTMLDialogElement} */ (document.getElementById("sheet"));
  const list = /** @type {HTMLElement} */ (document.getElementById("sheet-keys"));
  list.replaceChildren();
  const known = [...document.querySelectorAll("[data-key]")].filter((one) => one.getAttribute("data-key"));
  const lines = known.map((one) => [one.getAttribute("data-key") ?? "", describeKey(one)]);
  const others = [
    ["Ctrl K", "Go to, do, or search"],
    ["Ctrl Z", "Undo your last change"],
    ["Ctrl Shift Z", "Redo it"],
    ["j k", "Next and previous in a list"],
    ["← →", "Close and open a branch"],
    ["M P", "Cut a task, and paste it under another"],
    ...(document.querySelector("#canvas, .plan-list") ? CANVAS_KEYS : []),
  ];
  for (const [key, label] of [...lines, ...others]) {
    const term = document.createElement("dt");
    const mark = document.createElement("kbd");
    mark.textContent = key ?? "";
    term.append(mark);
    const what = document.createElement("dd");
    what.textContent = label ?? "";
    list.append(term, what);
  }
  const box = /** @type {HTMLInputElement | null} */ (document.getElementById("single-keys"));
  if (box) box.checked = !localStorage.getItem(OFF); // read here: the first read takes 6 ms of the first screen
  sheet.showModal();
}

/** Listen to the keys of undo and redo; in a field they change what is typed. @param {(kind: "undo" | "redo") => unknown} takeBack */
export function listenToUndoKeys(takeBack) {
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !(key === "z" || key === "y")) return;
    if (event.repeat || event.defaultPrevented || isTyping() || document.querySelector("dialog[open]") || !document.body.dataset.project) return;
    event.preventDefault();
    takeBack(key === "y" || event.shiftKey ? "redo" : "undo");
  });
}

export function listenToKeys() {
  let first = "";
  let at = 0;
  const box = /** @type {HTMLInputElement | null} */ (document.getElementById("single-keys"));
  box?.addEventListener("change", () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  document.getElementById("keys")?.addEventListener("click", showSheet);
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (isTyping()) return /** @type {HTMLElement} */ (document.activeElement).blur();
      return find("Escape")?.click();
    }
    if (isTyping() || localStorage.getItem(OFF)) return;
    const item = /** @type {Element | null} */ (document.activeElement)?.closest("[role=treeitem]");
    if (item && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      const wanted = event.key === "ArrowRight" ? "false" : "true";
      if (item.getAttribute("aria-expanded") === wanted) {
        event.preventDefault();
        /** @type {HTMLElement | null} */ (item.querySelector("[data-twist]"))?.click();
      }
      return;
    }
    if (event.key === "j" || event.key === "k" || (item && /^Arrow(Down|Up)$/.test(event.key))) {
      event.preventDefault();
      return walk(event.key === "j" || event.key === "ArrowDown" ? 1 : -1);
    }
    if ((event.key === "M" || event.key === "P") && cutOrPaste(event.key)) return event.preventDefault();
    const pair = event.timeStamp - at < SEQUENCE_MS && first ? `${first} ${event.key}` : "";
    const isNext = event.key === " " && !(document.activeElement instanceof HTMLButtonElement); // as in every slide show
    const found = (pair && find(pair)) || find(isNext ? "ArrowRight" : event.key);
    first = event.key;
    at = event.timeStamp;
    if (found) {
      event.preventDefault();
      first = "";
      press(found);
    }
  });
}
