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

// How long ago, on one day; before that the day. The server does not know what time it is where its visitors are.
function since(date) {
  const minutes = Math.floor((Date.now() - date) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString([], { day: "numeric", month: "short", year });
}

for (const time of document.querySelectorAll("time")) {
  const date = new Date(time.dateTime);
  time.textContent = since(date);
  time.title = date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

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
