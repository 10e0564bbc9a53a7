// Move and zoom the canvas: a transform on the element around the picture, which costs no new drawing.

const SCALE_MIN = 0.01;
const SCALE_MAX = 3;
const WHOLE = 0.55; // the smallest scale at which a canvas opens with everything in sight
const READABLE = 0.75; // the scale at which it opens if it is larger than that
const FAR = 0.4; // below it texts are hidden
const TOO_FINE = 4; // how much larger than it is shown a picture may be drawn while it moves
const STEP = 1.25;
const DRAG_PX = 4;
const REST_MS = 160;
const [TITLE_MIN, TITLE_SHOWN, TITLE_MAX] = [13, 12, 26]; // of bands: in the picture, on the screen, and what fits
const CARD = /** @type {const} */ ([196, 78]);

/** @param {HTMLElement} box */
export function attachView(box) {
  const stage = () => /** @type {HTMLElement} */ (box.querySelector(".stage"));
  let scale = 1;
  let base = 1; // the scale at which the picture is drawn; the rest is the transform
  let x = 0;
  let y = 0;
  let isDue = false;
  let dragged = 0; // px of the last drag
  let isIgnored = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  /** @type {Map<number, { x: number, y: number }>} */
  const pointers = new Map();

  function apply() {
    isDue = false;
    box.classList.toggle("far", scale < FAR);
    const isMoving = box.classList.contains("moving");
    // A layer of its own is drawn at full size: a large plan, small on the screen, would take seconds for each frame.
    if (!isMoving || base > scale * TOO_FINE) base = scale < FAR ? 2 ** Math.ceil(Math.log2(scale)) : 1;
    drawAt(base);
    stage().style.transform = `translate(${x}px, ${y}px) scale(${scale / base})`;
    if (isMoving) restSoon();
    else sizeTitles();
  }

  /** @param {number} size */
  function drawAt(size) {
    const [width = 0, height = 0] = sizeOf();
    const svg = /** @type {SVGSVGElement} */ (box.querySelector("svg"));
    if (svg.style.width !== `${width * size}px`) svg.style.width = `${width * size}px`;
    if (svg.style.height !== `${height * size}px`) svg.style.height = `${height * size}px`;
  }

  /** Counted from the last frame, not from what asked for it: a slow frame is not a rest. */
  function restSoon() {
    clearTimeout(resting);
    resting = setTimeout(() => {
      box.classList.remove("moving");
      apply();
    }, REST_MS);
  }

  /** Keep the titles of bands readable, as far as they fit; at rest, because texts are laid out anew. */
  function sizeTitles() {
    const size = Math.min(TITLE_MAX, Math.max(TITLE_MIN, TITLE_SHOWN / scale));
    for (const band of box.querySelectorAll(".band")) {
      /** @type {SVGElement} */ (band).style.setProperty("--gp-band-title", `${size}px`);
    }
  }

  function applySoon() {
    box.classList.add("moving");
    clearTimeout(resting);
    if (!isDue) requestAnimationFrame(apply);
    isDue = true;
  }

  /** @param {number} factor @param {number} px @param {number} py */
  function zoomAt(factor, px, py) {
    const next = Math.min(SCALE_MAX, Math.max(SCALE_MIN, scale * factor));
    x = px - ((px - x) * next) / scale;
    y = py - ((py - y) * next) / scale;
    scale = next;
    applySoon();
  }

  function sizeOf() {
    const svg = /** @type {SVGSVGElement} */ (box.querySelector("svg"));
    return [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  }

  /** @param {{ isReadable: boolean }} options */
  function fit({ isReadable }) {
    const [width = 1, height = 1] = sizeOf();
    const whole = Math.min(1, box.clientWidth / width, box.clientHeight / height);
    scale = isReadable && whole < WHOLE ? READABLE : Math.max(SCALE_MIN, whole);
    x = Math.max(0, (box.clientWidth - width * scale) / 2);
    y = Math.max(0, (box.clientHeight - height * scale) / 2);
  }

  box.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      const { left, top } = box.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        zoomAt(Math.exp(-event.deltaY * unit * 0.01), event.clientX - left, event.clientY - top);
      } else {
        x -= (event.shiftKey ? event.deltaY : event.deltaX) * unit;
        y -= (event.shiftKey ? 0 : event.deltaY) * unit;
        applySoon();
      }
    },
    { passive: false },
  );
  box.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    dragged = 0;
    isIgnored = false;
  });
  box.addEventListener("dragstart", (event) => event.preventDefault()); // of a link
  addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const other = others[0];
    const { left, top } = box.getBoundingClientRect();
    if (other) {
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (was) zoomAt(is / was, (event.clientX + other.x) / 2 - left, (event.clientY + other.y) / 2 - top);
      dragged = DRAG_PX;
    } else {
      dragged += Math.hypot(event.clientX - before.x, event.clientY - before.y);
      if (dragged < DRAG_PX) return;
      x += event.clientX - before.x;
      y += event.clientY - before.y;
      applySoon();
    }
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => pointers.delete(/** @type {PointerEvent} */ (event).pointerId));
  }
  fit({ isReadable: true });

  return {
    box,
    apply,
    /** Show another part of the plan from its beginning. */
    open: () => fit({ isReadable: true }),
    /** Whether the click that comes now ends a drag. */
    wasDragged: () => dragged >= DRAG_PX || isIgnored,
    ignoreNextClick: () => {
      isIgnored = true;
    },
    /** @param {string} kind */
    zoom(kind) {
      if (kind === "fit") {
        fit({ isReadable: false });
        applySoon();
      } else zoomAt(kind === "in" ? STEP : 1 / STEP, box.clientWidth / 2, box.clientHeight / 2);
    },
    /** Keep a card where it was on the screen. @param {readonly [number, number]} before @param {readonly [number, number]} after */
    shift(before, after) {
      x += (before[0] - after[0]) * scale;
      y += (before[1] - after[1]) * scale;
      apply();
    },
    /** Move the canvas so far that a card is in sight. @param {number} cardX @param {number} cardY */
    reveal(cardX, cardY) {
      const space = 24;
      const left = x + cardX * scale;
      const top = y + cardY * scale;
      const right = left + CARD[0] * scale;
      const bottom = top + CARD[1] * scale;
      const dx = right > box.clientWidth - space ? box.clientWidth - space - right : left < space ? space - left : 0;
      const dy = bottom > box.clientHeight - space ? box.clientHeight - space - bottom : top < space ? space - top : 0;
      if (!dx && !dy) return;
      x += dx;
      y += dy;
      applySoon();
    },
  };
}
