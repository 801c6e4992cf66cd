// The page of a link to one's own seat. The token is in the fragment, which browsers do not send. It is removed from
// the address at once.
import { goTo } from "./post.js";

const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const button = document.querySelector("[data-continue]");
button.hidden = document.getElementById("device-link").hidden = !token;
document.getElementById("no-device-link").hidden = Boolean(token);
button.addEventListener("click", () => goTo(button, "/device", { token }));
