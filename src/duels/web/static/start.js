// The home page and the pages of games: a click creates a match.
import { formatStreak, summarize } from "./daily.js";
import { load, loadData, save } from "./storage.js";
import { goTo } from "./post.js";

const form = document.getElementById("start");
if (form) form.elements.name.value = load("name");

for (const opponent of document.querySelectorAll("[data-start] select")) {
  const last = [...opponent.options].find((option) => option.value === load("opponent"));
  if (last) last.selected = true;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-play]");
  if (!button) return;
  const start = button.closest("[data-start]");
  const name = form ? form.elements.name.value : load("name");
  if (form) save("name", name);
  const against = button.dataset.play || start.querySelector("select").value;
  if (!button.dataset.play) save("opponent", against);
  const fields = { game: start.dataset.start, against, name };
  fields.duration = form?.elements.duration?.value || "short";
  if (form?.elements.first) fields.first = form.elements.first.value;
  goTo(button, "/matches", fields);
});
form?.addEventListener("submit", (event) => event.preventDefault());

// Format a date relative to now, or as a day if it is older. The server does not know the visitor's time zone.
function formatAge(date) {
  const minutes = Math.floor((Date.now() - date) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString([], { day: "numeric", month: "short", year });
}

for (const time of document.querySelectorAll("time")) {
  const date = new Date(time.dateTime);
  time.textContent = formatAge(date);
  time.title = date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

const marks = document.getElementById("today-marks");
if (marks) {
  const games = [...marks.children].map((mark) => mark.dataset.game);
  summarize(games, Number(marks.dataset.most)).then((summary) => {
    document.getElementById("streak").textContent = formatStreak(summary?.streak);
  });
  const answers = loadData("daily")[marks.dataset.date] ?? {}; // by the server's date
  for (const mark of marks.children) {
    const right = answers[mark.dataset.game];
    if (right === undefined) continue;
    mark.className = right ? "right" : "wrong";
    mark.querySelector(".sign").textContent = right ? "✓" : "✗";
    mark.querySelector(".visually-hidden").textContent = right ? ": right" : ": wrong";
  }
}
