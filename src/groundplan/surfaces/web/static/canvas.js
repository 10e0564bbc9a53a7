// The canvas of the plan: keys, editing by mouse, and what a screen reader hears. Without it, cards are plain links.
import { attachView } from "./canvas_view.js";

/** @typedef {SVGAElement} Card */

/** What keys do on a card or a row of the plan. */
export const CANVAS_KEYS = [
  ["← → ↑ ↓", "Along the links, and within a band"],
  ["Enter", "Open an item, or a group"],
  ["e", "Rename"],
  ["N", "Add an item that is linked to this one"],
  ["c", "Connect: choose with the arrows, Enter connects"],
  ["a i", "Add an assumption, or an indicator"],
  ["p", "Show the pathway, or everything"],
  ["r", "Show the next level of risk"],
  ["Del", "Remove"],
];
const WAIT_MS = 1500; // for the inspector of a card

/** @type {(address: string) => Promise<void>} */
let visit = async () => undefined;
/** @type {ReturnType<typeof attachView> | null} */
let view = null;
let current = ""; // the key of the card that the keys act on
let connecting = ""; // the key of the card that a link starts from
let adding = ""; // the id of the form that adds a card and was sent
let isOpening = false; // whether a group was opened or left: then the focus goes to a card of what is shown
let shownPart = ""; // the part of the plan that the canvas shows
/** What gets the focus once the inspector shows an item. @type {{ of: string, part: string, field: string, until: number } | null} */
let waiting = null;
/** @type {Map<string, [number, number]>} */
let placed = new Map();

const canvas = () => document.getElementById("canvas");
/** @returns {Card[]} */
const cards = () => [...document.querySelectorAll("#canvas .node")].map((one) => /** @type {Card} */ (one));
/** @param {string} key @returns {Card | null} */
const cardOf = (key) => /** @type {any} */ (key ? document.querySelector(`#canvas .node[data-id="${CSS.escape(key)}"]`) : null);
/** @param {Element | null | undefined} element @returns {[number, number]} */
const readShift = (element) => {
  const found = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(element?.getAttribute("transform") ?? "");
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
};
/** The upper left corner of a card in the picture. @param {Element} card @returns {[number, number]} */
const placeOf = (card) => {
  const [x, y] = readShift(card);
  const [left, top] = readShift(document.querySelector("#canvas .plan-svg > g"));
  return [x + left, y + top];
};

/** @param {string} text */
function say(text) {
  const region = document.getElementById("said");
  if (region) region.textContent = text;
}

/** @param {string} key @param {{ announce?: boolean }} [options] */
function focusCard(key, { announce = true } = {}) {
  const card = cardOf(key);
  if (!card) return;
  setCurrent(key);
  card.focus({ preventScroll: true });
  view?.reveal(...placeOf(card));
  if (announce) say(card.getAttribute("aria-label") ?? "");
}

/** One card can be reached with Tab: the one that the keys act on. @param {string} key */
function setCurrent(key) {
  current = key;
  for (const card of document.querySelectorAll("#canvas .node[tabindex='0']")) card.setAttribute("tabindex", "-1");
  cardOf(key)?.setAttribute("tabindex", "0");
}

/** The next card along the links, else the nearest one in that direction. @param {Card} card @param {string} arrow */
function findNext(card, arrow) {
  const [x, y] = placeOf(card);
  const key = card.getAttribute("data-id") ?? "";
  const isAcross = arrow === "ArrowLeft" || arrow === "ArrowRight";
  const sign = arrow === "ArrowRight" || arrow === "ArrowDown" ? 1 : -1;
  /** @param {Card[]} several @param {(dx: number, dy: number) => number} cost */
  const nearest = (several, cost) =>
    several
      .filter((one) => one !== card)
      .map((one) => ({ one, cost: cost(placeOf(one)[0] - x, placeOf(one)[1] - y) }))
      .filter(({ cost: price }) => price < Infinity)
      .sort((a, b) => a.cost - b.cost)[0]?.one;
  // The cards that nothing links are in a tray below the bands, in rows of its own.
  const isInTray = card.hasAttribute("data-tray");
  const tray = cards().filter((one) => one.hasAttribute("data-tray"));
  if (isAcross && isInTray && !connecting) {
    const beside = nearest(tray, (dx, dy) => (Math.abs(dy) < 1 && dx * sign > 0 ? Math.abs(dx) : Infinity));
    if (beside) return beside;
  }
  if (isAcross) {
    const [here, there] = sign > 0 ? ["from", "to"] : ["to", "from"];
    const linked = [...document.querySelectorAll(`#canvas .link[data-${here}="${CSS.escape(key)}"]`)]
      .map((link) => cardOf(link.getAttribute(`data-${there}`) ?? ""))
      .filter((one) => one !== null);
    if (!connecting && linked.length) return nearest(linked, (_dx, dy) => Math.abs(dy));
    return nearest(cards(), (dx, dy) => (dx * sign > 1 ? Math.abs(dx) * 3 + Math.abs(dy) : Infinity));
  }
  if (isInTray) {
    return (
      nearest(tray, (dx, dy) => (Math.abs(dx) < 1 && dy * sign > 0 ? Math.abs(dy) : Infinity)) ??
      nearest(cards(), (dx, dy) => (dy * sign > 1 ? Math.abs(dx) + Math.abs(dy) * 3 : Infinity))
    );
  }
  const type = card.getAttribute("data-type");
  const band = cards().filter((one) => one.getAttribute("data-type") === type && !one.hasAttribute("data-tray"));
  return (
    nearest(band, (dx, dy) => (Math.abs(dx) < 1 && dy * sign > 0 ? Math.abs(dy) : Infinity)) ??
    nearest(band, (dx, dy) => (dx * sign > 1 ? dx * sign * 10_000 + dy * sign : Infinity)) ??
    nearest(tray, (dx, dy) => (dy * sign > 0 ? Math.abs(dx) + Math.abs(dy) : Infinity))
  );
}

