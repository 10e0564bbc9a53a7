// Times as people say them, and short messages.

const STEPS = /** @type {const} */ ([
  [60, "second"],
  [3600, "minute"],
  [86_400, "hour"],
  [604_800, "day"],
]);
const NEAR_DAYS = /** @type {const} */ ({ "-1": "yesterday", 1: "tomorrow" });

/** The date and time of this place. Not by Intl, here and below: to load it takes 60 ms, a fifth of the first screen.
 * @param {Date} at */
function writeDate(at) {
  const [month, day, hour, minute] = [at.getMonth() + 1, at.getDate(), at.getHours(), at.getMinutes()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${at.getFullYear()}-${month}-${day} ${hour}:${minute}`;
}

/** @param {number} seconds */
function describeDistance(seconds) {
  const size = Math.abs(seconds);
  if (size < 45) return "now";
  const step = STEPS.find(([limit]) => size < limit) ?? [0, "day"];
  const unit = { second: 1, minute: 60, hour: 3600, day: 86_400 }[step[1]];
  const count = Math.round(seconds / unit);
  if (step[1] === "day" && (count === 1 || count === -1)) return NEAR_DAYS[count];
  const words = `${Math.abs(count)} ${step[1]}${Math.abs(count) === 1 ? "" : "s"}`;
  return count < 0 ? `${words} ago` : `in ${words}`;
}

let shown = ""; // the time of the server in the page
let ahead = 0; // how far its clock is ahead of the one here, which may be wrong

/** The time of the server, in milliseconds. */
function getNow() {
  const now = document.querySelector("main")?.dataset.now ?? "";
  if (now && now !== shown) {
    shown = now;
    ahead = Date.parse(now) - Date.now();
  }
  return Date.now() + ahead;
}

/** Show times relative to now; the exact time stays in the title. */
export function describeTimes() {
  const now = getNow();
  for (const time of document.querySelectorAll("time[data-ago], time[data-until]")) {
    const at = new Date(time.getAttribute("datetime") ?? "");
    if (Number.isNaN(at.getTime())) continue;
    time.setAttribute("title", writeDate(at));
    const words = describeDistance((at.getTime() - now) / 1000);
    time.textContent = time.hasAttribute("data-until") ? `ends ${words}` : words;
  }
}

/** @param {string} text */
export function showToast(text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.append(text);
  document.getElementById("toasts")?.append(toast);
  hideSoon(toast, 4000);
  return toast;
}

/** Remove a message after a while, but not under the pointer or the focus. @param {Element} toast @param {number} ms */
export function hideSoon(toast, ms) {
  const until = Date.now() + ms;
  /** @type {any} */ (toast).until = until;
  setTimeout(() => {
    if (/** @type {any} */ (toast).until !== until) return;
    if (toast.matches(":hover, :focus-within")) hideSoon(toast, 1000);
    else toast.remove();
  }, ms);
}
