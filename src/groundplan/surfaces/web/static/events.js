// Follow the events of the project: refresh what is shown, and say who changed how much.

const PAUSE_MS = 400; // at least: an agent that writes a hundred times causes few refreshes
const PAUSE_MS_MAX = 1000;
const MARKED_MS = 6000; // how long an item says who changed it
const ANSWER_MS_MAX = 30_000; // after which the next refresh does not wait any longer

/** The revision of the project that the page shows. */
const readRev = () => Number(document.querySelector("main")?.dataset.rev ?? 0);

/** Mark the items that others changed, with their names. @param {Map<string, string>} touched */
function markChanged(touched) {
  const marked = [...touched].flatMap(([id, actor]) => {
    const names = ["", "card-", "vertex-"].map((prefix) => `main [data-id="${CSS.escape(prefix + id)}"]`);
    const found = [...document.querySelectorAll(names.join())].filter((one) => !(one instanceof HTMLFormElement));
    for (const one of found) {
      one.classList.add("flash");
      one.setAttribute("data-changed-by", actor);
    }
    return found;
  });
  if (marked.length) setTimeout(() => marked.forEach((one) => one.removeAttribute("data-changed-by")), MARKED_MS);
}

/** @param {string} project @param {() => Promise<void>} refresh */
export function followEvents(project, refresh) {
  const state = /** @type {HTMLElement} */ (document.getElementById("live"));
  /** @type {EventSource | null} */
  let source = null;
  /** @type {Map<string, number>} */
  const changes = new Map();
  /** The items that others changed, and who. @type {Map<string, string>} */
  let touched = new Map();
  let isDue = false;
  let newest = 0; // the revision that the page must show after the next refresh
  let isRefreshing = false;
  let lastId = "";
  let tookMs = 0; // the last refresh: a server with much to do is asked less often, and so everybody waits less

  /** Refresh after a pause, and again for what came meanwhile; never twice at once, because the later answer wins.
   * @param {number} [rev] up to which the page must show the project */
  async function refreshSoon(rev = Infinity) {
    isDue = true;
    newest = Math.max(newest, rev);
    if (isRefreshing) return;
    isRefreshing = true;
    while (isDue) {
      do await new Promise((done) => setTimeout(done, Math.max(PAUSE_MS, Math.min(tookMs, PAUSE_MS_MAX))));
      while ("drawing" in document.body.dataset); // a person draws a link on what is shown
      isDue = false;
      const isShown = newest <= readRev(); // by the answer to a form of this page
      newest = 0;
      const others = touched;
      touched = new Map();
      if (isShown) {
        changes.clear();
        continue;
      }
      const said = [...changes].map(([actor, count]) => `${count} ${count === 1 ? "change" : "changes"} by ${actor}`);
      changes.clear();
      const begin = performance.now();
      try {
        await Promise.race([refresh(), new Promise((_, reject) => setTimeout(reject, ANSWER_MS_MAX))]);
        markChanged(others);
        if (said.length) state.textContent = said.slice(0, 3).join(", ");
      } catch {
        state.textContent = "The server does not answer";
      }
      tookMs = performance.now() - begin;
    }
    isRefreshing = false;
  }

  function open() {
    if (source) return;
    source = new EventSource(`/v1/projects/${encodeURIComponent(project)}/events`);
    source.addEventListener("open", () => {
      if (state.textContent) state.textContent = "Connected";
      if (lastId) void refreshSoon(); // for what was missed meanwhile
    });
    source.addEventListener("hello", (event) => {
      // What was written after this page was read and before the stream began.
      if (JSON.parse(event.data).rev > readRev()) void refreshSoon();
    });
    source.addEventListener("message", (event) => {
      lastId = event.lastEventId;
      const { actor, ids } = JSON.parse(event.data);
      if (actor !== document.body.dataset.actor) for (const id of ids) touched.set(id, actor);
      changes.set(actor, (changes.get(actor) ?? 0) + 1);
      void refreshSoon(parseInt(lastId, 10));
    });
    source.addEventListener("reset", () => void refreshSoon());
    source.addEventListener("closed", close);
    source.addEventListener("error", () => {
      state.textContent = "Reconnecting …";
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  // A browser has six connections for each host, over all tabs: a hidden tab gives its own back.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else {
      open();
      void refreshSoon();
    }
  });
  // After the first screen: the stream must not compete with what it needs.
  const start = () => document.hidden || open();
  if (document.readyState === "complete") start();
  else addEventListener("load", start, { once: true });
}
