// A match: events come down, actions go up. The server draws; this only puts its drawing into the page.
import { Board, isVeiled } from "./board.js";
import { busy, copy, notice, post, reached, UNREACHABLE } from "./post.js";
import { begin as beginReview } from "./review.js";

const SILENCE = 40_000; // milliseconds without an event, after which the stream is opened anew: it may be dead
const PATIENCE = 2_500; // milliseconds in which an event follows what was done
const AGAIN = 2_000;
const GLANCES = [5_000, 20_000, 60_000, 300_000]; // milliseconds until a tab that nobody sees looks again, ever more
const A_LOOK = 10_000; // milliseconds in which such a look is answered
const ASKED = { takeback: "Takeback asked", rematch: "Rematch offered" };
const LAPSED = "Your takeback request no longer stands.";
const TRIES = 8; // a browser may hold six connections that have died without a word

const place = document.getElementById("match");
const spoken = document.getElementById("spoken");
const hint = () => document.getElementById("hint");
const address = `/m/${place.dataset.match}`;
const name = document.title;
let entered = [];
let stream = null;
let watchdog = 0;
let glance = 0;
let closed = 0; // how often the stream or the looking was ended: an answer that comes later is for nobody
let wantsRematch = false;
let acted = 0; // how often something was asked for
let agreed = false; // to what was offered

const state = () => document.getElementById("state");
const seen = () => Number(state().dataset.event);
const turn = () => document.getElementById("sentence").dataset.turn;
// What the title tells of, as the server gives it to a tab that nobody sees; and what it then says.
const news = () => ({ turn: turn(), offer: place.querySelector("[data-offer][data-answer=yes]")?.dataset.offer });
const wants = (told) => ASKED[told.offer] ?? (told.turn === "you" ? "Your turn" : "");
const sentence = () => document.getElementById("sentence").textContent.trim();
const asked = () => place.querySelector("#offer p, #refused")?.textContent.trim() ?? "";
const asksBack = () => document.getElementById("withdraw-takeback") !== null;
const lines = () => [...document.querySelectorAll("#log li")].map((line) => ((isVeiled() && line.querySelector(".veil")) || line.firstElementChild).textContent);

const board = new Board({ around: place, play: (action) => act({ action }), sentence });

// -- down -------------------------------------------------------------------------------------------------------

function show(event, html) {
  const fresh = board.read(html);
  state().dataset.event = event;
  if (!fresh.children.length) return; // of a stream that was opened anew
  const before = lines();
  const offered = asked();
  const askedBack = asksBack();
  if (board.show(fresh)) {
    forget();
    hint().replaceChildren();
  }
  speak(before, offered, askedBack);
  if (asked() !== offered) uncover();
  dress();
  const rematch = document.getElementById("rematch");
  if (rematch && wantsRematch) location.assign(rematch.href);
}

// Drop what was entered so far at the book's questions: the first one is asked again.
function forget() {
  entered = [];
  const prompt = place.querySelector("#entry .prompt");
  if (prompt?.dataset.first) prompt.textContent = prompt.dataset.first;
}

let ended = turn() === "over" ? sentence() : ""; // the result, if it was told already

const sentences = (text) => text.match(/[^.!?]+[.!?]*/g) ?? [];
// How the log tells an end and how the headline does may differ by this alone.
const alike = (sentence) => sentence.trim().replace(/[.!]+$/, "").replace(/^You win\b/, "You won");

// What of a text was not said before.
function unsaid(text, before) {
  const said = new Set(sentences(before).map(alike));
  return sentences(text).filter((each) => !said.has(alike(each))).join("").trim();
}

