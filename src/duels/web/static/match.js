// The page of a match: it receives events and sends actions. The server renders; this script updates the page.
import { Board, isVeiled } from "./board.js";
import { showHint } from "./hint.js";
import { describePending, setTitle } from "./page.js";
import { busy, copy, notice, post, clearOutage } from "./post.js";
import { loadData, saveData } from "./storage.js";

const STREAM_TIMEOUT = 40_000; // milliseconds without an event until the stream is reopened
const EVENT_TIMEOUT = 2_500; // milliseconds until an action's event should have arrived
const RECONNECT_DELAY = 2_000; // milliseconds
const POLL_INTERVALS = [5_000, 20_000, 60_000, 300_000]; // milliseconds between polls of a hidden tab
const POLL_TIMEOUT = 10_000; // milliseconds until a poll times out
const REQUEST_EXPIRED = "Your takeback request has expired.";
const PRESENCES = { here: "online", away: "away" };
const AUTOMATIC_LINES = 2; // of the log: both players of leap enter by themselves
const GONE = [404, 410]; // the match was deleted or cannot be read
const TRIES = 8; // a browser may hold six dead connections

const matchElement = document.getElementById("match");
const spoken = document.getElementById("spoken");
const hint = () => document.getElementById("hint");
const address = `/m/${matchElement.dataset.match}`;
let entered = [];
let stream = null;
let watchdog = 0;
let pollTimer = 0;
let closeCount = 0; // how often the stream or the polling was stopped; responses to earlier polls are ignored
let wantsRematch = false;
let presence = ""; // whether the other player is here
let requestCount = 0; // number of requests so far

const state = () => document.getElementById("state");
const lastEvent = () => Number(state().dataset.event);
const headline = () => document.getElementById("sentence");
const turn = () => headline().dataset.turn;
// The data for the page's title, in the form in which hidden tabs get it from the server.
const pendingDecision = () => ({ turn: turn(), offer: matchElement.querySelector("[data-offer][data-answer=yes]")?.dataset.offer });
const isSeated = matchElement.className.startsWith("seat-");
const sentence = () => headline().textContent.trim();
const offerText = () => matchElement.querySelector("#offer p, #refused")?.textContent.trim() ?? "";
const lines = () => [...document.querySelectorAll("#log li")].map((line) => ((isVeiled() && line.querySelector(".veil")) || line.firstElementChild).textContent);

const board = new Board({ around: matchElement, play: (action) => act({ action }), sentence });

// The facts whose changes are announced.
const facts = () => ({
  lines: lines().length,
  takebacks: headline().dataset.takebacks,
  offer: matchElement.querySelector("#offer, #refused")?.dataset.offerState,
  requestsTakeback: document.getElementById("withdraw-takeback") !== null,
  isOver: turn() === "over",
  isOnHeadline: document.activeElement === headline(),
});

// Offer the lesson before the player's first move in a game, once.
const lesson = document.getElementById("lesson-offer");
const offered = loadData("lessons");
lesson?.querySelector("button").addEventListener("click", () => lesson.remove());

function updateLesson() {
  if (!lesson || offered[lesson.dataset.game]) return;
  lesson.hidden = !["you", "other"].includes(turn()) || lines().length > AUTOMATIC_LINES;
  if (!lesson.hidden) saveData("lessons", { ...offered, [lesson.dataset.game]: true });
}

// -- events -------------------------------------------------------------------------------------------------------

function show(event, html) {
  const wasWaiting = turn() === "waiting";
  const fresh = board.read(html);
  state().dataset.event = event;
  if (!fresh.children.length) return; // the first event of a reopened stream
  const before = facts();
  if (board.show(fresh)) {
    clearEntry();
    hint().replaceChildren();
  }
  if (wasWaiting && turn() !== "waiting") matchElement.classList.add("joined");
  const now = facts();
  speak(before, now);
  if (now.offer !== before.offer) uncoverField();
  updateControls();
  const rematch = document.getElementById("rematch");
  if (rematch && wantsRematch) location.assign(rematch.href);
}

// Drop the answers so far and show the book's first question again.
function clearEntry() {
  entered = [];
  const prompt = matchElement.querySelector("#entry .prompt");
  if (prompt?.dataset.first) prompt.textContent = prompt.dataset.first;
}

// Announce the new lines, the offer and the headline to screen readers.
function speak(before, now) {
  const isTakenBack = now.takebacks !== before.takebacks;
  if (isTakenBack) notice("Taken back.");
  // At the end the log also gets the hidden moves, so only its last line is new.
  const firstNew = now.isOver ? Math.max(before.lines, now.lines - 1) : before.lines;
  const news = isTakenBack ? ["Taken back."] : lines().slice(firstNew);
  const ending = document.getElementById("rematch") ? "The rematch has started." : "The offer has expired.";
  if (now.offer !== before.offer && (now.offer || !news.length)) news.unshift(offerText() || ending);
  else if (before.requestsTakeback && !now.requestsTakeback && !isTakenBack && !now.isOver) notice(REQUEST_EXPIRED);
  // If the focus has moved to the headline, it is read without this.
  if (!before.isOver && before.isOnHeadline === now.isOnHeadline) news.push(headline().dataset.spoken);
  spoken.textContent = news.join(" ").trim();
}

