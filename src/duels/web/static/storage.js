// Values in the browser's local storage. If storage is blocked, nothing is stored and nothing fails.

export function load(name) {
  try {
    return localStorage.getItem(`duels.${name}`) || "";
  } catch {
    return "";
  }
}

export function save(name, value) {
  try {
    if (value) localStorage.setItem(`duels.${name}`, value);
    else localStorage.removeItem(`duels.${name}`);
  } catch {
    // storage is optional
  }
}

// Load an object, or {} if the stored value is not one.
export function loadData(name) {
  try {
    const data = JSON.parse(load(name) || "{}");
    return typeof data === "object" && data ? data : {};
  } catch {
    return {};
  }
}

export const saveData = (name, data) => save(name, JSON.stringify(data));
