// A board by pointer and keyboard. It knows no game: the drawing says where its cells are, and which target
// plays what. A target with a mode is reached by picking its cells one after another.
import { Idiomorph } from "./idiomorph.js";
import { isTaken, keysWanted, motionWanted } from "./page.js";
import { notice } from "./post.js";

const LONGEST = 1_200; // milliseconds between two letters of one name
const DOUBLE = 400; // milliseconds between two presses that are meant as one
const LEAP = 250;
const MOST_NAMED = 6;
const COUNTS = ["", "one", "two", "three", "four", "five", "six"];
const FIELD = "#entry input";
const PRESSED = "#board, #actions";
const WITHIN = `${PRESSED}, #sentence`; // where the arrows lead from one thing to press to another
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const isVeiled = () => document.documentElement.classList.contains("veiled");
const named = (target) => target.dataset.cells.split(" ");
const either = (names) => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" or ");
const label = (element) => element.getAttribute("aria-label");
const called = ({ dataset: { action, cells, entry, switch: mode } }) =>
  [action, cells, entry, mode].filter(Boolean).map((name) => name.toLowerCase());

export class Board {
  #place;
  #around;
  #play;
  #sentence;
  #mode = "";
  #picked = [];
  #typed = "";
  #last = 0;
  #held = ""; // where the keyboard is, or was until its place went away: the board or the field, if anywhere here
  #filling = false;
  #at = "";
  #asked = null; // the headline as it was before cells are picked
  #pressed = {}; // the last key, and when
  #came; // the table as the page and its events brought it, without what is done to it here

