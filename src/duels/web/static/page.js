// What every page has: help, and the reader's own settings.
import { keep } from "./kept.js";

const root = document.documentElement;
const help = document.getElementById("help");

export const keysWanted = () => root.dataset.keys !== "off";
export const motionWanted = () => root.dataset.motion !== "off" && !matchMedia("(prefers-reduced-motion: reduce)").matches;

// Whether a key press is for somebody else: a text field, a dialog, the browser itself.
export function isTaken(event) {
  return (
    event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") ||
    event.target.closest?.("input:not([type=radio]), textarea, select")
  );
}

document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || !keysWanted() || isTaken(event)) return;
  event.preventDefault();
  help.showModal();
});

for (const field of help.querySelectorAll("input[type=radio]")) {
  field.checked = field.value === (root.dataset[field.name] || "");
  field.addEventListener("change", () => {
    if (field.value) root.dataset[field.name] = field.value;
    else delete root.dataset[field.name];
    keep(field.name, field.value);
  });
}

root.dataset.ready = "";
