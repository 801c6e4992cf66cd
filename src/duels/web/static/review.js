// A review: play on from a board, or hand in a record.
import { notice, post } from "./post.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-play-on]");
  if (!button) return;
  const match = document.getElementById("review").dataset.match;
  const made = await post("/matches", { match, entries: Number(button.dataset.playOn) });
  if (made) location.assign(made.url);
});

const form = document.getElementById("hand-in");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  notice("Reviewing …");
  const answer = await fetch("/review", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/html" },
    body: JSON.stringify({ record: form.elements.record.value }),
  });
  if (answer.ok) {
    notice("");
    document.getElementById("result").innerHTML = await answer.text();
  } else notice((await answer.json()).message);
});
