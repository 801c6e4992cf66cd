// Hints in stages: where to look, the move, and the theory. Each press shows the next stage.
import { busy, UNREACHABLE } from "./post.js";

const AGAIN = [" Press Hint again for advice.", " Press Hint again to see why.", ""];
let advice = null; // the hint for a position, and the stage that is shown

// Show the next stage in `box`, and the moves on the board. `path` is the hint's address; `position` identifies the position.
export async function showHint({ button, path, position, isCurrent, board, box }) {
  if (advice?.position !== position) {
    const answer = await busy(button, () => fetch(path, { headers: { Accept: "application/json" } }).catch(() => null));
    const data = answer ? await answer.json() : { message: UNREACHABLE };
    if (!isCurrent()) return;
    if (!data.stages) {
      box.textContent = data.message;
      return;
    }
    advice = { ...data, position, stage: -1 };
  }
  advice.stage = Math.min(advice.stage + 1, advice.stages.length - 1);
  box.textContent = advice.stages[advice.stage] + AGAIN[advice.stage];
  box.scrollIntoView({ block: "nearest" }); // on a phone, it may be below the screen
  board.advise(advice.stage ? advice.actions : [], advice.belief);
}