// Say what is new: what happened since, what is offered, and what is asked now.
function speak(before, offered, askedBack) {
  const now = lines();
  const same = now.findIndex((line, index) => line !== before[index]);
  const shrank = now.length < before.length;
  if (shrank) notice("Taken back.");
  const since = turn() === "over" ? Math.max(same, now.length - 1) : same; // at the end all may be told anew
  const news = shrank ? ["Taken back."] : same < 0 ? [] : now.slice(since);
  const offer = asked();
  const gone = document.getElementById("rematch") ? "The rematch has begun." : agreed ? "Taken back." : "The offer stands no longer.";
  if (offer !== offered && (offer || !news.length)) news.unshift(offer || gone);
  else if (askedBack && !asksBack() && !shrank && turn() !== "over") notice(LAPSED);
  const told = news.join(" ");
  const result = turn() === "over" ? sentence() : "";
  spoken.textContent = `${told} ${result && result === ended ? "" : unsaid(sentence(), told)}`.trim();
  ended = result;
  if (offer !== offered) agreed = false;
}

// An offer lies over the end of a phone's screen: scroll what is being typed from under it.
function uncover() {
  const covers = getComputedStyle(document.getElementById("offers")).position === "fixed";
  if (covers) document.querySelector("#entry-field:focus")?.scrollIntoView({ block: "nearest" });
}

// What of the page depends on this browser.
function dress() {
  if (turn() === "over") {
    veil(false);
    document.getElementById("resign").close();
  }
  entitle(news());
  for (const button of place.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
  const button = place.querySelector("[data-veil]");
  button.hidden = turn() === "over" || !place.querySelector(".board .secret");
  button.textContent = isVeiled() ? "Show my token" : "Hide my token";
  if (document.getElementById("actions").children.length) place.dataset.acts = ""; // keep their room from now on
  const log = document.getElementById("log");
  log.scrollTop = log.scrollHeight;
  const shown = document.querySelector("#entry .entered");
  if (shown) shown.textContent = entered.join(", ");
}

function entitle(told) {
  const wanted = wants(told);
  document.title = wanted ? `${wanted} · ${name}` : name;
}

// Hide one's secrets from a neighbour until the match is over: `settings.js` does so after a reload, and in other tabs.
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
    // It is hidden until the page is loaded again.
  }
}

function listen() {
  close();
  if (document.hidden) {
    glance = setTimeout(look, GLANCES[0], 1, turn() === "over");
    return;
  }
  const opened = new EventSource(`${address}/events?after=${seen()}`);
  stream = opened;
  opened.onopen = () => {
    lost(false);
    watch(SILENCE);
  };
  opened.onmessage = (message) => {
    lost(false);
    watch(SILENCE);
    show(Number(message.lastEventId), message.data);
  };
  opened.onerror = () => {
    lost(true);
    if (opened.readyState === EventSource.CLOSED) watch(AGAIN); // else the browser tries again by itself
  };
  watch(PATIENCE); // to be opened at all: its connection may have died before
}

// A tab that nobody sees looks now and then what is asked of its visitor, on whose own turn it can be a takeback: its
// title says so. After the end it can be a rematch, which is not waited for for ever.
async function look(times, wasOver) {
  const before = closed;
  const answer = await fetch(`${address}?only=turn`, { signal: AbortSignal.timeout?.(A_LOOK) }).catch(() => null);
  const told = answer?.ok ? await answer.json().catch(() => null) : null;
  if (closed !== before) return; // somebody sees the tab, or did meanwhile: then it looks anew
  if (told) entitle(told);
  if (answer?.status === 404) return;
  const over = told ? told.turn === "over" : wasOver;
  if (over && !wasOver) times = 0;
  if (over && times >= GLANCES.length) return;
  glance = setTimeout(look, GLANCES[Math.min(times, GLANCES.length - 1)], times + 1, over);
}

function close() {
  closed++;
  clearTimeout(watchdog);
  clearTimeout(glance);
  stream?.close();
  stream = null;
}

function watch(milliseconds) {
  clearTimeout(watchdog);
  watchdog = setTimeout(listen, milliseconds);
}

function lost(is) {
  document.getElementById("lost").hidden = !is;
  if (!is) reached();
}

