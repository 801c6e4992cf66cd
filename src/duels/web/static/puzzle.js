// Puzzles: the answer is graded by the server, and remembered in this browser alone.
import { post } from "./post.js";

const kept = (name) => JSON.parse(localStorage.getItem(name) || "{}");
const keep = (name, data) => localStorage.setItem(name, JSON.stringify(data));

const puzzle = document.getElementById("puzzle");
puzzle?.addEventListener("click", async (event) => {
  const answer = event.target.closest("[data-answer]")?.dataset.answer;
  if (answer === undefined || puzzle.dataset.done) return;
  const { kind, game, date, seed, aim } = puzzle.dataset;
  const skills = kept("duels.practice");
  const asked = kind === "daily" ? { answer, date } : { answer, seed, aim, skill: skills[game] || {} };
  const graded = await post(`/${kind}/${game}`, asked);
  if (!graded) return;
  puzzle.dataset.done = "yes";
  document.getElementById("graded").textContent = graded.text;
  document.getElementById("next").hidden = false;
  if (kind === "daily") {
    const days = kept("duels.daily");
    days[date] = { ...days[date], [game]: graded.right };
    keep("duels.daily", days);
  } else {
    keep("duels.practice", { ...skills, [game]: graded.skill });
    const link = document.querySelector("#next a");
    link.search = `?aim=${graded.skill.aim.toFixed(2)}`;
  }
});

const daily = document.getElementById("daily");
if (daily) {
  const names = [...daily.querySelectorAll("[data-game]")].map((link) => link.dataset.game);
  const days = kept("duels.daily");
  const answered = {};
  for (const [date, rights] of Object.entries(days))
    answered[date] = names.filter((name) => name in rights).map((name) => rights[name]);
  const told = await post("/daily", { answered });
  if (told) document.getElementById("share").textContent = told.text;
}
