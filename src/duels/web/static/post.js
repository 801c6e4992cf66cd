// POST requests, notices and the clipboard. Errors are shown in the server's words.

const MIN_DURATION = 8_000; // milliseconds for which a notice stays
const DURATION_PER_LETTER = 60;
const box = document.getElementById("notice");
let timer = 0;
let isOutage = false; // whether the notice says that the server cannot be reached

// Show a notice for as long as it takes to read it. An empty text removes it.
export function notice(text) {
  isOutage = false;
  const around = document.querySelector("dialog[open]") ?? document.body; // a dialog's backdrop covers everything else
  if (box.parentElement !== around) around.append(box);
  box.textContent = text;
  clearTimeout(timer);
  if (text) timer = setTimeout(notice, MIN_DURATION + DURATION_PER_LETTER * text.length, "");
}

box.addEventListener("click", () => notice(""));

export const UNREACHABLE = "The server cannot be reached. Try again in a moment.";
const RETRYING = "The server does not respond. Retrying …";

// Show a notice that disappears when the server is reached.
export function noticeOutage(text) {
  notice(text);
  isOutage = true;
}

export function clearOutage() {
  if (isOutage) notice("");
}

const TIMEOUT = 2_000; // milliseconds, for requests that may be sent again

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Send a request and return the response's data ({} if empty), or null after an error, which is shown. Pass `tries` only
// for a request that the server recognizes if it comes again: it is sent up to `tries` times while `isCurrent` returns
// true. `refusal` replaces an error message that could reveal hidden information to people nearby.
export async function post(path, body, { tries = 1, isCurrent = () => true, refusal = "" } = {}) {
  notice(""); // an older notice is about something else
  for (let tried = 1; isCurrent(); tried++) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      signal: tries > 1 ? AbortSignal.timeout?.(TIMEOUT) : null,
    }).catch(() => null);
    if (!isCurrent()) break;
    if (!answer && tried < tries) {
      if (tried > 1) noticeOutage(RETRYING);
      await pause(Math.min(1_000, 300 * tried));
      continue;
    }
    if (!answer) {
      noticeOutage(UNREACHABLE);
      break;
    }
    const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    const message = (answer.status === 422 && refusal) || data.message;
    clearOutage();
    if (!answer.ok) notice(message || `The request failed with status ${answer.status}. Try again.`);
    return answer.ok ? data : null;
  }
  return null;
}

// Copy a text. Browsers allow the clipboard API only over TLS, so fall back to the older way.
export async function copy(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const copied = (await navigator.clipboard?.writeText(text).then(() => true, () => false)) || document.execCommand("copy");
  field.remove();
  if (copied) notice("Copied.");
  else showForCopying(text);
}

// Show a selected text that the user can copy.
function showForCopying(text) {
  const dialog = document.getElementById("copy-dialog");
  const field = dialog.querySelector("textarea");
  field.value = text;
  dialog.showModal();
  field.select();
}

// Mark a button as busy while `work` runs.
export async function busy(button, work) {
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.removeAttribute("aria-busy");
  }
}

let leaving = false;
window.addEventListener("pageshow", () => (leaving = false)); // restored from the back/forward cache

// Request a match and open it, only once: a second click would create another match, and for a new visitor a second
// cookie that gives no access to the first match.
export async function goTo(button, path, body) {
  if (leaving) return;
  leaving = true;
  const match = await busy(button, () => post(path, body));
  if (match) location.assign(match.url);
  else leaving = false;
}
