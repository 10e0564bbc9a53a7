// The script of the page: without it every page and form works; with it, pages change in place and follow the events.
import { listenToCopies, offerCopies } from "./copy.js";
import { listenToCanvas } from "./canvas.js";
import { morph } from "./morph.js";
import { followChanges } from "./compare.js";
import { followEvents } from "./events.js";
import { listenToGraph } from "./graph.js";
import { listenToKeys, listenToUndoKeys } from "./keys.js";
import { listenToDrags } from "./moves.js";
import { listenToPanels } from "./panels.js";
import { listenToPatterns } from "./patterns.js";
import { markReady, readStates } from "./ready.js";
import { offerSearch } from "./search.js";
import { listenToTreemap } from "./treemap.js";
import { listenToTyping } from "./typing.js";
import { describeTimes, hideSoon, showToast } from "./words.js";

const BUSY_MS = 250; // after which a person wonders whether anything happens
const PARTS = ["main", "inspector", "rail", "shown-version"]; // replaced after each request; the rest of the bar keeps what is typed

/** Whether something typed into a form, or shown only once, would be lost. @param {Element} form */
const isTyped = (form) =>
  form.hasAttribute("data-once") ||
  form.querySelector(".refusal") !== null ||
  [...form.querySelectorAll("input:not([type=hidden]), textarea")].some(
    (field) => /** @type {HTMLInputElement} */ (field).value !== /** @type {HTMLInputElement} */ (field).defaultValue,
  ) ||
  [...form.querySelectorAll("select")].some(
    (field) => field.value !== ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value,
  );

/** The canvas that the page shows, by its digest: the server leaves out what it would send again. */
const readShownCanvas = () => document.querySelector(".plan-svg")?.getAttribute("data-drawn") ?? "";

/** Ask for a page. @param {string} address @param {RequestInit} [options] */
const ask = (address, options) =>
  fetch(address, { ...options, headers: { accept: "text/html", "x-canvas-shown": readShownCanvas() } });

/** Show a page that the server sent, and name the tasks that became ready. Return false if it leaves out what is not
 * shown any more. @param {string} html @param {{ keepTyped: boolean }} options */
function show(html, { keepTyped }) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const from = next.querySelector(".plan-svg")?.getAttribute("data-from");
  if (from && from !== readShownCanvas()) return false;
  const before = readStates(document);
  document.title = next.title;
  for (const name of PARTS) {
    const old = document.querySelector(name === "main" ? "main" : `.${name}`);
    const fresh = next.querySelector(name === "main" ? "main" : `.${name}`);
    if (old && fresh) morph(old, fresh, keepTyped ? isTyped : () => false);
    else if (old && name === "inspector") old.remove();
    else if (fresh) document.querySelector("main")?.after(fresh);
  }
  describeTimes();
  offerCopies();
  document.dispatchEvent(new Event("shown"));
  const ready = markReady(before);
  if (ready) showToast(ready);
  const lost = next.querySelector(".unplaced"); // the refusal of a form that the page does not show any more
  if (lost) showToast(lost.textContent ?? "");
  return true;
}

/** @param {Response} response */
function leaveIfLoggedOut(response) {
  if (new URL(response.url).pathname === "/login") location.assign(response.url);
}

let left = 0; // how often the person went on to another page
let asked = 0; // the number of the last request: an answer to an earlier one comes too late

let visiting = 0; // how many addresses are being loaded because a person asked for them
let isMissed = false; // whether something changed meanwhile

/** Load the page again, because something changed. What a person asks for goes first. */
async function refresh() {
  isMissed = visiting > 0;
  if (!isMissed) await load(location.href, { push: false, keepTyped: true });
}

let running = 0; // how many requests of the person have no answer yet

/** Say that an answer takes long, until it is there. @template T @param {Promise<T>} answer @returns {Promise<T>} */
async function sayBusy(answer) {
  running += 1;
  const timer = setTimeout(() => {
    document.body.classList.add("busy");
    document.querySelector("main")?.setAttribute("aria-busy", "true");
  }, BUSY_MS);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    running -= 1;
    if (!running) {
      document.body.classList.remove("busy");
      document.querySelector("main")?.removeAttribute("aria-busy");
    }
  }
}

/** @param {Parameters<typeof load>} asked */
async function visit(...asked) {
  visiting += 1;
  try {
    await sayBusy(load(...asked));
  } catch {
    showToast("The server does not answer. Try again.");
  } finally {
    visiting -= 1;
    if (!visiting && isMissed) refresh().catch(() => undefined); // the next event tries again
  }
}

