// On every page: the help and the reader's settings.
import { save } from "./storage.js";

const root = document.documentElement;
const help = document.getElementById("help");

export const shortcutsEnabled = () => root.dataset.keys !== "off";
export const motionEnabled = () => root.dataset.motion !== "off" && !matchMedia("(prefers-reduced-motion: reduce)").matches;

// Whether a key press belongs to a text field, a dialog or the browser.
export function isHandledElsewhere(event) {
  return (
    event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") ||
    event.target.closest?.("input:not([type=radio]), textarea, select")
  );
}

document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || !shortcutsEnabled() || isHandledElsewhere(event)) return;
  event.preventDefault();
  help.showModal();
});

for (const field of help.querySelectorAll("input[type=radio]")) {
  field.checked = field.value === (root.dataset[field.name] || "");
  field.addEventListener("change", () => {
    if (field.value) root.dataset[field.name] = field.value;
    else delete root.dataset[field.name];
    save(field.name, field.value);
  });
}

root.dataset.ready = "";
