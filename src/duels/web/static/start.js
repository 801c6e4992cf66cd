// The home page and a game's own: a click is a match.
import { post } from "./post.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-game][data-against]");
  if (!button) return;
  event.preventDefault();
  const asked = { game: button.dataset.game, against: button.dataset.against };
  const form = button.closest("form");
  if (form) {
    asked.first = form.elements.first.value;
    asked.name = form.elements.name.value;
  }
  const made = await post("/matches", asked);
  if (made) location.assign(made.url);
});