// A browser opens six connections to a server: a tab that nobody sees keeps none open.
document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", (event) => event.persisted && listen());
window.addEventListener("online", listen);

// -- up ---------------------------------------------------------------------------------------------------------

// Send something, and see to it that the event that follows arrives: if the stream is dead, it is opened anew.
async function send(path, body, stands) {
  const before = seen();
  const instead = isVeiled() ? "That cannot be played. Your token is hidden: show it to see what can." : "";
  const data = await post(`${address}/${path}`, body, { tries: TRIES, stands, instead });
  setTimeout(() => seen() === before && !data?.prompt && listen(), PATIENCE);
  return data;
}

// The last press counts: one that still waits for an answer is not sent again. Should it have arrived all the same, the
// server refuses the other, for both are for the same event. Gives whether this press still is the last one.
function latest(action) {
  const number = ++acted;
  board.wait(action);
  return () => number === acted;
}

async function act(asked) {
  const stands = latest(asked.action);
  const data = await send("act", { ...asked, event: seen() }, stands);
  if (!stands()) return;
  board.wait();
  if (data?.prompt) {
    entered = asked.entries;
    const prompt = place.querySelector("#entry .prompt");
    prompt.dataset.first ??= prompt.textContent;
    prompt.textContent = data.prompt;
  } else if (asked.entries && !data) {
    entered = asked.entries.slice(0, -1);
  }
  dress();
}

async function ask(button) {
  if (isVeiled()) {
    notice("Your token is hidden: show it first.");
    return;
  }
  const before = seen();
  const answer = await busy(button, () => fetch(`${address}/hint`, { headers: { Accept: "application/json" } }).catch(() => null));
  const told = answer ? await answer.json() : { message: UNREACHABLE };
  if (seen() !== before || isVeiled()) return;
  hint().textContent = told.text || told.message;
  board.advise(told.actions ?? [], told.belief ?? {});
}

async function review(button) {
  const answer = await busy(button, () => fetch(button.dataset.review, { headers: { Accept: "text/html" } }).catch(() => null));
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  const made = page.getElementById("review");
  if (made) beginReview(made);
  else notice(page.getElementById("message")?.textContent ?? UNREACHABLE);
}

const presses = {
  resign: () => document.getElementById("resign").showModal(),
  offer: (button) => {
    if (button.dataset.offer === "rematch") wantsRematch = button.dataset.answer !== "no";
    agreed = button.dataset.answer === "yes";
    return send("offer", { offer: button.dataset.offer, answer: button.dataset.answer || "", event: seen() }, latest());
  },
  copy: (button) => copy(button.dataset.copy),
  watch: () => copy(location.href),
  share: (button) => navigator.share({ url: button.dataset.share }).catch(() => {}), // they changed their mind
  hint: ask,
  review,
  veil: () => {
    veil(!isVeiled());
    notice(""); // it may have told what is hidden now, or that it was
    spoken.textContent = isVeiled() ? "Your token is hidden." : "Your token is shown."; // instead of where it went
    dress();
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

// Esc in the field drops what was entered so far; where nothing was, it leads back to the board.
place.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Escape" || field.id !== "entry-field") return;
  if (entered.length || field.value) {
    field.value = "";
    forget();
    dress();
    spoken.textContent = place.querySelector("#entry .prompt").textContent;
  } else {
    field.blur(); // the board may have nothing to lead to: what can be pressed there may be hidden
    board.focus();
  }
});

// What opened a dialog may be gone when it closes, for the match is over: the keyboard goes to the result.
function leave({ target: dialog }) {
  const lost = document.activeElement === document.body || dialog.contains(document.activeElement);
  if (turn() === "over" && lost) document.getElementById("sentence").focus({ preventScroll: true });
}
document.addEventListener("close", leave, true);

document.getElementById("resign").addEventListener("submit", (event) => {
  if (event.submitter.value === "resign") act({ action: "resign" });
});

dress();
listen();
