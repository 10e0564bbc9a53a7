// The graph of dependencies is one stop of the Tab key: arrows walk along its links, Enter opens the task.

const SIDES = /** @type {const} */ ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" });

/** @param {Element} task */
function focus(task) {
  for (const other of task.closest("[data-graph]")?.querySelectorAll(".vertex[tabindex='0']") ?? []) {
    other.setAttribute("tabindex", "-1");
  }
  task.setAttribute("tabindex", "0");
  /** @type {SVGElement} */ (task).focus({ preventScroll: true });
  task.scrollIntoView({ block: "nearest", inline: "center" });
}

/** @param {(address: string) => Promise<void>} visit */
export function listenToGraph(visit) {
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.shiftKey || !(event.target instanceof Element)) return;
    const task = event.target.closest(".vertex");
    const side = SIDES[/** @type {keyof typeof SIDES} */ (event.key)];
    if (!task || !side) return;
    event.preventDefault();
    const next = (task.getAttribute(`data-${side}`) ?? "").split(" ")[0];
    const found = next && document.getElementById(`vertex-${next}`);
    if (found) focus(found);
  });
  document.addEventListener("click", (event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = /** @type {Element} */ (event.target).closest("[data-graph] a");
    if (!(link instanceof SVGAElement)) return;
    event.preventDefault();
    void visit(new URL(link.href.baseVal, location.href).href);
  });
}
