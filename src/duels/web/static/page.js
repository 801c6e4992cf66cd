// On every page: the help and the reader's settings.
import { loadData, save, saveData } from "./storage.js";

const root = document.documentElement;
const help = document.getElementById("help");

export const shortcutsEnabled = () => root.dataset.keys !== "off";
export const motionEnabled = () => root.dataset.motion !== "off" && !matchMedia("(prefers-reduced-motion: reduce)").matches;

// Whether a key press belongs to a text field, a dialog or the browser.
export function isHandledElsewhere(event) {
  return (
    event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") ||
    event.target.closest?.("input:not([type=radio]), textarea, select")
  );
}

document.addEventListener("click", ({ target }) => {
  const opener = target.closest("[data-dialog]");
  if (opener) document.getElementById(opener.dataset.dialog).showModal();
  else if (target.matches("dialog.sheet")) target.close(); // a click beside the dialog
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || !shortcutsEnabled() || isHandledElsewhere(event)) return;
  event.preventDefault();
  help.showModal();
});

for (const field of help.querySelectorAll("input[type=radio]")) {
  field.checked = field.value === (root.dataset[field.name] || "");
  field.addEventListener("change", () => {
    if (field.value) root.dataset[field.name] = field.value;
    else delete root.dataset[field.name];
    save(field.name, field.value);
  });
}

// -- the running match ------------------------------------------------------------------------------------------------

const POLL_INTERVAL = 20_000; // milliseconds
const OFFERS = { takeback: "Takeback requested", rematch: "Rematch offered", stop: "Stop proposed" };
const TURNS = { you: "Your turn", other: "Their turn", waiting: "Waiting" };
const bar = document.getElementById("running");
const reviewed = document.querySelector("#review[data-match]")?.dataset.match; // its players may offer a rematch
const firstTurns = {}; // of each match; on the page of another match, only a change is shown
let timer = 0;

// What a match waits for, in two words; empty if it is over.
export const describePending = ({ turn, offer }) => OFFERS[offer] ?? TURNS[turn] ?? "";

// Show a bar that leads back to the last unfinished match that this browser has opened.
async function showRunning() {
  clearTimeout(timer);
  const running = loadData("running");
  const path = reviewed ? `/m/${reviewed}` : Object.keys(running).findLast((path) => path !== location.pathname);
  bar.hidden ||= !path;
  if (!path) return;
  const answer = await fetch(`${path}?only=turn`, { headers: { Accept: "application/json" } }).catch(() => null);
  const pending = answer?.ok ? await answer.json().catch(() => ({})) : {};
  const { turn, offer } = pending;
  if (!reviewed && (turn === "over" || [404, 410].includes(answer?.status))) return forget(path);
  firstTurns[path] ??= turn;
  const news = describePending(pending) || "Back to your match";
  const link = bar.querySelector("a");
  link.href = path;
  link.textContent = reviewed ? news : `${news}: ${running[path]}`;
  bar.hidden = reviewed ? !offer : Boolean(document.getElementById("match")) && firstTurns[path] === turn;
  if (!document.hidden) timer = setTimeout(showRunning, POLL_INTERVAL);
}

function forget(path) {
  const { [path]: _, ...running } = loadData("running");
  saveData("running", running);
  return showRunning();
}

bar.querySelector("button").addEventListener("click", () => forget(bar.querySelector("a").pathname));
document.addEventListener("visibilitychange", () => document.hidden || showRunning());
showRunning();

// Practice continues at the level that this browser stores.
document.addEventListener("click", ({ target }) => {
  const link = target.closest('a[href^="/practice/"]');
  const aim = link && !link.search && loadData("practice")[link.pathname.split("/")[2]]?.aim;
  if (Number.isFinite(aim)) link.search = `?aim=${aim.toFixed(2)}`;
});

root.dataset.ready = "";
