// Pointer and keyboard control of a board, for any game. The drawing has cells, and targets that play actions. If a target
// has a mode, the player picks its cells one after another.
import { Idiomorph } from "./idiomorph.js";
import { isHandledElsewhere, shortcutsEnabled, motionEnabled } from "./page.js";
import { notice } from "./post.js";

const MAX_TYPING_GAP = 1_200; // milliseconds between two letters of one name
const DOUBLE_PRESS = 400; // milliseconds between two presses that count as one
const LEAP_DURATION = 250; // milliseconds
const MAX_LISTED_CELLS = 6;
const COUNTS = ["", "one", "two", "three", "four", "five", "six"];
const FIELD = "#entry input";
const PRESSABLE_AREA = "#board, #actions";
const ARROW_KEY_AREA = `${PRESSABLE_AREA}, #sentence`; // where arrow keys move the focus
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const isVeiled = () => document.documentElement.classList.contains("veiled");
const cellsOf = (target) => target.dataset.cells.split(" ");
const joinOr = (names) => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" or ");
const label = (element) => element.getAttribute("aria-label");
const namesOf = ({ dataset: { action, cells, entry, switch: mode } }) =>
  [action, cells, entry, mode].filter(Boolean).map((name) => name.toLowerCase());

export class Board {
  #boardElement;
  #around;
  #play;
  #sentence;
  #mode = "";
  #picked = [];
  #typed = "";
  #lastTypedAt = 0;
  #focusArea = ""; // the board or the field, if it has the focus or had it until its element was replaced
  #isUpdating = false;
  #lastCells = "";
  #savedHeadline = null; // the headline before cells are picked
  #lastKey = {}; // the last key and its time
  #received; // the table as the server sent it, without local changes

