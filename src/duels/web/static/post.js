// Requests that change something. Every refusal is shown as the server words it.

const LEAST = 8_000; // milliseconds for which a notice stays
const A_LETTER = 60;
let gone = 0;

// Say something for as long as it takes to read it; with nothing, what was said goes away.
export function notice(text) {
  document.getElementById("notice").textContent = text;
  clearTimeout(gone);
  if (text) gone = setTimeout(notice, LEAST + A_LETTER * text.length, "");
}

document.getElementById("notice").addEventListener("click", () => notice(""));

export const UNREACHABLE = "The server cannot be reached. Try again in a moment.";
const TRYING = "The server does not answer. Trying again …";

// The server is there: what said that it is not is no longer true.
export function reached() {
  if ([UNREACHABLE, TRYING].includes(document.getElementById("notice").textContent)) notice("");
}

const PATIENCE = 2_000; // milliseconds until a request that may be sent again is given up

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// The answer's data ({} where there is none), or null if it was refused, which is said then. A request that the
// server knows again if it comes twice may be sent `tries` times, for as long as it `stands`: once it does not, nothing
// more is said of it. `instead` is said where the server's own words would tell a neighbour what is hidden.
export async function post(path, body, { tries = 1, stands = () => true, instead = "" } = {}) {
  notice(""); // what was said before is of something else; what comes before the answer is news
  for (let tried = 1; stands(); tried++) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      signal: tries > 1 ? AbortSignal.timeout?.(PATIENCE) : null,
    }).catch(() => null);
    if (!stands()) break;
    if (!answer && tried < tries) {
      if (tried > 1) notice(TRYING);
      await pause(Math.min(1_000, 300 * tried));
      continue;
    }
    if (!answer) {
      notice(UNREACHABLE);
      break;
    }
    const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    const message = (answer.status === 422 && instead) || data.message;
    reached();
    if (!answer.ok) notice(message || `That did not work (${answer.status}).`);
    return answer.ok ? data : null;
  }
  return null;
}

// Copy a text, in the older way where browsers allow the newer one only over TLS: a home network has none.
export async function copy(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const copied = (await navigator.clipboard?.writeText(text).then(() => true, () => false)) || document.execCommand("copy");
  field.remove();
  if (copied) notice("Copied.");
  else show(text);
}

// Show a text selected, for its reader to copy.
function show(text) {
  const dialog = document.getElementById("uncopied");
  const field = dialog.querySelector("textarea");
  field.value = text;
  dialog.showModal();
  field.select();
}

// What a button does while it waits for the server, so that nobody wonders.
export async function busy(button, work) {
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.removeAttribute("aria-busy");
  }
}

let leaving = false;
window.addEventListener("pageshow", () => (leaving = false)); // somebody came back to the page as it was

// Ask for a match and go there. Once: a second click would be another match, and for a newcomer another cookie,
// with which the first match is somebody else's.
export async function goTo(button, path, body) {
  if (leaving) return;
  leaving = true;
  const made = await busy(button, () => post(path, body));
  if (made) location.assign(made.url);
  else leaving = false;
}
