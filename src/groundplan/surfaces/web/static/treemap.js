// Walk in a treemap by arrows: one cell is the tab stop, and the focus goes to the nearest cell in a direction.

const DIRECTIONS = /** @type {const} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/** @param {Element} cell */
function measure(cell) {
  const { left, top, width, height } = (cell.querySelector(".ground") ?? cell).getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, width, height };
}

/** The nearest cell in a direction; what lies across it counts double. @param {Element} from @param {Element[]} cells @param {readonly [number, number]} by */
function findNext(from, cells, [dx, dy]) {
  const at = measure(from);
  let best = null;
  let least = Infinity;
  for (const cell of cells) {
    const to = measure(cell);
    const along = (to.x - at.x) * dx + (to.y - at.y) * dy;
    const across = Math.abs((to.x - at.x) * dy) + Math.abs((to.y - at.y) * dx);
    if (cell === from || along <= 1) continue;
    if (along + 2 * across < least) [best, least] = [cell, along + 2 * across];
  }
  return best;
}

/** @param {(address: string) => Promise<void>} visit */
export function listenToTreemap(visit) {
  document.addEventListener("keydown", (event) => {
    const by = DIRECTIONS[/** @type {keyof typeof DIRECTIONS} */ (event.key)];
    const cell = document.activeElement?.closest(".treemap a");
    if (!by || !cell || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = findNext(cell, [...document.querySelectorAll(".treemap a")], by);
    if (!(next instanceof SVGElement)) return;
    cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  document.addEventListener("click", (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const cell = /** @type {Element} */ (event.target).closest(".treemap a");
    if (!(cell instanceof SVGAElement)) return;
    event.preventDefault();
    void visit(new URL(cell.href.baseVal, location.href).href).then(() => {
      const first = document.querySelector('.treemap a[tabindex="0"]');
      if (first instanceof SVGElement) first.focus();
    });
  });
}