/** Load an address and show it. @param {string} address @param {{ push?: boolean, replace?: boolean, keepTyped?: boolean }} [options] */
async function load(address, { push = true, replace = false, keepTyped = false } = {}) {
  const mine = ++asked;
  if (push) left += 1;
  const response = await ask(address);
  if (mine !== asked) return;
  leaveIfLoggedOut(response);
  const html = await response.text();
  if (mine !== asked) return;
  if (replace) history.replaceState(null, "", response.url);
  else if (push) history.pushState(null, "", response.url);
  if (!show(html, { keepTyped })) return load(response.url, { push: false, keepTyped });
  if (!push) return;
  const named = document.getElementById(new URL(address, location.href).hash.slice(1));
  (named ?? document.querySelector("main .selected"))?.scrollIntoView({ block: "nearest" });
}

/** The forms with which the history offers to undo and to redo my changes, and the revisions that they are about. */
async function findOffers() {
  const { name, actor } = document.body.dataset;
  const response = await fetch(`/p/${encodeURIComponent(name ?? "")}/history?${new URLSearchParams({ actor: actor ?? "", latest: "1" })}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return ["undo", "redo"].flatMap((kind) => {
    const offer = page.getElementById(`${kind}-offer`);
    const form = offer?.querySelector("form");
    if (!offer || !form) return [];
    form.setAttribute("action", location.href);
    form.removeAttribute("id"); // the history has one with the same
    return [{ kind, rev: Number(offer.dataset.rev), form: document.importNode(form, true) }];
  });
}

/** Add a button to a message that takes back what I just did. @param {HTMLElement} toast @param {number} rev before it */
async function offerUndo(toast, rev) {
  const offer = (await findOffers()).find((one) => one.rev > rev);
  if (!offer || !toast.isConnected) return;
  toast.append(offer.form);
  hideSoon(toast, 10_000);
}

let takingBack = Promise.resolve(); // one after the other: each is about the change before the last

/** Undo my last change, or redo it. @param {"undo" | "redo"} kind */
async function takeBack(kind) {
  const offer = (await findOffers()).find((one) => one.kind === kind);
  if (offer) return send(offer.form);
  showToast(kind === "undo" ? "Your last change cannot be undone." : "There is nothing to redo.");
}

/** Close the part of a form that did its work, so that the result is seen. @param {Element | null} part */
function closePart(part) {
  const at = document.activeElement; // the body, if the button that was pressed had the focus: it was disabled
  if (part && (at === document.body || part.contains(at))) part.querySelector("summary")?.focus();
  part?.removeAttribute("open");
}

/** Send a form and show the page after it. @param {HTMLFormElement} form */
async function send(form) {
  const button = form.querySelector("button");
  const before = left;
  if (button) button.disabled = true; // a second press must not send it twice
  const rev = Number(document.querySelector("main")?.dataset.rev);
  try {
    const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    const response = await sayBusy(ask(form.action, { method: "POST", body }));
    leaveIfLoggedOut(response);
    if (!response.ok || left === before) {
      const html = await response.text();
      asked += 1;
      if (!show(html, { keepTyped: false })) await load(response.url, { push: false });
    } // else the person went on meanwhile, and stays there; the event of the change refreshes the page
    if (response.ok) {
      if (response.redirected && left === before) history.replaceState(null, "", response.url);
      form.closest(".toast")?.remove();
      closePart(form.closest("details.settle"));
      if (form.dataset.done) void offerUndo(showToast(form.dataset.done), rev).catch(() => undefined);
    } else document.querySelector("[aria-invalid], .refusal")?.scrollIntoView({ block: "nearest" });
  } catch {
    showToast("The server does not answer. What you typed is still here; try again.");
  } finally {
    if (button?.isConnected) button.disabled = false;
  }
}

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.method === "dialog" || form.classList.contains("who")) return;
  event.preventDefault();
  form.closest("details.menu")?.removeAttribute("open");
  if (form.method === "post") void send(form);
  else void visit(`${form.action}?${new URLSearchParams(/** @type {any} */ (new FormData(form)))}`);
});

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = /** @type {Element} */ (event.target).closest("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin) return;
  const sameProject = link.pathname.startsWith(`/p/${encodeURIComponent(document.body.dataset.name ?? "")}/`);
  if (!sameProject || link.pathname.includes("/files/") || (link.hash && link.pathname === location.pathname)) return;
  event.preventDefault();
  link.closest("details.menu")?.removeAttribute("open");
  void visit(link.href);
});

addEventListener("popstate", () => void visit(location.href, { push: false }));

listenToPanels();
listenToKeys();
listenToUndoKeys((kind) => {
  takingBack = takingBack.then(() => takeBack(kind)).catch(() => showToast("The server does not answer. Try again."));
});
listenToDrags();
listenToPatterns();
listenToTreemap((address) => visit(address));
listenToGraph((address) => visit(address));
followChanges();
listenToCopies();
listenToCanvas((address) => visit(address));
listenToTyping((address) => visit(address, { replace: true, keepTyped: true }));
offerSearch((address) => visit(address));
describeTimes();
setInterval(describeTimes, 30_000);
if (document.body.dataset.project) {
  followEvents(document.body.dataset.project, refresh);
}
