// What happens while a person types: a search runs by itself, and Ctrl Enter sends the form.

const PAUSE_MS = 200;

/** @param {(address: string) => Promise<void>} load */
export function listenToTyping(load) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  document.addEventListener("input", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || field.type !== "search" || !field.form?.hasAttribute("data-live")) return;
    const form = field.form;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!form.isConnected) return;
      const query = new URLSearchParams(/** @type {any} */ (new FormData(form)));
      void load(`${form.action}?${query}`);
    }, PAUSE_MS);
  });
  document.addEventListener("submit", () => clearTimeout(waiting));
  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !(field instanceof HTMLTextAreaElement)) return;
    event.preventDefault();
    field.form?.requestSubmit();
  });
}
