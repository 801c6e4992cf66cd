// A match: events come down, actions go up. The server draws; this only puts its drawing into the page.
import { Idiomorph } from "./idiomorph.js";
import { notice, post } from "./post.js";

const place = document.getElementById("match");
const address = `/m/${place.dataset.match}`;
let entered = [];
let stream = null;

const seen = () => Number(document.getElementById("state").dataset.event);

function show(html) {
  Idiomorph.morph(place, html, { morphStyle: "innerHTML", ignoreActiveValue: true });
  entered = [];
  offerToShare();
}

function listen() {
  if (stream) return;
  stream = new EventSource(`${address}/events`);
  stream.onmessage = (message) => show(JSON.parse(message.data).html);
}

function close() {
  stream?.close();
  stream = null;
}

function offerToShare() {
  for (const button of place.querySelectorAll("[data-share]")) button.hidden = !navigator.share;
}

// A browser opens six connections to a server: a tab that nobody sees needs none.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : listen()));
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", () => document.hidden || listen());

async function act(asked) {
  const data = await post(`${address}/act`, { ...asked, event: seen() });
  if (data?.prompt) {
    entered = asked.entries;
    place.querySelector("#entry .prompt").textContent = data.prompt;
  } else if (asked.entries) {
    entered = [];
  }
}

place.addEventListener("click", async (event) => {
  const on = (name) => event.target.closest(`[data-${name}]`)?.dataset;
  let data;
  if ((data = on("action"))) await act({ action: data.action });
  else if (on("resign")) {
    if (confirm("Do you want to resign?")) await act({ action: "resign" });
  } else if ((data = on("offer"))) await post(`${address}/offer`, { offer: data.offer, answer: data.answer || "" });
  else if ((data = on("copy"))) {
    await navigator.clipboard.writeText(data.copy);
    notice("Copied.");
  } else if ((data = on("share"))) await navigator.share({ url: data.share });
  else if (on("hint")) {
    const answer = await fetch(`${address}/hint`, { headers: { Accept: "application/json" } });
    const told = await answer.json();
    notice(told.text || told.message);
  }
});

place.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.entry;
  await act({ entries: [...entered, field.value] });
  field.value = "";
});

offerToShare();
if (!document.hidden) listen();
