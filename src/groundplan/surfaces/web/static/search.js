// Search as you type, and the palette: both are a field with a list of choices below it.
import { describeKey, press } from "./keys.js";

const PAUSE_MS = 150;
const FOUND_MAX = 12;

/** @typedef {{ label: string, note: string, run: () => void }} Choice */

/**
 * Show choices below a field while something is typed. Arrows walk through them, Enter takes one.
 * @param {HTMLInputElement} input @param {HTMLElement} list
 * @param {(text: string) => Choice[]} findHere @param {(text: string) => Promise<Choice[]>} findThere
 */
function makePicker(input, list, findHere, findThere) {
  /** @type {Choice[]} */
  let choices = [];
  let at = -1;
  let asked = 0;
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");

  function select(/** @type {number} */ next) {
    at = next;
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `${list.id}-${at}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  function draw(/** @type {Choice[]} */ next) {
    choices = next;
    list.replaceChildren(
      ...choices.map((choice, n) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${n}`;
        item.setAttribute("role", "option");
        const note = document.createElement("span");
        note.className = "quiet";
        note.textContent = choice.note;
        item.append(choice.label, note);
        item.addEventListener("click", () => take(n));
        return item;
      }),
    );
    list.hidden = !choices.length;
    input.setAttribute("aria-expanded", String(choices.length > 0));
    select(-1);
  }

  function take(/** @type {number} */ n) {
    const choice = choices[n];
    close();
    choice?.run();
  }

  function close() {
    asked += 1;
    draw([]);
  }

  async function refresh() {
    const mine = ++asked;
    const text = input.value.trim();
    const here = findHere(text);
    if (here.length || !text) draw(here);
    if (!text) return;
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (mine !== asked) return;
    const there = await findThere(text).catch(() => []);
    if (mine === asked) draw([...here, ...there]);
  }

  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  input.addEventListener("input", () => void refresh());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (choices.length) select((at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1) + choices.length) % choices.length);
    } else if (event.key === "Enter" && at >= 0) {
      event.preventDefault();
      take(at);
    } else if (event.key === "Enter") asked += 1; // the list must not open over the page that comes
    else if (event.key === "Escape" && !list.hidden && list.closest("dialog") === null) {
      event.preventDefault();
      close();
    }
  });
  return { refresh, take, close };
}

/** @param {(address: string) => Promise<void>} visit */
export function offerSearch(visit) {
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById("find"));
  const palette = /** @type {HTMLDialogElement | null} */ (document.getElementById("palette"));
  const text = /** @type {HTMLInputElement | null} */ (document.getElementById("palette-text"));
  if (!field?.form || !palette || !text) return;
  const address = field.form.action;

  /** The hits of the page of results. @param {string} words @returns {Promise<Choice[]>} */
  async function find(words) {
    const response = await fetch(`${address}?${new URLSearchParams({ text: words })}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const links = /** @type {HTMLAnchorElement[]} */ ([...page.querySelectorAll("a[data-hit]")].slice(0, FOUND_MAX));
    return links.map((link) => ({
      label: link.textContent ?? "",
      note: link.dataset.hit ?? "",
      run: () => void visit(link.href),
    }));
  }

  /** The areas and what can be done on this page. @param {string} words @returns {Choice[]} */
  function list(words) {
    const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".rail a, main [data-key], .inspector [data-key]")]);
    return links
      .filter((one) => one.offsetParent !== null && one.dataset.key !== "Escape" && one.dataset.key !== "")
      .map((one) => ({ label: describeKey(one), note: one.dataset.key ?? "", run: () => press(one) }))
      .filter((one) => one.label.toLowerCase().includes(words.toLowerCase()));
  }

  makePicker(field, /** @type {HTMLElement} */ (document.getElementById("find-picks")), () => [], find);
  const picker = makePicker(
    text,
    /** @type {HTMLElement} */ (document.getElementById("palette-picks")),
    (words) => list(words).map((one) => ({ ...one, run: () => (palette.close(), one.run()) })),
    async (words) => (await find(words)).map((one) => ({ ...one, run: () => (palette.close(), one.run()) })),
  );
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.defaultPrevented) picker.take(0);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (palette.open) return palette.close();
    if (document.querySelector("dialog[open]")) return;
    text.value = "";
    palette.showModal();
    void picker.refresh();
  });
}
