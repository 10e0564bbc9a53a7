// Buttons that copy a text: `data-copy` names the field that holds it. Without script a person selects the text.
import { showToast } from "./words.js";

/** @param {string} id */
async function copy(id) {
  const field = document.getElementById(id);
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    showToast("Copied");
  } catch {
    showToast("The browser does not allow it. The text is selected: press Ctrl C.");
  }
}

export function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy][hidden]")) button.removeAttribute("hidden");
}

export function listenToCopies() {
  offerCopies();
  document.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest("[data-copy]");
    if (button) void copy(button.getAttribute("data-copy") ?? "");
  });
}
