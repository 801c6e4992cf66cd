// What this browser remembers. Where it may not, it forgets, and nothing else changes.

export function kept(name) {
  try {
    return localStorage.getItem(`duels.${name}`) || "";
  } catch {
    return "";
  }
}

export function keep(name, value) {
  try {
    if (value) localStorage.setItem(`duels.${name}`, value);
    else localStorage.removeItem(`duels.${name}`);
  } catch {
    // It is only a convenience.
  }
}

// What was kept as data, by names; nothing if something else has written there.
export function keptData(name) {
  try {
    const data = JSON.parse(kept(name) || "{}");
    return typeof data === "object" && data ? data : {};
  } catch {
    return {};
  }
}

export const keepData = (name, data) => keep(name, JSON.stringify(data));