/** Send the form that connects two cards. @param {string} source @param {string} target */
function connect(source, target) {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("connect"));
  if (!form || !source || source === target) return;
  for (const [name, value] of Object.entries({ source, target })) {
    const field = form.elements.namedItem(`operations.0.${name}`);
    if (field instanceof HTMLInputElement) field.value = value;
  }
  form.requestSubmit();
}

/** @param {string} key */
function setConnecting(key) {
  connecting = key;
  canvas()?.classList.toggle("connecting", Boolean(key));
  for (const one of document.querySelectorAll("#canvas .source")) one.classList.remove("source");
  cardOf(key)?.classList.add("source");
}

/** Open a part of the inspector and focus its first field. @param {string} key @param {string} part @param {string} [field] */
async function openPart(key, part, field = "textarea, input:not([type=hidden]), select, button") {
  waiting = { of: key, part, field, until: performance.now() + WAIT_MS };
  if (!focusWaiting()) {
    const link = cardOf(key)?.getAttribute("href") ?? document.querySelector(`[data-item="${CSS.escape(key)}"] a.title`)?.getAttribute("href");
    if (link) await visit(new URL(link, location.href).href);
  }
}

function focusWaiting() {
  const inspector = document.getElementById("inspector");
  if (!waiting || inspector?.dataset.of !== waiting.of) return false;
  const part = inspector.querySelector(`[data-id="${waiting.part}"]`);
  const wanted = waiting;
  waiting = null;
  if (!(part instanceof HTMLDetailsElement)) return true;
  part.open = true;
  const found = /** @type {HTMLElement | null} */ (part.querySelector(wanted.field));
  found?.focus();
  if (found instanceof HTMLInputElement || found instanceof HTMLTextAreaElement) found.select();
  return true;
}

/** Open the form above the canvas for a new card of a type. @param {string} type */
function openAdd(type) {
  const part = /** @type {HTMLDetailsElement | null} */ (document.querySelector("[data-id=add-part]"));
  if (!part) return false;
  part.open = true;
  const choice = /** @type {HTMLSelectElement | null} */ (part.querySelector("select"));
  if (choice && type) choice.value = type;
  /** @type {HTMLInputElement | null} */ (part.querySelector("input:not([type=hidden])"))?.focus();
  return true;
}

/** @param {string} name @param {string} value */
const changeAddress = (name, value) => {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  address.hash = "";
  return address;
};

/** Whether a new card beside another one most likely leads to it: what has an effect already lacks causes.
 * @param {string} key @param {Element} card */
function isCauseWanted(key, card) {
  const type = card.getAttribute("data-type");
  if (type === "GOAL" || type === "ACTIVITY") return type === "GOAL";
  return document.querySelector(`#canvas .link[data-from="${CSS.escape(key)}"], [data-item="${CSS.escape(key)}"][data-leads]`) !== null;
}

