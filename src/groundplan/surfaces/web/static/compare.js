// Compare: a change that has the focus is marked in the picture, and the picture scrolls to it.

/** @param {string} name */
const findDrawn = (name) => document.querySelector(`.drawn [data-card="${CSS.escape(name)}"], .drawn [data-edge="${CSS.escape(name)}"]`);

/** @param {Element} link */
function showChange(link) {
  for (const old of document.querySelectorAll(".drawn .selected, .change.selected")) old.classList.remove("selected");
  link.closest(".change")?.classList.add("selected");
  const drawn = findDrawn(link.getAttribute("data-shows") ?? "");
  drawn?.classList.add("selected");
  drawn?.scrollIntoView({ block: "nearest", inline: "center" });
}

export function followChanges() {
  document.addEventListener("focusin", (event) => {
    const link = /** @type {Element} */ (event.target).closest("a[data-shows]");
    if (!(link instanceof HTMLAnchorElement)) return;
    showChange(link);
    history.replaceState(null, "", link.href); // the address names the change, so it can be sent to others
  });
  document.querySelector(".drawn .selected")?.scrollIntoView({ block: "nearest", inline: "center" });
}
