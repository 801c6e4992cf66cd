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

export const keptData = (name) => JSON.parse(kept(name) || "{}");
export const keepData = (name, data) => keep(name, JSON.stringify(data));