/** What a key does with a card. @type {Record<string, (key: string, card: Element) => unknown>} */
const ACTIONS = {
  e: (key) => openPart(key, "edit-part"),
  n: (_key, card) => openAdd(card.getAttribute("data-type") ?? ""),
  N: (key, card) => openPart(key, isCauseWanted(key, card) ? "cause-part" : "effect-part"),
  a: (key) => openPart(key, "assume-part"),
  i: (key) => openPart(key, "indicator-part"),
  Delete: (key) => openPart(key, "remove-part", "button"),
  p: (key) => {
    const isShown = new URL(location.href).searchParams.get("pathway") === key;
    say(isShown ? "Everything is shown" : `The pathway of ${key} is shown`);
    return visit(changeAddress("pathway", isShown ? "" : key).href);
  },
  r: () => {
    const steps = ["", "high", "medium", "low"];
    const next = steps[(steps.indexOf(new URL(location.href).searchParams.get("risk") ?? "") + 1) % steps.length] ?? "";
    say(next ? `${next} risk only` : "All risks");
    return visit(changeAddress("risk", next).href);
  },
  q: () => {
    const part = /** @type {HTMLDetailsElement | null} */ (document.querySelector("[data-id=quick-part]"));
    if (!part) return;
    part.open = true;
    part.querySelector("textarea")?.focus();
  },
};
const EDITS = new Set(["e", "n", "N", "a", "i", "c", "q", "Delete"]);
const NOT_OF_GROUPS = new Set(["e", "N", "a", "i", "c", "p", "Delete"]);

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
  const at = document.activeElement;
  const opened = event.key === "Escape" ? at?.closest(".pop[open]") : null;
  if (opened) {
    event.preventDefault();
    opened.removeAttribute("open");
    return cardOf(current) ? focusCard(current) : opened.querySelector("summary")?.focus();
  }
  const row = at?.closest?.("[data-item]");
  let card = /** @type {Card | null} */ (at?.closest?.("#canvas .node"));
  const isArrow = event.key.startsWith("Arrow");
  if (!card && !row && isArrow && canvas() && (at === document.body || at === canvas() || at === document.querySelector("main"))) {
    event.preventDefault();
    return focusCard(current || cards()[0]?.getAttribute("data-id") || "");
  }
  const key = card?.getAttribute("data-id") ?? row?.getAttribute("data-item") ?? "";
  if (!key) return;
  if (waiting && event.timeStamp < waiting.until && event.key.length === 1) {
    return event.preventDefault(); // it is meant for the field that comes
  }
  if (card && isArrow) {
    event.preventDefault();
    const next = findNext(card, event.key);
    if (next) focusCard(next.getAttribute("data-id") ?? "");
    return;
  }
  if (event.key === "Escape" && connecting) {
    setConnecting("");
    say("Not connected");
    return event.preventDefault();
  }
  if (event.key === "Enter" && connecting) {
    event.preventDefault();
    const source = connecting;
    setConnecting("");
    return connect(source, key);
  }
  if (localStorage.getItem("groundplan-single-keys-off")) return;
  if (EDITS.has(event.key) && !document.getElementById("connect")) return; // nothing can be changed here
  if (card?.hasAttribute("data-group") && NOT_OF_GROUPS.has(event.key)) {
    event.preventDefault();
    return say("This is a group: Enter opens it");
  }
  if (event.key === "c") {
    event.preventDefault();
    if (!card) return void openPart(key, "to-part");
    setConnecting(key);
    return say(`Connect ${key}: choose with the arrow keys what it leads to, Enter connects, Escape stops`);
  }
  const action = ACTIONS[event.key];
  const subject = card ?? row;
  if (action && subject) {
    event.preventDefault();
    if (card) setCurrent(key);
    void action(key, subject);
  }
}

/** @param {MouseEvent} event */
function onClick(event) {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = /** @type {Element} */ (event.target).closest("#canvas a");
  if (!link) return;
  event.preventDefault();
  if (view?.wasDragged()) return;
  const type = link.getAttribute("data-add");
  if (type) return void openAdd(type);
  if (link.classList.contains("node")) {
    const key = link.getAttribute("data-id") ?? "";
    if (connecting && connecting !== key) {
      const source = connecting;
      setConnecting("");
      return connect(source, key);
    }
    focusCard(key, { announce: false });
    isOpening = link.hasAttribute("data-group");
  }
  void visit(new URL(link.getAttribute("href") ?? "", location.href).href);
}

const handle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
for (const [name, value] of Object.entries({ class: "handle", cx: "196", cy: "39", r: "7", "data-keep": "" })) handle.setAttribute(name, value);

/** The card under the pointer has a handle to draw a link from: one for all cards. @param {Event} event */
function showHandle(event) {
  const card = /** @type {Element} */ (event.target).closest?.("#canvas .node:not([data-group])");
  if (card && handle.parentNode !== card && document.getElementById("connect")) card.append(handle);
}

