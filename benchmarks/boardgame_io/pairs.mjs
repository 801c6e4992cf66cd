// Pairs of people who play leap at one of the servers, at random, each pair a match of its own at a time.
//
// node pairs.mjs duels|boardgame.io URL PID PAIRS ROUNDS PAUSE
//
// PAUSE is how many milliseconds pass between a move and the next one in a match; 0 is as fast as it goes. Writes
// JSON: the moves, the processor time of the server's process PID while they were made, the seconds that they took,
// and for each the milliseconds from sending it until the other seat was told.
import { readFileSync } from "node:fs";

import { Kind, sleep } from "./seats.mjs";

const [kind, base, pid, pairs, rounds, pause] = process.argv.slice(2);
const GOAL = 21;
const TICKS = 100; // of /proc, a second

function cpu() {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function anyLeap(cell) {
  const leaps = Array.from({ length: cell }, (_, place) => place + 1).filter((by) => cell % by === 0 && cell + by <= GOAL);
  return leaps[Math.floor(Math.random() * leaps.length)];
}

// When a seat has been told of so many moves.
function until(seat, moves) {
  return new Promise((done) => (seat.seen >= moves ? done() : (seat.told = () => seat.seen >= moves && done())));
}

// As soon as a seat is told that it is its turn, it moves.
async function play(seats, waits) {
  if (Number(pause)) await sleep(Math.random() * Number(pause)); // not all at once
  const cells = [1, 1];
  const answers = [];
  for (let move = 0; !cells.includes(GOAL); move++) {
    const [mover, other] = move % 2 ? [seats[1], seats[0]] : seats;
    const by = anyLeap(cells[move % 2]);
    cells[move % 2] += by;
    const told = until(other, move + 1);
    const sent = performance.now();
    answers.push(mover.leap(by));
    await told;
    waits.push(performance.now() - sent);
    if (Number(pause)) await sleep(Number(pause));
  }
  await Promise.all([...answers, ...seats.map((seat) => until(seat, answers.length))]);
}

const waits = [];
let [used, took] = [0, 0];
for (let round = 0; round < Number(rounds); round++) {
  const matches = await Promise.all(Array.from({ length: Number(pairs) }, Kind(kind, base).sitDown));
  await Promise.all(matches.flat().map((seat) => seat.watch()));
  const [then, start] = [cpu(), performance.now()];
  await Promise.all(matches.map((seats) => play(seats, waits)));
  used += cpu() - then;
  took += (performance.now() - start) / 1000;
  matches.flat().forEach((seat) => seat.leave());
}
console.log(JSON.stringify({ moves: waits.length, cpu: used, seconds: took, waits }));
process.exit(0);
