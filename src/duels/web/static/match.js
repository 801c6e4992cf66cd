// The page of a match: it receives events and sends actions. The server renders; this script updates the page.
import { Board, isVeiled } from "./board.js";
import { busy, copy, notice, post, reached, UNREACHABLE } from "./post.js";
import { begin as beginReview } from "./review.js";

const SILENCE = 40_000; // milliseconds without an event until the stream is reopened
const PATIENCE = 2_500; // milliseconds until an action's event should have arrived
const RECONNECT_DELAY = 2_000; // milliseconds
const POLL_INTERVALS = [5_000, 20_000, 60_000, 300_000]; // milliseconds between polls of a hidden tab
const POLL_TIMEOUT = 10_000; // milliseconds until a poll times out
const OFFERS = { takeback: "Takeback requested", rematch: "Rematch offered" };
const LAPSED = "Your takeback request has expired.";
const TRIES = 8; // a browser may hold six dead connections

const place = document.getElementById("match");
const spoken = document.getElementById("spoken");
const hint = () => document.getElementById("hint");
const address = `/m/${place.dataset.match}`;
const name = document.title;
let entered = [];
let stream = null;
let watchdog = 0;
let pollTimer = 0;
let closed = 0; // how often the stream or the polling was ended: later answers are ignored
let wantsRematch = false;
let requestCount = 0; // number of requests so far
let agreed = false; // whether the player has accepted the offer

const state = () => document.getElementById("state");
const lastEvent = () => Number(state().dataset.event);
const turn = () => document.getElementById("sentence").dataset.turn;
// The data for the page's title, in the form in which hidden tabs get it from the server.
const pendingDecision = () => ({ turn: turn(), offer: place.querySelector("[data-offer][data-answer=yes]")?.dataset.offer });
const titlePrefix = (pending) => OFFERS[pending.offer] ?? (pending.turn === "you" ? "Your turn" : "");
const sentence = () => document.getElementById("sentence").textContent.trim();
const offerText = () => place.querySelector("#offer p, #refused")?.textContent.trim() ?? "";
const hasTakebackRequest = () => document.getElementById("withdraw-takeback") !== null;
const lines = () => [...document.querySelectorAll("#log li")].map((line) => ((isVeiled() && line.querySelector(".veil")) || line.firstElementChild).textContent);

const board = new Board({ around: place, play: (action) => act({ action }), sentence });

// -- events -------------------------------------------------------------------------------------------------------

function show(event, html) {
  const fresh = board.read(html);
  state().dataset.event = event;
  if (!fresh.children.length) return; // the first event of a reopened stream
  const before = lines();
  const oldOffer = offerText();
  const hadTakebackRequest = hasTakebackRequest();
  if (board.show(fresh)) {
    clearEntry();
    hint().replaceChildren();
  }
  speak(before, oldOffer, hadTakebackRequest);
  if (offerText() !== oldOffer) uncoverField();
  updateControls();
  const rematch = document.getElementById("rematch");
  if (rematch && wantsRematch) location.assign(rematch.href);
}

// Drop the answers so far and show the book's first question again.
function clearEntry() {
  entered = [];
  const prompt = place.querySelector("#entry .prompt");
  if (prompt?.dataset.first) prompt.textContent = prompt.dataset.first;
}

let ended = turn() === "over" ? sentence() : ""; // the result that was announced

const splitSentences = (text) => text.match(/[^.!?]+[.!?]*/g) ?? [];
// The log and the headline may state the result with these differences.
const normalize = (sentence) => sentence.trim().replace(/[.!]+$/, "").replace(/^You win\b/, "You won");

// Return the sentences of a text that `before` does not contain, so that none is announced twice.
function unsaid(text, before) {
  const said = new Set(splitSentences(before).map(normalize));
  return splitSentences(text).filter((each) => !said.has(normalize(each))).join("").trim();
}

// Announce the new lines, the offer and the headline to screen readers.
function speak(before, oldOffer, hadTakebackRequest) {
  const now = lines();
  const same = now.findIndex((line, index) => line !== before[index]);
  const shrank = now.length < before.length;
  if (shrank) notice("Taken back.");
  const since = turn() === "over" ? Math.max(same, now.length - 1) : same; // at the end all lines may have changed
  const news = shrank ? ["Taken back."] : same < 0 ? [] : now.slice(since);
  const offer = offerText();
  const ending = document.getElementById("rematch") ? "The rematch has started." : agreed ? "Taken back." : "The offer has expired.";
  if (offer !== oldOffer && (offer || !news.length)) news.unshift(offer || ending);
  else if (hadTakebackRequest && !hasTakebackRequest() && !shrank && turn() !== "over") notice(LAPSED);
  const announcement = news.join(" ");
  const result = turn() === "over" ? sentence() : "";
  spoken.textContent = `${announcement} ${result && result === ended ? "" : unsaid(sentence(), announcement)}`.trim();
  ended = result;
  if (offer !== oldOffer) agreed = false;
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
    document.getElementById("resign").close();
  }
  setTitle(pendingDecision());
  for (const button of place.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
  const button = place.querySelector("[data-veil]");
  button.hidden = turn() === "over" || !place.querySelector(".board .secret");
  button.textContent = isVeiled() ? "Show my token" : "Hide my token";
  if (document.getElementById("actions").children.length) place.dataset.acts = ""; // reserve their space from now on
  const log = document.getElementById("log");
  log.scrollTop = log.scrollHeight;
  const answers = document.querySelector("#entry .entered");
  if (answers) answers.textContent = entered.join(", ");
}