/** Draw a link from the handle of a card to the card under the pointer. @param {PointerEvent} event */
function onHandle(event) {
  const grip = /** @type {Element} */ (event.target).closest(".handle");
  const card = grip?.closest(".node");
  const svg = card?.closest("svg");
  if (!grip || !card || !svg || event.button) return;
  event.preventDefault();
  event.stopPropagation();
  const source = card.getAttribute("data-id") ?? "";
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("class", "new-link");
  svg.append(line);
  /** @param {PointerEvent} move */
  const toSvg = (move) => new DOMPoint(move.clientX, move.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
  const start = toSvg(event);
  setConnecting(source);
  document.body.dataset.drawing = ""; // refreshes wait
  /** @param {PointerEvent} move */
  const draw = (move) => {
    const end = toSvg(move);
    line.setAttribute("d", `M${start.x} ${start.y}L${end.x} ${end.y}`);
  };
  /** @param {PointerEvent} up */
  const stop = (up) => {
    removeEventListener("pointermove", draw);
    delete document.body.dataset.drawing;
    line.remove();
    const target = document.elementFromPoint(up.clientX, up.clientY)?.closest("#canvas .node");
    setConnecting("");
    view?.ignoreNextClick();
    if (target) connect(source, target.getAttribute("data-id") ?? "");
  };
  addEventListener("pointermove", draw);
  addEventListener("pointerup", stop, { once: true });
}

/** After each change of the page: keep the card still on the screen, and the focus where it belongs. */
function onShown() {
  const box = canvas();
  if (!box) {
    view = null;
    placed = new Map();
    return;
  }
  const known = cards();
  const keys = known.map((card) => card.getAttribute("data-id") ?? "");
  const chosen = box.querySelector(".node.chosen")?.getAttribute("data-id") ?? "";
  const isNew = view?.box !== box;
  if (isNew) view = attachView(box);
  const part = box.dataset.part ?? "";
  const isOther = isNew || part !== shownPart;
  shownPart = part;
  if (isOther && !isNew) view?.open();
  view?.apply();
  if (!isOther && placed.size) {
    const anchor = [current, chosen, ...keys].find((key) => placed.has(key) && cardOf(key));
    const card = anchor ? cardOf(anchor) : null;
    const before = anchor ? placed.get(anchor) : undefined;
    if (card && before) view?.shift(before, placeOf(card));
  }
  const added = keys.filter((key) => !placed.has(key));
  placed = new Map(known.map((card, place) => [keys[place] ?? "", placeOf(card)]));
  if (!cardOf(current)) current = chosen || keys[0] || "";
  setCurrent(current);
  setConnecting(cardOf(connecting) ? connecting : "");
  if (adding && added.length && !isOther) {
    document.getElementById(adding)?.closest(".pop")?.removeAttribute("open"); // it would cover what was added
    focusCard(added[0] ?? "");
    adding = "";
  } else if (isOpening && isOther) {
    focusCard(chosen || keys.find((key) => !cardOf(key)?.classList.contains("around")) || "");
  } else if (isOther && (chosen || document.activeElement?.closest("#canvas .node"))) {
    view?.reveal(...placeOf(/** @type {Element} */ (cardOf(chosen || current))));
  }
  isOpening = false;
  focusWaiting();
}

/** @param {(address: string) => Promise<void>} load */
export function listenToCanvas(load) {
  visit = load;
  document.documentElement.classList.add("script");
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("click", onClick);
  document.addEventListener("pointerdown", onHandle, true);
  document.addEventListener("pointerover", showHandle);
  document.addEventListener("dblclick", (event) => {
    const key = /** @type {Element} */ (event.target).closest("#canvas .node")?.getAttribute("data-id");
    if (key && document.getElementById("connect")) void openPart(key, "edit-part");
  });
  document.addEventListener("pointerdown", (event) => {
    for (const one of document.querySelectorAll(".pop[open]")) {
      const isTyped = [...one.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => /** @type {HTMLInputElement} */ (field).value);
      if (!isTyped && !one.contains(/** @type {Node} */ (event.target))) one.removeAttribute("open");
    }
  });
  document.addEventListener("focusin", (event) => {
    const key = /** @type {Element} */ (event.target).closest?.("#canvas .node")?.getAttribute("data-id");
    if (key && key !== current) setCurrent(key);
  });
  document.addEventListener("submit", (event) => {
    const { id } = /** @type {HTMLElement} */ (event.target);
    adding = ["add", "effect", "cause", "quick"].includes(id) ? id : "";
  });
  document.addEventListener("click", (event) => {
    const kind = /** @type {Element} */ (event.target).closest("[data-zoom]")?.getAttribute("data-zoom");
    if (kind) view?.zoom(kind);
  });
  document.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest(".crumbs a")) isOpening = true;
  });
  document.addEventListener("shown", onShown);
  onShown();
}
