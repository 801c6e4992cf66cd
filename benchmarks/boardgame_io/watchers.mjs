// Bystanders who watch one match of leap at one of the servers and do nothing.
//
// node watchers.mjs duels|boardgame.io URL PID WATCHERS
//
// Writes JSON: the bytes of memory of the server's process PID before they came, and while all of them watch.
import { readFileSync } from "node:fs";

import { Kind, sleep } from "./seats.mjs";

const [kind, base, pid, watchers] = process.argv.slice(2);
const AT_ONCE = 50;
const SETTLING = 1500; // milliseconds

const memory = () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

const server = Kind(kind, base);
const [seat] = await server.sitDown();
await seat.watch();
await sleep(SETTLING);
const before = memory();
for (let open = 0; open < Number(watchers); open += AT_ONCE) {
  const some = Math.min(AT_ONCE, Number(watchers) - open);
  await Promise.all(Array.from({ length: some }, () => server.bystander(seat.match).watch()));
}
await sleep(SETTLING);
console.log(JSON.stringify({ before, after: memory() }));
process.exit(0);