  // `around` contains the drawing and the buttons, which may be replaced at any time. `play` gets the notation of an
  // action. `sentence` returns the instruction to show after a click without effect.
  constructor({ around, play, sentence }) {
    this.#around = around;
    this.#boardElement = () => around.querySelector("#board");
    this.#play = play;
    this.#sentence = sentence;
    this.#received = around.querySelector("#state")?.cloneNode(true); // missing in puzzles, which have no events
    around.addEventListener("click", (event) => this.#onClick(event));
    document.addEventListener("focusin", (event) => this.#onFocusIn(event));
    around.addEventListener("focusout", (event) => this.#onFocusOut(event));
    document.addEventListener("keydown", (event) => this.#onKeyDown(event));
    this.afterDrawing();
  }

  // Parse an event and return the elements that it changes.
  read(html) {
    const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
    const table = content.querySelector("#state");
    if (table) content.replaceChildren(...this.#changedParts(table));
    for (const element of content.children) putElement(element.cloneNode(true), this.#received, (old, fresh) => old.replaceWith(fresh));
    setIds(content);
    return content;
  }

  // A stream begins with the whole table. Return only the parts that differ from the last ones received: the others keep
  // what is being picked or typed there.
  #changedParts(table) {
    const parts = [...table.querySelectorAll("[id]")].filter((each) => each.parentElement.closest("[id]") === table);
    return parts.filter((part) => !part.isEqualNode(this.#received.querySelector(`#${part.id}`)));
  }

  // Put changed elements into the page and animate moved tokens. Return whether the board was redrawn.
  show(fresh) {
    const oldPositions = positions(this.#boardElement());
    const focused = this.#around.contains(document.activeElement) ? document.activeElement : null;
    const oldFocusArea = this.#focusArea;
    this.#isUpdating = true;
    const redrawn = fresh.querySelector("#board") !== null;
    if (redrawn) this.#exitMode(); // an offer does not cancel the picking
    for (const element of [...fresh.children]) putElement(element, this.#around, morph);
    animateMoves(this.#boardElement(), oldPositions);
    if (this.#headline().dataset.turn === "over") this.#focusArea = ""; // the focused element does not come back
    this.afterDrawing();
    if ((focused || oldFocusArea) && !this.#focusArea && document.activeElement === document.body) this.#moveFocus(focused);
    this.#isUpdating = false;
    return redrawn;
  }

  // Make the targets of a new drawing reachable.
  afterDrawing() {
    setIds(this.#boardElement());
    this.#offerModes();
    this.updateVeil();
    // A button that still exists keeps the focus; otherwise the board gets it.
    if (this.#focusArea === FIELD) this.#field()?.focus({ preventScroll: true });
    else if (this.#focusArea && !document.activeElement.closest("#actions")) this.#safeFocus()?.focus({ preventScroll: true });
  }

  // The focused element is gone. Focus the element that it names, or a field with text, or the headline. Never focus a
  // move: a player who was about to press something else would play it.
  #moveFocus(gone) {
    const successor = document.getElementById(gone?.dataset.then ?? "");
    const typed = this.#field()?.value ? this.#field() : null;
    (successor ?? typed ?? this.#headline()).focus({ preventScroll: true });
  }

  // Focus the board.
  focus() {
    this.#safeFocus()?.focus();
  }

  // Mark the advised actions, and show a belief (probabilities by position) in the fog. Empty arguments remove both.
  advise(actions, belief) {
    for (const cloud of this.#boardElement().querySelectorAll(".fog")) cloud.removeAttribute("opacity");
    for (const target of this.#targets()) target.classList.toggle("hinted", actions.includes(target.dataset.action));
    const fog = Object.entries(belief).map(([name, p]) => [this.#boardElement().querySelector(`[data-cell="${name.split(" ").at(-1)}"] .fog`), p]);
    const largest = Math.max(...fog.map(([cloud, p]) => (cloud ? p : 0)), 0);
    for (const [cloud, p] of fog) if (largest) cloud?.setAttribute("opacity", 0.12 + (1.6 * p) / largest);
  }

  // Mark the action that waits for the server's answer. Without an argument, remove the mark.
  wait(action = "") {
    for (const each of [...this.#targets(), ...this.#buttons()]) each.classList.toggle("waiting", each.dataset.action === action);
  }

  // Mark the chosen and the right actions, and disable everything else.
  showResult(chosen, right) {
    this.#exitMode();
    for (const each of [...this.#targets(), ...this.#buttons()]) {
      const { action } = each.dataset;
      each.classList.toggle("chosen", action === chosen);
      each.classList.toggle("right", right.includes(action));
      if (each.matches("button")) each.disabled = true;
      else if (action === chosen || right.includes(action)) labelAsImage(each, action === chosen, right.includes(action));
      else each.remove();
    }
    for (const own of this.#boardElement().querySelectorAll(".target.chosen")) own.parentNode.append(own); // above the others
  }

  // Update labels and the Tab target after secrets were hidden or shown: neither may reveal a hidden token.
  updateVeil() {
    for (const element of this.#around.querySelectorAll("#board [data-veiled]")) {
      element.dataset.open ??= label(element);
      element.setAttribute("aria-label", isVeiled() ? element.dataset.veiled : element.dataset.open);
    }
    this.#setTabTarget();
  }

  #headline = () => this.#around.querySelector("#sentence");
  #targets = () => [...this.#boardElement().querySelectorAll(".target")];
  #field = () => this.#around.querySelector(FIELD);
  #svg = () => this.#boardElement().querySelector(".board");
  #pressable = () => this.#targets().filter((target) => !target.dataset.mode);
  #candidates = () =>
    this.#targets().filter((target) => target.dataset.mode === this.#mode && this.#picked.every((cell) => cellsOf(target).includes(cell)));
  #buttons = () => [...this.#around.querySelectorAll("#actions [data-action], #actions [data-switch]")];
  #tabTarget = () => this.#boardElement().querySelector('.target[tabindex="0"]');
  #current = () => this.#tabTarget() ?? this.#buttons()[0];
  // The element to focus automatically: never a button such as Challenge, which a double Enter would press. From the
  // headline, arrow keys lead to the buttons.
  #safeFocus = () => this.#tabTarget() ?? (this.#buttons().length ? this.#headline() : null);

  // -- modes ----------------------------------------------------------------------------------------------------

  // Keep the switches that are still needed: one of them may have the focus.
  #offerModes() {
    const modes = new Set(this.#targets().map((target) => target.dataset.mode).filter(Boolean));
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

  #enterMode(mode) {
    this.#exitMode();
    if (!mode) return;
    this.#mode = mode;
    this.#svg().dataset.mode = mode;
    this.#markCells();
    notice("");
    this.#showInstruction(this.#whatToPick());
  }

  #whatToPick = () => `Pick the first of ${COUNTS[cellsOf(this.#candidates()[0]).length]} on the board.`;

  // Show the instruction for this mode in the headline, and announce it.
  #showInstruction(what) {
    const headline = this.#headline();
    this.#savedHeadline ??= [...headline.childNodes];
    const mode = document.createElement("b");
    mode.textContent = `${this.#mode}.`;
    headline.replaceChildren(mode, ` ${what}`);
    document.getElementById("spoken").textContent = `${this.#mode}. ${what}`;
  }

  #exitMode() {
    if (this.#savedHeadline) this.#headline().replaceChildren(...this.#savedHeadline);
    this.#savedHeadline = null;
    this.#mode = "";
    this.#picked = [];
    delete this.#svg()?.dataset.mode;
    this.#markCells();
    notice("");
  }

  #pick(cell) {
    const previous = this.#picked;
    this.#picked = previous.includes(cell) ? previous.filter((each) => each !== cell) : [...previous, cell];
    const candidates = this.#candidates();
    if (!candidates.length) {
      this.#picked = previous;
      const others = [...new Set(this.#candidates().flatMap(cellsOf))].filter((each) => !previous.includes(each));
      const names = others.length > MAX_LISTED_CELLS ? "a marked cell" : joinOr(others);
      notice(`${cell} cannot be picked now. Pick ${names}.`);
      return;
    }
    const complete = candidates.find((target) => cellsOf(target).length === this.#picked.length);
    if (complete && this.#picked.length) {
      this.#exitMode();
      this.#play(complete.dataset.action);
      return;
    }
    this.#markCells();
    const pickable = [...new Set(candidates.flatMap(cellsOf))].filter((each) => !this.#picked.includes(each));
    notice("");
    this.#showInstruction(this.#picked.length ? `${this.#picked.join(", ")} picked. Now pick ${joinOr(pickable)}.` : this.#whatToPick());
  }

  // Mark the picked cells and those that can be picked.
  #markCells() {
    const pickable = new Set(this.#candidates().flatMap(cellsOf));
    for (const cell of this.#boardElement().querySelectorAll(".cell")) cell.classList.toggle("picked", this.#picked.includes(cell.dataset.cell));
    for (const target of this.#pressable()) {
      const { cells } = target.dataset;
      const dull = Boolean(this.#mode) && !pickable.has(cells);
      target.classList.toggle("dull", dull);
      target.dataset.plays ??= label(target); // its label when nothing is being picked
      const picks = dull ? `${cells} cannot be picked now` : `${this.#picked.includes(cells) ? "Put back" : "Pick"} ${cells}`;
      target.setAttribute("aria-label", this.#mode ? picks : target.dataset.plays);
    }
    for (const button of this.#around.querySelectorAll("[data-switch]")) button.setAttribute("aria-pressed", String(button.dataset.switch === this.#mode));
  }

  // -- pointer --------------------------------------------------------------------------------------------------

  #onClick(event) {
    if (event.detail > 1) return; // the second click of a double click may hit a new element
    const chosen = event.target.closest("[data-switch]");
    if (chosen) {
      this.#enterMode(this.#mode === chosen.dataset.switch ? "" : chosen.dataset.switch);
      return;
    }
    const button = event.target.closest("button[data-action]");
    const target = event.target.closest(".target");
    if (button || (target && !this.#mode)) this.#play((button || target).dataset.action);
    else if (this.#boardElement().contains(event.target)) {
      const cell = event.target.closest(".cell");
      const name = target?.dataset.cells ?? cell?.dataset.cell;
      if (this.#mode && name && !name.includes(" ")) this.#pick(name);
      else this.#explainNoEffect(cell ? `${label(cell)}.` : "");
    }
  }

  // Explain why a click has no effect.
  #explainNoEffect(where) {
    if (isVeiled()) notice("Your token is hidden. Show it first.");
    else notice(`${where} ${this.#sentence()}`.trim());
  }

  // -- keyboard -------------------------------------------------------------------------------------------------

  #onFocusIn(event) {
    const area = event.target.matches(FIELD) ? FIELD : event.target.closest(PRESSABLE_AREA) ? "#board" : "";
    if (area || !this.#isUpdating) this.#focusArea = area; // focusing the headline counts only if the script did it
    const target = event.target.closest(".target");
    if (target) {
      this.#lastCells = target.dataset.cells;
      this.#setTabTarget(target);
    }
  }

  // The focus has left the element, but not for another window and not because of an update.
  #onFocusOut(event) {
    if (!this.#isUpdating && document.activeElement !== event.target) this.#focusArea = "";
  }

  // Tab reaches one target; arrow keys reach the others (roving tabindex).
  #setTabTarget(to = null) {
    const targets = this.#pressable();
    // The last focused cell may be the position of a hidden token.
    const last = isVeiled() ? undefined : targets.find((target) => target.dataset.cells === this.#lastCells);
    const chosen = to ?? last ?? targets[0];
    for (const target of targets) target.setAttribute("tabindex", target === chosen ? "0" : "-1");
  }

  #onKeyDown(event) {
    const { key, timeStamp } = event;
    const isDoublePress = key === this.#lastKey.key && timeStamp - this.#lastKey.timeStamp < DOUBLE_PRESS;
    this.#lastKey = { key, timeStamp };
    if (isHandledElsewhere(event)) return;
    const inArrowKeyArea = event.target.closest?.(ARROW_KEY_AREA);
    const focused = event.target.closest?.(".target, [data-switch]");
    const presses = focused && (event.key === "Enter" || event.key === " ");
    if (presses && (event.repeat || isDoublePress)) event.preventDefault();
    else if (presses && focused.matches(".target")) {
      event.preventDefault();
      if (this.#mode) this.#pick(focused.dataset.cells);
      else this.#play(focused.dataset.action);
    } else if (event.key === "Escape" && this.#mode) this.#exitMode();
    else if (event.key in STEPS && (inArrowKeyArea || (shortcutsEnabled() && event.target === document.body))) this.#moveFocusByArrow(event);
    else if (shortcutsEnabled() && event.key === "/") {
      const field = this.#field();
      if (!field) return;
      event.preventDefault();
      field.closest("details").open = true;
      field.focus();
    } else if (shortcutsEnabled() && /^[a-z0-9]$/i.test(event.key) && this.#current()) this.#selectByName(event.key.toLowerCase());
  }

  #moveFocusByArrow(event) {
    const [dx, dy] = STEPS[event.key];
    const from = event.target.closest(".target, #actions > *");
    const to = from ? nearest([...this.#pressable(), ...this.#buttons()], from, dx, dy) : this.#current();
    if (from ? !to && !from.matches(".target") : !to || dy < 0) return; // let the page scroll
    event.preventDefault();
    to?.focus();
  }

  // Letters typed in quick succession select a cell, an action or a button by name. A unique prefix is enough.
  #selectByName(letter) {
    if (isVeiled() && this.#pressable().some((target) => target.matches(".secret"))) {
      this.#explainNoEffect("");
      return;
    }
    const now = performance.now();
    const before = now - this.#lastTypedAt < MAX_TYPING_GAP ? this.#typed : "";
    this.#lastTypedAt = now;
    const candidates = [...this.#pressable(), ...this.#buttons()].map((element) => [element, namesOf(element)]);
    for (const typed of [before + letter, letter]) {
      const matching = candidates.filter(([, names]) => names.some((name) => name.startsWith(typed)));
      const found = candidates.find(([, names]) => names.includes(typed)) ?? (matching.length === 1 ? matching[0] : null);
      if (matching.length) {
        this.#typed = typed;
        notice("");
        found?.[0].focus();
        return;
      }
    }
    this.#typed = "";
    notice(`No move starts with '${letter}'. ${this.#sentence()}`);
  }
}

// -- positions -------------------------------------------------------------------------------------------

function middle(target) {
  const { x, y, width, height } = (target.querySelector(".hit") ?? target).getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}

// Return the nearest target in a direction. Sideways distance counts double.
function nearest(targets, from, dx, dy) {
  const [x, y] = middle(from);
  let best = null;
  let shortest = Infinity;
  for (const target of targets) {
    const [tx, ty] = middle(target);
    const ahead = (tx - x) * dx + (ty - y) * dy;
    const aside = Math.abs((tx - x) * dy) + Math.abs((ty - y) * dx);
    if (target !== from && ahead > 4 && ahead + 2 * aside < shortest) {
      shortest = ahead + 2 * aside;
      best = target;
    }
  }
  return best;
}

// Turn a target that can no longer be pressed into an image with a label.
function labelAsImage(target, chosen, right) {
  const result = [chosen && "your answer", right ? "right" : "wrong"].filter(Boolean).join(", ");
  target.setAttribute("role", "img");
  target.removeAttribute("tabindex");
  target.setAttribute("aria-label", `${label(target)}: ${result}`);
}

// Replace the element with the same id, or append a new line to the log.
function putElement(element, table, replace) {
  const old = table.querySelector(`#${element.id}`);
  if (old) replace(old, element);
  else if (element.matches("li")) table.querySelector("#log").append(element);
}

const morph = (old, fresh) =>
  Idiomorph.morph(old, fresh, {
    ignoreActiveValue: document.activeElement.matches("input"), // keep the text in a focused field
    callbacks: {
      beforeNodeMorphed: (old) => !("own" in (old.dataset ?? {})),
      beforeAttributeUpdated: (name) => name !== "open", // the player opens and closes what is collapsed
    },
  });

// Idiomorph matches elements by id.
function setIds(root) {
  for (const element of root.querySelectorAll(".board [data-key]")) element.id = `board-${element.dataset.key}`;
}

const listTokens = (board) => [...board.querySelectorAll(".moves[data-key]")];
const position = (element) => element.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
const positions = (board) => new Map(listTokens(board).map((element) => [element.dataset.key, position(element)]));

// Animate moved tokens in an arc.
function animateMoves(board, oldPositions) {
  if (!motionEnabled()) return;
  for (const element of listTokens(board)) {
    const [x, y] = position(element);
    const [fromX, fromY] = oldPositions.get(element.dataset.key) ?? [x, y];
    if (fromX === x && fromY === y) continue;
    const height = Math.min(90, 26 + Math.hypot(x - fromX, y - fromY) * 0.28);
    const frames = [0, 0.25, 0.5, 0.75, 1].map((t) => {
      const up = 4 * t * (1 - t) * height;
      return { transform: `translate(${fromX + (x - fromX) * t}px, ${fromY + (y - fromY) * t - up}px)` };
    });
    element.animate(frames, { duration: LEAP_DURATION, easing: "ease-in-out" });
  }
}