  // `place` holds the drawing, `around` the buttons too; both may be filled anew at any time. `play` is given the
  // notation of an action, and `sentence` says what is asked, for clicks that can do nothing.
  constructor({ around, play, sentence }) {
    this.#around = around;
    this.#place = () => around.querySelector("#board");
    this.#play = play;
    this.#sentence = sentence;
    this.#came = around.querySelector("#state")?.cloneNode(true); // a puzzle has no events
    around.addEventListener("click", (event) => this.#click(event));
    document.addEventListener("focusin", (event) => this.#focused(event));
    around.addEventListener("focusout", (event) => this.#left(event));
    document.addEventListener("keydown", (event) => this.#key(event));
    this.drawn();
  }

  // The elements that an event changes.
  read(html) {
    const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
    const table = content.querySelector("#state");
    if (table) content.replaceChildren(...this.#changed(table));
    for (const element of content.children) put(element.cloneNode(true), this.#came, (old, fresh) => old.replaceWith(fresh));
    keyed(content);
    return content;
  }

  // Of the whole table, which a stream begins with, the parts that are not as they came last: the others stay, and with
  // them what is being picked or typed there.
  #changed(table) {
    const parts = [...table.querySelectorAll("[id]")].filter((each) => each.parentElement.closest("[id]") === table);
    return parts.filter((part) => !part.isEqualNode(this.#came.querySelector(`#${part.id}`)));
  }

  // Put elements that changed into the page; what stays the same thing moves. Returns whether the board was drawn anew.
  show(fresh) {
    const places = positions(this.#place());
    const focused = this.#around.contains(document.activeElement) ? document.activeElement : null;
    const held = this.#held;
    this.#filling = true;
    const redrawn = fresh.querySelector("#board") !== null;
    if (redrawn) this.#leave(); // an offer leaves alone what is being picked
    for (const element of [...fresh.children]) put(element, this.#around, morph);
    leap(this.#place(), places);
    if (this.#headline().dataset.turn === "over") this.#held = ""; // what had the keyboard does not come back
    this.drawn();
    if ((focused || held) && !this.#held && document.activeElement === document.body) this.#land(focused);
    this.#filling = false;
    return redrawn;
  }

  // The page was filled: make its targets reachable.
  drawn() {
    keyed(this.#place());
    this.#offerModes();
    this.veiled();
    // A button that is still there keeps the keyboard; one that is gone leaves it to the board.
    if (this.#held === FIELD) this.#field()?.focus({ preventScroll: true });
    else if (this.#held && !document.activeElement.closest("#actions")) this.#harmless()?.focus({ preventScroll: true });
  }

  // What the keyboard was on is gone: it goes where that names, to an entry that is half typed, or to what is asked. It
  // never goes to a move: whoever was about to press something else would play it.
  #land(gone) {
    const then = document.getElementById(gone?.dataset.then ?? "");
    const typed = this.#field()?.value ? this.#field() : null;
    (then ?? typed ?? this.#headline()).focus({ preventScroll: true });
  }

  // Lead the keyboard to the board.
  focus() {
    this.#harmless()?.focus();
  }

  // Show which actions were advised, and in the fog what can be known ("position 3": a probability); with nothing,
  // the board is as it was drawn.
  advise(actions, belief) {
    for (const cloud of this.#place().querySelectorAll(".fog")) cloud.removeAttribute("opacity");
    for (const target of this.#all()) target.classList.toggle("hinted", actions.includes(target.dataset.action));
    const fog = Object.entries(belief).map(([name, p]) => [this.#place().querySelector(`[data-cell="${name.split(" ").at(-1)}"] .fog`), p]);
    const most = Math.max(...fog.map(([cloud, p]) => (cloud ? p : 0)), 0);
    for (const [cloud, p] of fog) if (most) cloud?.setAttribute("opacity", 0.12 + (1.6 * p) / most);
  }

  // Mark the action that was pressed and is not answered yet; with nothing, none.
  wait(action = "") {
    for (const each of [...this.#all(), ...this.#buttons()]) each.classList.toggle("waiting", each.dataset.action === action);
  }

  // The decision was made: what was chosen and what is right stay marked, and nothing can be pressed any more.
  settle(chosen, right) {
    this.#leave();
    for (const each of [...this.#all(), ...this.#buttons()]) {
      const { action } = each.dataset;
      each.classList.toggle("chosen", action === chosen);
      each.classList.toggle("right", right.includes(action));
      if (each.matches("button")) each.disabled = true;
      else if (action === chosen || right.includes(action)) mention(each, action === chosen, right.includes(action));
      else each.remove();
    }
    for (const own of this.#place().querySelectorAll(".target.chosen")) own.parentNode.append(own); // above the others
  }

  // What is hidden has changed: Tab leads to a target that tells nothing of it, and nothing is named after it.
  veiled() {
    for (const element of this.#around.querySelectorAll("#board [data-veiled]")) {
      element.dataset.open ??= label(element);
      element.setAttribute("aria-label", isVeiled() ? element.dataset.veiled : element.dataset.open);
    }
    this.#rove();
  }

  #headline = () => this.#around.querySelector("#sentence");
  #all = () => [...this.#place().querySelectorAll(".target")];
  #field = () => this.#around.querySelector(FIELD);
  #svg = () => this.#place().querySelector(".board");
  #pressable = () => this.#all().filter((target) => !target.dataset.mode);
  #candidates = () =>
    this.#all().filter((target) => target.dataset.mode === this.#mode && this.#picked.every((cell) => named(target).includes(cell)));
  #buttons = () => [...this.#around.querySelectorAll("#actions [data-action], #actions [data-switch]")];
  #target = () => this.#place().querySelector('.target[tabindex="0"]');
  #current = () => this.#target() ?? this.#buttons()[0];
  // Where the keyboard goes unasked: never to a button such as Challenge, which an Enter pressed twice would press. The
  // headline asks what it answers, and the arrows lead on to it.
  #harmless = () => this.#target() ?? (this.#buttons().length ? this.#headline() : null);

  // -- modes ----------------------------------------------------------------------------------------------------

  // Switches that are still wanted stay as they are: one of them may have the keyboard.
  #offerModes() {
    const modes = new Set(this.#all().map((target) => target.dataset.mode).filter(Boolean));
    const actions = this.#around.querySelector("#actions");
    for (const old of actions.querySelectorAll("[data-switch]")) if (!modes.delete(old.dataset.switch)) old.remove();
    for (const mode of modes) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.switch = mode;
      button.textContent = mode;
      button.setAttribute("aria-pressed", String(mode === this.#mode));
      actions.append(button);
    }
  }

  #enter(mode) {
    this.#leave();
    if (!mode) return;
    this.#mode = mode;
    this.#svg().dataset.mode = mode;
    this.#mark();
    notice("");
    this.#ask(this.#whatToPick());
  }

  #whatToPick = () => `Pick the first of ${COUNTS[named(this.#candidates()[0]).length]} on the board.`;

  // Say in the headline what is asked in this mode, and aloud.
  #ask(what) {
    const headline = this.#headline();
    this.#asked ??= [...headline.childNodes];
    const mode = document.createElement("b");
    mode.textContent = `${this.#mode}.`;
    headline.replaceChildren(mode, ` ${what}`);
    document.getElementById("spoken").textContent = `${this.#mode}. ${what}`;
  }

  #leave() {
    if (this.#asked) this.#headline().replaceChildren(...this.#asked);
    this.#asked = null;
    this.#mode = "";
    this.#picked = [];
    delete this.#svg()?.dataset.mode;
    this.#mark();
    notice("");
  }

  #pick(cell) {
    const before = this.#picked;
    this.#picked = before.includes(cell) ? before.filter((each) => each !== cell) : [...before, cell];
    const found = this.#candidates();
    if (!found.length) {
      this.#picked = before;
      const others = [...new Set(this.#candidates().flatMap(named))].filter((each) => !before.includes(each));
      const which = others.length > MOST_NAMED ? "one that is marked" : either(others);
      notice(`${cell} cannot be picked here. Pick ${which}.`);
      return;
    }
    const meant = found.find((target) => named(target).length === this.#picked.length);
    if (meant && this.#picked.length) {
      this.#leave();
      this.#play(meant.dataset.action);
      return;
    }
    this.#mark();
    const open = [...new Set(found.flatMap(named))].filter((each) => !this.#picked.includes(each));
    notice("");
    this.#ask(this.#picked.length ? `${this.#picked.join(", ")} picked. Now pick ${either(open)}.` : this.#whatToPick());
  }

  // What of the board takes part in what is being picked.
  #mark() {
    const open = new Set(this.#candidates().flatMap(named));
    for (const cell of this.#place().querySelectorAll(".cell")) cell.classList.toggle("picked", this.#picked.includes(cell.dataset.cell));
    for (const target of this.#pressable()) {
      const { cells } = target.dataset;
      const dull = Boolean(this.#mode) && !open.has(cells);
      target.classList.toggle("dull", dull);
      target.dataset.plays ??= label(target); // what it does when nothing is being picked
      const picks = dull ? `${cells} cannot be picked here` : `${this.#picked.includes(cells) ? "Put back" : "Pick"} ${cells}`;
      target.setAttribute("aria-label", this.#mode ? picks : target.dataset.plays);
    }
    for (const button of this.#around.querySelectorAll("[data-switch]")) button.setAttribute("aria-pressed", String(button.dataset.switch === this.#mode));
  }

  // -- pointer --------------------------------------------------------------------------------------------------

  #click(event) {
    if (event.detail > 1) return; // of a double click: what is there by now was not meant
    const chosen = event.target.closest("[data-switch]");
    if (chosen) {
      this.#enter(this.#mode === chosen.dataset.switch ? "" : chosen.dataset.switch);
      return;
    }
    const button = event.target.closest("button[data-action]");
    const target = event.target.closest(".target");
    if (button || (target && !this.#mode)) this.#play((button || target).dataset.action);
    else if (this.#place().contains(event.target)) {
      const cell = event.target.closest(".cell");
      const name = target?.dataset.cells ?? cell?.dataset.cell;
      if (this.#mode && name && !name.includes(" ")) this.#pick(name);
      else this.#nothing(cell ? `${label(cell)}.` : "");
    }
  }

  // A click that can do nothing says so.
  #nothing(where) {
    if (isVeiled()) notice("Your token is hidden: show it first.");
    else notice(`${where} ${this.#sentence()}`.trim());
  }

  // -- keyboard -------------------------------------------------------------------------------------------------

  #focused(event) {
    const at = event.target.matches(FIELD) ? FIELD : event.target.closest(PRESSED) ? "#board" : "";
    if (at || !this.#filling) this.#held = at; // the headline is at the board only for whoever is led to it from there
    const target = event.target.closest(".target");
    if (target) {
      this.#at = target.dataset.cells;
      this.#rove(target);
    }
  }

  // The reader goes elsewhere: not to another window, nor because the page is being filled, when the field may go
  // away while the other moves.
  #left(event) {
    if (!this.#filling && document.activeElement !== event.target) this.#held = "";
  }

  // One target can be reached with Tab; the arrows lead to the others.
  #rove(to = null) {
    const targets = this.#pressable();
    // Where somebody was may be where a hidden token is.
    const before = isVeiled() ? undefined : targets.find((target) => target.dataset.cells === this.#at);
    const first = to ?? before ?? targets[0];
    for (const target of targets) target.setAttribute("tabindex", target === first ? "0" : "-1");
  }

  #key(event) {
    const { key, timeStamp } = event;
    const again = key === this.#pressed.key && timeStamp - this.#pressed.timeStamp < DOUBLE;
    this.#pressed = { key, timeStamp };
    if (isTaken(event)) return;
    const within = event.target.closest?.(WITHIN);
    const focused = event.target.closest?.(".target, [data-switch]");
    const presses = focused && (event.key === "Enter" || event.key === " ");
    if (presses && (event.repeat || again)) event.preventDefault(); // held down since the last move, or a double press
    else if (presses && focused.matches(".target")) {
      event.preventDefault();
      if (this.#mode) this.#pick(focused.dataset.cells);
      else this.#play(focused.dataset.action);
    } else if (event.key === "Escape" && this.#mode) this.#leave();
    else if (event.key in STEPS && (within || (keysWanted() && event.target === document.body))) this.#step(event);
    else if (keysWanted() && event.key === "/") {
      const field = this.#field();
      if (field) event.preventDefault();
      field?.focus();
    } else if (keysWanted() && /^[a-z0-9]$/i.test(event.key) && this.#current()) this.#type(event.key.toLowerCase());
  }

  #step(event) {
    const [dx, dy] = STEPS[event.key];
    const from = event.target.closest(".target, #actions > *");
    const to = from ? nearest([...this.#pressable(), ...this.#buttons()], from, dx, dy) : this.#current();
    if (from ? !to && !from.matches(".target") : !to || dy < 0) return; // the page scrolls
    event.preventDefault();
    to?.focus();
  }

  // Letters that follow one another quickly are the name of a cell, of an action or of a button; the first of them
  // are enough where only one is meant.
  #type(letter) {
    if (isVeiled() && this.#pressable().some((target) => target.matches(".secret"))) {
      this.#nothing("");
      return;
    }
    const now = performance.now();
    const before = now - this.#last < LONGEST ? this.#typed : "";
    this.#last = now;
    const names = [...this.#pressable(), ...this.#buttons()].map((each) => [each, called(each)]);
    for (const typed of [before + letter, letter]) {
      const begun = names.filter(([, each]) => each.some((name) => name.startsWith(typed)));
      const found = names.find(([, each]) => each.includes(typed)) ?? (begun.length === 1 ? begun[0] : null);
      if (begun.length) {
        this.#typed = typed;
        notice("");
        found?.[0].focus();
        return;
      }
    }
    this.#typed = "";
    notice(`There is no move '${letter}' now. ${this.#sentence()}`);
  }
}

// -- where things are -------------------------------------------------------------------------------------------

function middle(target) {
  const { x, y, width, height } = (target.querySelector(".hit") ?? target).getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}

// The target that lies next in a direction: sideways counts double.
function nearest(targets, from, dx, dy) {
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const target of targets) {
    const [tx, ty] = middle(target);
    const ahead = (tx - x) * dx + (ty - y) * dy;
    const aside = Math.abs((tx - x) * dy) + Math.abs((ty - y) * dx);
    if (target !== from && ahead > 4 && ahead + 2 * aside < least) {
      least = ahead + 2 * aside;
      best = target;
    }
  }
  return best;
}

// A target that can no longer be pressed is a picture, which says what it shows.
function mention(target, chosen, right) {
  const said = [chosen && "your answer", right ? "right" : "wrong"].filter(Boolean).join(", ");
  target.setAttribute("role", "img");
  target.removeAttribute("tabindex");
  target.setAttribute("aria-label", `${label(target)}: ${said}`);
}

// Put an element in the place of the one with its id; what is new is another line of the log.
function put(element, table, replace) {
  const old = table.querySelector(`#${element.id}`);
  if (old) replace(old, element);
  else if (element.matches("li")) table.querySelector("#log").append(element);
}

const morph = (old, fresh) =>
  Idiomorph.morph(old, fresh, {
    ignoreActiveValue: document.activeElement.matches("input"), // what is being typed; a button is drawn anew
    callbacks: { beforeNodeMorphed: (old) => !("own" in (old.dataset ?? {})) },
  });

// The morphing script tells elements apart by their ids.
function keyed(root) {
  for (const element of root.querySelectorAll(".board [data-key]")) element.id = `board-${element.dataset.key}`;
}

const moving = (place) => [...place.querySelectorAll(".moves[data-key]")];
const position = (element) => element.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
const positions = (place) => new Map(moving(place).map((element) => [element.dataset.key, position(element)]));

// Tokens that moved fly there in an arc.
function leap(place, before) {
  if (!motionWanted()) return;
  for (const element of moving(place)) {
    const [x, y] = position(element);
    const [fromX, fromY] = before.get(element.dataset.key) ?? [x, y];
    if (fromX === x && fromY === y) continue;
    const height = Math.min(90, 26 + Math.hypot(x - fromX, y - fromY) * 0.28);
    const frames = [0, 0.25, 0.5, 0.75, 1].map((t) => {
      const up = 4 * t * (1 - t) * height;
      return { transform: `translate(${fromX + (x - fromX) * t}px, ${fromY + (y - fromY) * t - up}px)` };
    });
    element.animate(frames, { duration: LEAP, easing: "ease-in-out" });
  }
}
