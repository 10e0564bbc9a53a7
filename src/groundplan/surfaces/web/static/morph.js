// Change one tree of elements into another, so that focus, selection, scroll and half-typed text stay.

/** The name by which an element is found again. @param {Node} node */
const keyOf = (node) => (node instanceof Element ? node.getAttribute("data-id") || node.id || "" : "");

/** @param {Node} a @param {Node} b */
const isSameKind = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/**
 * Make `old` equal to `fresh`. A form for which `isKept` is true stays as it is, with what was typed.
 * @param {Element} old @param {Element} fresh @param {(element: Element) => boolean} isKept
 */
export function morph(old, fresh, isKept) {
  if (fresh.hasAttribute("data-same")) return;
  if (fresh.hasAttribute("data-patch")) {
    for (const part of fresh.children) {
      const known = old.querySelector(`:scope > [data-id="${CSS.escape(keyOf(part))}"]`);
      if (known) morph(known, part, isKept);
    }
    return;
  }
  if (old.hasAttribute("data-keep") || (old instanceof SVGElement && old.isEqualNode(fresh))) return;
  if (old instanceof HTMLFormElement && isKept(old)) {
    // Its hidden fields may be behind, such as the revision that it was read at: then the server says what changed.
    return;
  }
  const isHidden = old.hasAttribute("hidden");
  copyAttributes(old, fresh);
  // A form that stays is not hidden with the box around it: a refusal would vanish with the next change of others.
  if (!isHidden && fresh.hasAttribute("hidden") && [...old.querySelectorAll("form")].some(isKept)) {
    old.removeAttribute("hidden");
  }
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement && old !== document.activeElement) {
    old.value = fresh.value;
  }
  if (old instanceof HTMLTextAreaElement && fresh instanceof HTMLTextAreaElement) {
    if (old !== document.activeElement || old.value === old.defaultValue) old.value = fresh.value;
    old.defaultValue = fresh.defaultValue;
    return;
  }
  morphChildren(old, fresh, isKept);
  // The choice of a person is not in an attribute, so that the children alone do not change it.
  if (old instanceof HTMLSelectElement && fresh instanceof HTMLSelectElement && old !== document.activeElement) {
    old.value = fresh.value;
  }
}

/** @param {Element} old @param {Element} fresh */
function copyAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    // What a person opened stays open.
    if (!fresh.hasAttribute(name) && !(name === "open" && old instanceof HTMLDetailsElement)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

/** @param {Element} child */
const nameOf = (child) => `${child.nodeName} ${keyOf(child)}`;

/** Remove an element, unless it stays whatever comes. @param {Node} gone @param {(element: Element) => boolean} isKept */
function remove(gone, isKept) {
  const isShownOnce = gone instanceof Element && gone.hasAttribute("data-once") && isKept(gone);
  if (!isShownOnce && !(gone instanceof Element && gone.hasAttribute("data-keep"))) gone.parentNode?.removeChild(gone);
}

/** @param {Element} old @param {Element} fresh @param {(element: Element) => boolean} isKept */
function morphChildren(old, fresh, isKept) {
  const byKey = new Map([...old.children].filter(keyOf).map((child) => [nameOf(child), child]));
  const wanted = new Set([...fresh.children].filter(keyOf).map(nameOf));
  /** @type {Node | null} */
  let at = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const key = keyOf(next);
    const known = key ? byKey.get(nameOf(/** @type {Element} */ (next))) : undefined;
    if (known) {
      // What is gone is removed before what stays behind it would be moved: an element that moves loses the focus.
      while (at && at !== known && (!(at instanceof Element) || (keyOf(at) && !wanted.has(nameOf(at))))) {
        const gone = at;
        at = at.nextSibling;
        remove(gone, isKept);
      }
      if (known === at) at = at.nextSibling;
      else old.insertBefore(known, at);
      morph(known, /** @type {Element} */ (next), isKept);
    } else if (at && !key && isSameKind(at, next)) {
      const current = at;
      at = at.nextSibling;
      if (current instanceof Element) morph(current, /** @type {Element} */ (next), isKept);
      else if (current.nodeValue !== next.nodeValue) current.nodeValue = next.nodeValue;
    } else {
      const added = document.importNode(next, true);
      old.insertBefore(added, at);
      if (key && added instanceof Element && old.isConnected) added.classList.add("flash");
    }
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    remove(gone, isKept);
  }
}
