// The home page and a game's own: a click is a match.
import { keep, kept, keptData } from "./kept.js";
import { goTo } from "./post.js";

const form = document.getElementById("start");
if (form) form.elements.name.value = kept("name");

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-game][data-against]");
  if (!button) return;
  const name = form ? form.elements.name.value : kept("name");
  if (form) keep("name", name);
  const asked = { game: button.dataset.game, against: button.dataset.against, name };
  if (form?.elements.first) asked.first = form.elements.first.value;
  goTo(button, "/matches", asked);
});
form?.addEventListener("submit", (event) => event.preventDefault());

// The server does not know where its visitors are, and what time it is there.
for (const time of document.querySelectorAll("time"))
  time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

const marks = document.getElementById("today-marks");
if (marks) {
  const answers = keptData("daily")[marks.dataset.date] ?? {}; // the server's day, as of the puzzles
  for (const mark of marks.children) {
    const right = answers[mark.dataset.game];
    if (right === undefined) continue;
    mark.className = right ? "right" : "wrong";
    mark.querySelector(".sign").textContent = right ? "✓" : "✗";
    mark.querySelector(".unseen").textContent = right ? ": right" : ": wrong";
  }
}
