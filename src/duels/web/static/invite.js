// Whoever was invited sits down.
import { keep, kept } from "./kept.js";
import { busy, post } from "./post.js";

const form = document.getElementById("sit");
if (form) form.elements.name.value = kept("name");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = form.elements.name.value;
  keep("name", name);
  const made = await busy(event.submitter, () => post(`/j/${form.dataset.token}`, { name }));
  if (made) location.assign(made.url);
});