// On a phone an offer covers the bottom of the screen: scroll the input field into view.
function uncoverField() {
  const covers = getComputedStyle(document.getElementById("offers")).position === "fixed";
  if (covers) document.querySelector("#entry-field:focus")?.scrollIntoView({ block: "nearest" });
}

// Update the parts of the page that depend on this browser.
function updateControls() {
  if (turn() === "over") {
    veil(false);
    for (const dialog of document.querySelectorAll("#resign, #stop")) dialog.close();
  }
  updateTitle(pendingDecision());
  showPresence();
  updateLesson();
  rememberRunning(isSeated && turn() !== "over");
  for (const button of matchElement.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
  const button = matchElement.querySelector("[data-veil]");
  button.hidden = !["you", "other"].includes(turn()) || !matchElement.querySelector(".board .secret");
  button.textContent = isVeiled() ? "Show my token" : "Hide my token";
  if (document.getElementById("actions").children.length) matchElement.dataset.hasButtons = ""; // keep the space of buttons and switches
  const log = document.getElementById("log");
  log.scrollTop = log.scrollHeight;
  const answers = document.querySelector("#entry .entered");
  if (answers) answers.textContent = entered.join(", ");
}

function showPresence() {
  const element = matchElement.querySelector(".presence");
  if (element) element.textContent = PRESENCES[presence] ?? "";
}

function updateTitle(pending) {
  setTitle(isSeated || pending.offer ? describePending(pending) : "", pending.offer || (isSeated && pending.turn === "you"));
}

// Remember a running match: other pages show a bar that leads back to it.
function rememberRunning(isRunning) {
  const { [address]: _, ...running } = loadData("running");
  saveData("running", isRunning ? { ...running, [address]: matchElement.dataset.title } : running);
}

// Hide the player's secrets from people nearby until the match is over. `settings.js` does the same after a reload.
function veil(on) {
  document.documentElement.classList.toggle("veiled", on);
  board.updateVeil();
  if (on) {
    hint().replaceChildren();
    board.advise([], {});
  }
  try {
    if (on) localStorage.setItem(`duels.veil ${address}`, "on");
    else localStorage.removeItem(`duels.veil ${address}`);
  } catch {
    // Without storage, the token is hidden only until a reload.
  }
}

function listen() {
  close();
  if (document.hidden) {
    pollTimer = setTimeout(poll, POLL_INTERVALS[0], 1, turn() === "over");
    return;
  }
  const opened = new EventSource(`${address}/events?after=${lastEvent()}`);
  stream = opened;
  opened.onopen = () => {
    showLost(false);
    watch(STREAM_TIMEOUT);
  };
  opened.onmessage = (message) => {
    showLost(false);
    watch(STREAM_TIMEOUT);
    show(Number(message.lastEventId), message.data);
  };
  opened.addEventListener("presence", ({ data }) => {
    watch(STREAM_TIMEOUT);
    presence = data;
    showPresence();
  });
  opened.onerror = async () => {
    showLost(true);
    if (opened.readyState !== EventSource.CLOSED) return; // the browser reconnects
    watch(RECONNECT_DELAY);
    const answer = await fetch(`${address}?only=turn`, { headers: { Accept: "application/json" } }).catch(() => null);
    if (stream !== opened || !GONE.includes(answer?.status)) return;
    close();
    showLost(false);
    notice((await answer.json()).message);
  };
  watch(EVENT_TIMEOUT); // in case the stream cannot be opened
}

// A hidden tab polls for the player's turn, takeback requests and rematch offers, and shows them in its title. Some time
// after the end it stops.
async function poll(times, wasOver) {
  const before = closeCount;
  const answer = await fetch(`${address}?only=turn`, { signal: AbortSignal.timeout?.(POLL_TIMEOUT) }).catch(() => null);
  const pending = answer?.ok ? await answer.json().catch(() => null) : null;
  if (closeCount !== before) return; // the tab became visible meanwhile
  if (pending) updateTitle(pending);
  if (GONE.includes(answer?.status)) return;
  const over = pending ? pending.turn === "over" : wasOver;
  if (over && !wasOver) times = 0;
  if (over && times >= POLL_INTERVALS.length) return;
  pollTimer = setTimeout(poll, POLL_INTERVALS[Math.min(times, POLL_INTERVALS.length - 1)], times + 1, over);
}

function close() {
  closeCount++;
  clearTimeout(watchdog);
  clearTimeout(pollTimer);
  stream?.close();
  stream = null;
}

function watch(milliseconds) {
  clearTimeout(watchdog);
  watchdog = setTimeout(listen, milliseconds);
}

function showLost(isLost) {
  document.getElementById("connection-lost").hidden = !isLost;
  if (!isLost) clearOutage();
}

// Browsers open at most six connections to a server, so hidden tabs keep none open.
document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", (event) => event.persisted && listen());
window.addEventListener("online", listen);

// -- requests ---------------------------------------------------------------------------------------------------------

// Send a request. If its event does not arrive, reopen the stream.
async function send(path, body, isCurrent) {
  const before = lastEvent();
  const refusal = isVeiled() ? "This move is not allowed. Show your token to see which moves are." : "";
  const data = await post(`${address}/${path}`, body, { tries: TRIES, isCurrent, refusal });
  setTimeout(() => lastEvent() === before && !data?.prompt && listen(), EVENT_TIMEOUT);
  return data;
}

// The last press counts: an earlier one that is still waiting is not sent again. If the earlier one did arrive, the server
// rejects the later one, since both refer to the same event. Returns a function that tells whether this press is the latest.
function startRequest(action) {
  const number = ++requestCount;
  board.wait(action);
  return () => number === requestCount;
}

async function act(move) {
  lesson?.remove();
  document.getElementById("refused")?.remove(); // the server keeps it while a secret move is unfinished
  const isCurrent = startRequest(move.action);
  const data = await send("act", { ...move, event: lastEvent() }, isCurrent);
  if (!isCurrent()) return;
  board.wait();
  if (data?.prompt) {
    entered = move.entries;
    const prompt = matchElement.querySelector("#entry .prompt");
    prompt.dataset.first ??= prompt.textContent;
    prompt.textContent = data.prompt;
  } else if (move.entries && !data) {
    entered = move.entries.slice(0, -1);
  }
  updateControls();
}

function askHint(button) {
  const position = lastEvent();
  if (isVeiled()) notice("Your token is hidden. Show it first.");
  else showHint({ button, path: `${address}/hint`, position, isCurrent: () => lastEvent() === position && !isVeiled(), board, box: hint() });
}

const offer = (kind, answer = "") => send("offer", { offer: kind, answer, event: lastEvent() }, startRequest());

async function showDevice(button) {
  const data = await busy(button, () => post(`${address}/device`, {}));
  if (!data) return;
  const dialog = document.getElementById("device");
  const code = dialog.querySelector(".qr");
  code.innerHTML = data.qr;
  code.hidden = !data.qr;
  dialog.querySelector("input").value = dialog.querySelector("[data-copy]").dataset.copy = data.link;
  document.getElementById("device-alone").hidden = !data.alone;
  dialog.querySelector("[value=remove]").hidden = !data.has_devices;
  dialog.showModal();
}

document.getElementById("device").addEventListener("submit", async (event) => {
  if (event.submitter.value && (await post(`${address}/device`, { remove: true }))) notice("Your other devices have no access any more.");
});

async function withdraw(button) {
  if (!(await busy(button, () => post(`${address}/withdraw`, {})))) return;
  rememberRunning(false);
  location.assign("/");
}

const presses = {
  device: showDevice,
  withdraw,
  resign: () => document.getElementById("resign").showModal(),
  stop: () => document.getElementById("stop").showModal(),
  offer: (button) => {
    if (button.dataset.offer === "rematch") wantsRematch = button.dataset.answer !== "no";
    return offer(button.dataset.offer, button.dataset.answer);
  },
  copy: (button) => copy(button.dataset.copy),
  watch: () => copy(location.href),
  share: (button) => navigator.share({ url: button.dataset.share }).catch(() => {}), // the player cancelled
  hint: askHint,
  veil: () => {
    veil(!isVeiled());
    notice(""); // the old notice may mention the token
    spoken.textContent = isVeiled() ? "Your token is hidden." : "Your token is shown."; // do not say where it is
    updateControls();
  },
};

document.addEventListener("click", (event) => {
  for (const [attribute, press] of Object.entries(presses)) {
    const button = event.target.closest(`[data-${attribute}]`);
    if (button) press(button);
  }
});

matchElement.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.entry;
  const entry = field.value;
  field.value = "";
  await act({ entries: [...entered, entry] });
});

// Escape clears the answers. If there are none, it moves the focus to the board.
matchElement.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Escape" || field.id !== "entry-field") return;
  if (entered.length || field.value) {
    field.value = "";
    clearEntry();
    updateControls();
    spoken.textContent = matchElement.querySelector("#entry .prompt").textContent;
  } else {
    field.blur(); // the board may have nothing to focus
    board.focus();
  }
});

// If the match ends while a dialog is open, the button that opened it is gone: focus the result.
function restoreFocus({ target: dialog }) {
  const lost = document.activeElement === document.body || dialog.contains(document.activeElement);
  if (turn() === "over" && lost) headline().focus({ preventScroll: true });
}
document.addEventListener("close", restoreFocus, true);

document.getElementById("resign").addEventListener("submit", (event) => {
  if (event.submitter.value === "resign") act({ action: "resign" });
});
document.getElementById("stop").addEventListener("submit", (event) => {
  if (event.submitter.value === "stop") offer("stop");
});

updateControls();
listen();
