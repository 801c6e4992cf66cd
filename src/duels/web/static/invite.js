// Whoever was invited sits down.
import { keep, kept } from "./kept.js";
import { goTo } from "./post.js";

const form = document.getElementById("sit");
if (form) form.elements.name.value = kept("name");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = form.elements.name.value;
  keep("name", name);
  goTo(event.submitter, `/j/${form.dataset.token}`, { name });
});
