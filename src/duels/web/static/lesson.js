// A lesson: positions with one idea each. A right answer leads to the next one, a wrong one gets a tip.
import { Board } from "./board.js";
import { loadData } from "./storage.js";

const RADIUS = 18; // of a badge, in units of the drawing
const GAP = 10;
const puzzle = document.getElementById("puzzle");
const steps = [...document.querySelectorAll("template[data-lesson]")];
const get = (id) => document.getElementById(id);
let current = 0;

function draw() {
  delete puzzle.dataset.done;
  puzzle.className = `table seat-${steps[current].dataset.seat}`;
  puzzle.replaceChildren(steps[current].content.cloneNode(true));
  for (const [index, meaning] of [...puzzle.querySelectorAll("[data-on]")].entries()) mark(meaning.dataset.on, index + 1);
}

// Put a number on a part of the drawing, named by its key or its action.
function mark(name, number) {
  const svg = puzzle.querySelector(".board");
  const part = svg.querySelector(`[data-key="${name}"], [data-action="${name}"]`);
  const { x, y, width } = part.getBBox();
  const toBoard = svg.getScreenCTM().inverse().multiply(part.getScreenCTM());
  const [left, right] = [x - GAP, x + width + GAP].map((corner) => new DOMPoint(corner, y).matrixTransform(toBoard));
  const corner = left.x < RADIUS && width < 4 * RADIUS ? right : left; // a small part stays visible
  const badge = document.createElementNS(svg.namespaceURI, "g");
  badge.setAttribute("class", "badge");
  badge.setAttribute("aria-hidden", "true");
  badge.setAttribute("transform", `translate(${Math.max(RADIUS, corner.x)} ${Math.max(RADIUS, corner.y)})`);
  badge.innerHTML = `<circle r="${RADIUS - 1}"/><text y="8" text-anchor="middle" font-size="22">${number}</text>`;
  svg.append(badge);
}

function play(action) {
  if (puzzle.dataset.done) return;
  const { answers, retry, lesson } = steps[current].dataset;
  const isRight = answers.split("|").includes(action);
  get("graded").textContent = isRight ? lesson : retry;
  get("graded").className = `comment-box ${isRight ? "good" : "bad"}`;
  if (!isRight) return;
  puzzle.dataset.done = "yes";
  get("sentence").dataset.turn = "over";
  board.showResult(action, [action]);
  get("next").hidden = false;
  get("next").firstElementChild.focus({ preventScroll: true });
  get("next").scrollIntoView({ block: "nearest" });
  leadBack();
}

// After the lesson, go on with a match of this game that is running.
function leadBack() {
  const running = Object.entries(loadData("running")).findLast(([, title]) => title === puzzle.dataset.title);
  const link = get("next").querySelector("a");
  if (running && link) [link.href, link.textContent] = [running[0], "Back to your match"];
}

puzzle.addEventListener("click", ({ target }) => {
  if (!target.closest("#next button")) return;
  current++;
  draw();
  board.afterDrawing();
  get("sentence").focus();
});

draw();
const board = new Board({ around: puzzle, play, sentence: () => get("sentence").textContent.trim() });