function setTitle(pending) {
  const prefix = titlePrefix(pending);
  document.title = prefix ? `${prefix} · ${name}` : name;
}

// Hide the player's secrets from people nearby until the match is over. `settings.js` does the same after a reload.
function veil(on) {
  document.documentElement.classList.toggle("veiled", on);
  board.veiled();
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
    watch(SILENCE);
  };
  opened.onmessage = (message) => {
    showLost(false);
    watch(SILENCE);
    show(Number(message.lastEventId), message.data);
  };
  opened.onerror = () => {
    showLost(true);
    if (opened.readyState === EventSource.CLOSED) watch(RECONNECT_DELAY); // otherwise the browser reconnects
  };
  watch(PATIENCE); // in case the stream cannot be opened
}

// A hidden tab polls for the player's turn, takeback requests and rematch offers, and shows them in its title. Some time
// after the end it stops.
async function poll(times, wasOver) {
  const before = closed;
  const answer = await fetch(`${address}?only=turn`, { signal: AbortSignal.timeout?.(POLL_TIMEOUT) }).catch(() => null);
  const pending = answer?.ok ? await answer.json().catch(() => null) : null;
  if (closed !== before) return; // the tab became visible meanwhile
  if (pending) setTitle(pending);
  if (answer?.status === 404) return;
  const over = pending ? pending.turn === "over" : wasOver;
  if (over && !wasOver) times = 0;
  if (over && times >= POLL_INTERVALS.length) return;
  pollTimer = setTimeout(poll, POLL_INTERVALS[Math.min(times, POLL_INTERVALS.length - 1)], times + 1, over);
}

function close() {
  closed++;
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
  document.getElementById("lost").hidden = !isLost;
  if (!isLost) reached();
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
  const instead = isVeiled() ? "This move is not allowed. Show your token to see which moves are." : "";
  const data = await post(`${address}/${path}`, body, { tries: TRIES, isCurrent, instead });
  setTimeout(() => lastEvent() === before && !data?.prompt && listen(), PATIENCE);
  return data;
}

// The last press counts: an earlier one that is still waiting is not sent again. If the earlier one did arrive, the server
// rejects the later one, since both refer to the same event. Returns a function that tells if this is still the last press.
function startRequest(action) {
  const number = ++requestCount;
  board.wait(action);
  return () => number === requestCount;
}

async function act(move) {
  const isCurrent = startRequest(move.action);
  const data = await send("act", { ...move, event: lastEvent() }, isCurrent);
  if (!isCurrent()) return;
  board.wait();
  if (data?.prompt) {
    entered = move.entries;
    const prompt = place.querySelector("#entry .prompt");
    prompt.dataset.first ??= prompt.textContent;
    prompt.textContent = data.prompt;
  } else if (move.entries && !data) {
    entered = move.entries.slice(0, -1);
  }
  updateControls();
}

async function showHint(button) {
  if (isVeiled()) {
    notice("Your token is hidden. Show it first.");
    return;
  }
  const before = lastEvent();
  const answer = await busy(button, () => fetch(`${address}/hint`, { headers: { Accept: "application/json" } }).catch(() => null));
  const advice = answer ? await answer.json() : { message: UNREACHABLE };
  if (lastEvent() !== before || isVeiled()) return;
  hint().textContent = advice.text || advice.message;
  board.advise(advice.actions ?? [], advice.belief ?? {});
}

async function showReview(button) {
  const answer = await busy(button, () => fetch(button.dataset.review, { headers: { Accept: "text/html" } }).catch(() => null));
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  const review = page.getElementById("review");
  if (review) beginReview(review);
  else notice(page.getElementById("message")?.textContent ?? UNREACHABLE);
}

const presses = {
  resign: () => document.getElementById("resign").showModal(),
  offer: (button) => {
    if (button.dataset.offer === "rematch") wantsRematch = button.dataset.answer !== "no";
    agreed = button.dataset.answer === "yes";
    return send("offer", { offer: button.dataset.offer, answer: button.dataset.answer || "", event: lastEvent() }, startRequest());
  },
  copy: (button) => copy(button.dataset.copy),
  watch: () => copy(location.href),
  share: (button) => navigator.share({ url: button.dataset.share }).catch(() => {}), // the player cancelled
  hint: showHint,
  review: showReview,
  veil: () => {
    veil(!isVeiled());
    notice(""); // the old notice may mention the token
    spoken.textContent = isVeiled() ? "Your token is hidden." : "Your token is shown."; // and not its position
    updateControls();
  },
};

place.addEventListener("click", (event) => {
  for (const [what, press] of Object.entries(presses)) {
    const button = event.target.closest(`[data-${what}]`);
    if (button) press(button);
  }
});

place.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.entry;
  const entry = field.value;
  field.value = "";
  await act({ entries: [...entered, entry] });
});

// Escape clears the answers. If there are none, it moves the focus to the board.
place.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Escape" || field.id !== "entry-field") return;
  if (entered.length || field.value) {
    field.value = "";
    clearEntry();
    updateControls();
    spoken.textContent = place.querySelector("#entry .prompt").textContent;
  } else {
    field.blur(); // the board may have nothing to focus
    board.focus();
  }
});

// If the match ends while a dialog is open, the button that opened it is gone: focus the result.
function restoreFocus({ target: dialog }) {
  const lost = document.activeElement === document.body || dialog.contains(document.activeElement);
  if (turn() === "over" && lost) document.getElementById("sentence").focus({ preventScroll: true });
}
document.addEventListener("close", restoreFocus, true);

document.getElementById("resign").addEventListener("submit", (event) => {
  if (event.submitter.value === "resign") act({ action: "resign" });
});

updateControls();
listen();
