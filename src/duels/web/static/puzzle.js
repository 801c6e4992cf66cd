// Puzzles: the server grades the answer, and only this browser stores it.
import { Board } from "./board.js";
import { showHint } from "./hint.js";
import { loadData, saveData } from "./storage.js";
import { copy, notice, post } from "./post.js";
import { summarize } from "./daily.js";

const ANSWERED = "You have already answered this puzzle.";

const puzzle = document.getElementById("puzzle");
let board;
if (puzzle) {
  const sentence = () => (puzzle.dataset.done ? ANSWERED : document.getElementById("sentence").textContent.trim());
  const play = (answer) => (puzzle.dataset.done ? notice(ANSWERED) : firstAnswer() ? showFirstAnswer(board) : grade(board, answer));
  board = new Board({ around: puzzle, play, sentence });
  if (firstAnswer()) showFirstAnswer(board);
}

// Return today's first answer, from this tab or another.
function firstAnswer() {
  const { kind, game, date } = puzzle.dataset;
  return kind === "daily" ? loadData("answers")[date]?.[game] : undefined;
}

function showFirstAnswer(board) {
  document.getElementById("before").hidden = false;
  grade(board, firstAnswer());
}

puzzle?.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-hint]");
  if (!button) return;
  const { game, seed, aim } = puzzle.dataset;
  const path = `/practice/${game}/hint?${new URLSearchParams({ seed, aim })}`;
  const isCurrent = () => !puzzle.dataset.asked && !puzzle.dataset.done;
  showHint({ button, path, position: seed, isCurrent, board, box: document.getElementById("hint") });
});

async function grade(board, answer) {
  if (puzzle.dataset.asked) return; // one answer at a time
  puzzle.dataset.asked = "yes";
  const { kind, game, date, seed, aim } = puzzle.dataset;
  const skills = loadData("practice");
  const fields = kind === "daily" ? { answer, date } : { answer, seed, aim, skill: skills[game] ?? {} };
  board.wait(answer);
  const graded = await post(`/${kind}/${game}`, fields);
  board.wait();
  delete puzzle.dataset.asked;
  if (!graded) return;
  puzzle.dataset.done = "yes";
  board.advise([], {});
  board.showResult(answer, graded.answers);
  const headline = document.getElementById("sentence");
  headline.dataset.turn = "over";
  const task = document.getElementById("task"); // the rest of the section has its own headings
  [task.className, task.textContent] = ["visually-hidden", "The position"];
  headline.querySelector("b").textContent = "Answered.";
  headline.lastChild.textContent = ` ${graded.right ? "Your move is right." : "The right move has a solid frame, yours a dashed one."}`;
  const explanation = document.getElementById("graded");
  explanation.textContent = graded.text;
  explanation.classList.add(graded.right ? "good" : "bad");
  const next = document.getElementById("next");
  next.hidden = false;
  if (document.activeElement !== document.body) next.querySelector("a").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  if (kind === "daily") {
    const days = loadData("daily");
    days[date] = { [game]: graded.right, ...days[date] }; // the first answer counts
    saveData("daily", days);
    saveData("answers", { [date]: { [game]: answer, ...loadData("answers")[date] } }); // only today's are needed
    const games = next.dataset.games.split(" ");
    if (games.every((each) => each in days[date])) offerSharing(games, next.dataset.most);
  } else {
    saveData("practice", { ...skills, [game]: graded.skill });
    next.querySelector("a").search = `?aim=${graded.skill.aim.toFixed(2)}`;
  }
}

const daily = document.getElementById("daily");
if (daily) {
  const results = [...daily.querySelectorAll(".result")];
  const today = loadData("daily")[daily.dataset.date] ?? {};
  for (const result of results) {
    const right = today[result.dataset.game];
    if (right === undefined) continue;
    result.textContent = right ? "✓ right" : "✗ wrong";
    result.hidden = false;
    result.closest("section").querySelector(".solve").textContent = "Look again";
  }
  offerSharing(results.map((result) => result.dataset.game), daily.dataset.most).then((summary) => {
    if (!summary) return;
    document.getElementById("share").textContent = summary.text;
    const picture = document.querySelector("[data-picture]");
    picture.href = `/picture/daily.png?result=${summary.result}`;
    picture.hidden = false;
  });
}

// Show the button that shares today's answers. Return null if nothing is answered.
async function offerSharing(games, most) {
  const summary = await summarize(games, Number(most));
  if (!summary?.result) return null;
  const button = document.querySelector("[data-share-line]");
  button.hidden = false;
  const text = `${summary.text} ${summary.link}`.trim();
  button.addEventListener("click", () => {
    if (navigator.share) navigator.share({ text }).catch(() => {}); // the player cancelled
    else copy(text);
  });
  return summary;
}
