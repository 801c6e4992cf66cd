// Puzzles: the answer is graded by the server, and remembered in this browser alone.
import { Board } from "./board.js";
import { keepData, keptData } from "./kept.js";
import { copy, notice, post } from "./post.js";

const ANSWERED = "You have answered this one.";

const puzzle = document.getElementById("puzzle");
if (puzzle) {
  const sentence = () => (puzzle.dataset.done ? ANSWERED : document.getElementById("sentence").textContent.trim());
  const play = (answer) => (puzzle.dataset.done ? notice(ANSWERED) : first() ? look(board) : grade(board, answer));
  const board = new Board({ around: puzzle, play, sentence });
  if (first()) look(board);
}

// What was answered first today, here or in another tab.
function first() {
  const { kind, game, date } = puzzle.dataset;
  return kind === "daily" ? keptData("answers")[date]?.[game] : undefined;
}

function look(board) {
  document.getElementById("before").hidden = false;
  grade(board, first());
}

async function grade(board, answer) {
  if (puzzle.dataset.asked) return; // one answer at a time
  puzzle.dataset.asked = "yes";
  const { kind, game, date, seed, aim } = puzzle.dataset;
  const skills = keptData("practice");
  const asked = kind === "daily" ? { answer, date } : { answer, seed, aim, skill: skills[game] ?? {} };
  board.wait(answer);
  const graded = await post(`/${kind}/${game}`, asked);
  board.wait();
  delete puzzle.dataset.asked;
  if (!graded) return;
  puzzle.dataset.done = "yes";
  board.settle(answer, graded.answers);
  const headline = document.getElementById("sentence");
  headline.dataset.turn = "over";
  const task = document.getElementById("task"); // done: what is left below it has headings of its own
  [task.className, task.textContent] = ["unseen", "The position"];
  headline.querySelector("b").textContent = "Answered.";
  headline.lastChild.textContent = ` ${graded.right ? "Your move is right." : "What is right has a solid frame, yours a dashed one."}`;
  const told = document.getElementById("graded");
  told.textContent = graded.text;
  told.classList.add(graded.right ? "good" : "bad");
  const next = document.getElementById("next");
  next.hidden = false;
  if (document.activeElement !== document.body) next.querySelector("a").focus({ preventScroll: true });
  if (kind === "daily") {
    const days = keptData("daily");
    days[date] = { [game]: graded.right, ...days[date] }; // the first answer counts
    keepData("daily", days);
    keepData("answers", { [date]: { [game]: answer, ...keptData("answers")[date] } }); // today's are enough
  } else {
    keepData("practice", { ...skills, [game]: graded.skill });
    next.querySelector("a").search = `?aim=${graded.skill.aim.toFixed(2)}`;
  }
}

const daily = document.getElementById("daily");
if (daily) {
  const results = [...daily.querySelectorAll(".result")];
  const days = keptData("daily");
  const answered = {};
  const last = Object.entries(days).sort().slice(-Number(daily.dataset.most)); // dates sort as they follow one another
  for (const [date, rights] of last)
    answered[date] = results.map((each) => rights[each.dataset.game]).filter((right) => right !== undefined);
  for (const result of results) {
    const right = days[daily.dataset.date]?.[result.dataset.game];
    if (right === undefined) continue;
    result.textContent = right ? "✓ right" : "✗ wrong";
    result.hidden = false;
    result.closest("section").querySelector(".solve").textContent = "Look again";
  }
  const button = document.querySelector("[data-share-line]");
  post("/daily", { answered }).then((told) => {
    if (!told) return;
    document.getElementById("share").textContent = told.text;
    button.hidden = !Object.keys(days[daily.dataset.date] ?? {}).length;
  });
  button.addEventListener("click", () => {
    const text = document.getElementById("share").textContent;
    if (navigator.share) navigator.share({ text }).catch(() => {}); // they changed their mind
    else copy(text);
  });
}
