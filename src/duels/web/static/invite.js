// The page of an invitation.
import { load, save } from "./storage.js";
import { goTo } from "./post.js";

const form = document.getElementById("sit");
if (form) form.elements.name.value = load("name");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = form.elements.name.value;
  save("name", name);
  goTo(event.submitter, `/j/${form.dataset.token}`, { name });
});
