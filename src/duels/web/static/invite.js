// Whoever was invited sits down.
import { post } from "./post.js";

const form = document.getElementById("sit");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const made = await post(`/j/${form.dataset.token}`, { name: form.elements.name.value });
  if (made) location.assign(made.url);
});
