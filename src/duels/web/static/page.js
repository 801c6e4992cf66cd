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
const HIDDEN_POLL_INTERVAL = 60_000;
const bar = document.getElementById("running");
const pageTitle = document.title;
const icon = document.querySelector("link[rel=icon]");
const pageIcon = icon.getAttribute("href");
const reviewed = document.querySelector("#review[data-match]")?.dataset.match; // its players may offer a rematch
const firstTurns = {}; // of each match; where a page shows matches itself, the bar shows only a change
let timer = 0;

// What a match waits for, in two words; empty if it is over.
export const describePending = ({ turn, offer }) => OFFERS[offer] ?? TURNS[turn] ?? "";

// Show news in the tab's title, and a sign in its icon if the reader has to act.
export function setTitle(news, isUrgent) {
  document.title = news ? `${news} · ${pageTitle}` : pageTitle;
  const href = isUrgent ? icon.dataset.turn : pageIcon;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

// Describe what a match waits for, with the other player's name.
function formatNews({ turn, offer, against }, hasJoined) {
  const news = describePending({ turn, offer }) || "Back to your match";
  if (hasJoined) return `${against[0].toUpperCase()}${against.slice(1)} has joined. ${news}`;
  return offer || turn === "waiting" || !against ? news : `${news} against ${against}`;
}

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
  const hasJoined = firstTurns[path] === "waiting" && ["you", "other"].includes(turn);
  const news = reviewed ? describePending(pending) : formatNews(pending, hasJoined);
  const isShownHere = document.querySelector(`#match, .match-list a[href="${path}"]`) !== null;
  const isUrgent = Boolean(offer) || hasJoined || turn === "you";
  const link = bar.querySelector("a");
  link.href = path;
  link.textContent = reviewed ? news : `${news}: ${running[path]}`;
  bar.classList.toggle("yours", isUrgent);
  bar.hidden = reviewed ? !offer : isShownHere && !offer && firstTurns[path] === turn;
  if (!document.getElementById("match")) setTitle(isUrgent && !bar.hidden ? news : "", isUrgent && !bar.hidden);
  timer = setTimeout(showRunning, document.hidden ? HIDDEN_POLL_INTERVAL : POLL_INTERVAL);
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
