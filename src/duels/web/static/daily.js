// The answers to the daily puzzles, which only this browser stores. The server counts the days in a row.
import { loadData } from "./storage.js";
import { post } from "./post.js";

// Return the streak and the line to share, or null if nothing is answered. `games` are in the order of the marks.
export async function summarize(games, mostDays) {
  const answered = {};
  const latest = Object.entries(loadData("daily")).sort().slice(-mostDays); // ISO dates sort by time
  for (const [date, rights] of latest) answered[date] = games.map((game) => rights[game] ?? null); // null: open
  return latest.length ? post("/daily", { answered }) : null;
}

export const formatStreak = (days) => (days > 1 ? `${days} days in a row` : "");
