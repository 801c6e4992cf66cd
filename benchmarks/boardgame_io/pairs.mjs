// Pairs of people who play leap at one of the servers, at random, each pair a match of its own at a time.
//
// node pairs.mjs duels|boardgame.io URL PID PAIRS ROUNDS PAUSE
//
// PAUSE is how many milliseconds pass between a move and the next one in a match; 0 is as fast as it goes. Writes
// JSON: the moves, the processor time of the server's process PID while they were made, the seconds that they took,
// and for each the milliseconds from sending it until the other seat was told.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createRequire } from "node:module";

const [kind, base, pid, pairs, rounds, pause] = process.argv.slice(2);
const GOAL = 21;
const TICKS = 100; // of /proc, a second
const agent = new Agent({ keepAlive: true });
const BROWSER = { "Accept-Encoding": "gzip, deflate, br" };
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function cpu() {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function send(method, path, data, cookie) {
  return new Promise((done, failed) => {
    const body = data === undefined ? undefined : JSON.stringify(data);
    const headers = { Accept: "application/json", Origin: base };
    if (cookie) headers.Cookie = cookie;
    if (body) Object.assign(headers, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
    const asked = request(base + path, { method, headers, agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (more) => (text += more));
      answer.on("end", () => {
        if (answer.statusCode >= 300) failed(new Error(`${path}: ${answer.statusCode} ${text}`));
        else done({ text, cookie: answer.headers["set-cookie"]?.[0].split(";")[0] });
      });
    });
    asked.on("error", failed);
    asked.end(body);
  });
}

// A seat at a match: `leap` makes a move, `seen` is how many moves it was told of, `told` is called with each.
class Seat {
  seen = 0;
  told = () => {};

  moved(seen) {
    if (seen <= this.seen) return;
    this.seen = seen;
    this.told();
  }
}

class DuelsSeat extends Seat {
  constructor(match, cookie) {
    super();
    Object.assign(this, { match, cookie, event: 0, began: 0 });
  }

  watch() {
    const headers = { ...BROWSER, Accept: "text/event-stream", Cookie: this.cookie };
    return new Promise((done, failed) => {
      this.stream = request(`${base}${this.match}/events`, { headers }, (answer) => {
        let rest = "";
        answer.setEncoding("utf8");
        answer.on("error", () => {});
        answer.on("data", (more) => {
          const lines = (rest + more).split("\n");
          rest = lines.pop();
          for (const line of lines) {
            if (line.startsWith("id: ")) this.next = Number(line.slice(4));
            if (!line.startsWith("data: ")) continue;
            this.event = this.next;
            this.began ||= this.event;
            this.moved(this.event - this.began);
            done();
          }
        });
      });
      this.stream.on("error", failed);
      this.stream.end();
    });
  }

  async leap(by) {
    await send("POST", `${this.match}/act`, { action: String(by), event: this.event }, this.cookie);
  }

  leave() {
    this.stream.on("error", () => {});
    this.stream.destroy();
  }
}

async function sitDownAtDuels() {
  const made = await send("POST", "/matches", { game: "leap", against: "friend" });
  const match = JSON.parse(made.text).url;
  const { link } = JSON.parse((await send("GET", match, undefined, made.cookie)).text).invite;
  const joined = await send("POST", link.slice(link.indexOf("/j/")), {});
  return [new DuelsSeat(match, made.cookie), new DuelsSeat(match, joined.cookie)];
}

class BoardgameSeat extends Seat {
  constructor(match, player, credentials) {
    super();
    Object.assign(this, { match, player, credentials });
  }

  watch() {
    const { io } = createRequire(import.meta.url)("socket.io-client");
    this.socket = io(`${base}/leap`, { transports: ["websocket"], forceNew: true });
    return new Promise((done) => {
      this.socket.on("connect", () => this.socket.emit("sync", this.match, this.player, this.credentials, 2));
      this.socket.on("sync", (match, { state }) => {
        this.state = state._stateID;
        done();
      });
      this.socket.on("update", (match, state) => {
        this.state = state._stateID;
        this.moved(state._stateID);
      });
    });
  }

  async leap(by) {
    const payload = { type: "leap", args: [by], playerID: this.player, credentials: this.credentials };
    this.socket.emit("update", { type: "MAKE_MOVE", payload }, this.state, this.match, this.player);
  }

  leave() {
    this.socket.disconnect();
  }
}

async function sitDownAtBoardgame() {
  const { matchID } = JSON.parse((await send("POST", "/games/leap/create", { numPlayers: 2 })).text);
  const join = async (playerID) => {
    const joined = await send("POST", `/games/leap/${matchID}/join`, { playerID, playerName: playerID });
    return new BoardgameSeat(matchID, playerID, JSON.parse(joined.text).playerCredentials);
  };
  return [await join("0"), await join("1")];
}

const sitDown = { duels: sitDownAtDuels, "boardgame.io": sitDownAtBoardgame }[kind];

function anyLeap(cell) {
  const leaps = Array.from({ length: cell }, (_, place) => place + 1).filter((by) => cell % by === 0 && cell + by <= GOAL);
  return leaps[Math.floor(Math.random() * leaps.length)];
}

async function play(seats, waits) {
  if (Number(pause)) await sleep(Math.random() * Number(pause)); // not all at once
  const cells = [1, 1];
  for (let move = 0; !cells.includes(GOAL); move++) {
    const [mover, other] = move % 2 ? [seats[1], seats[0]] : seats;
    const by = anyLeap(cells[move % 2]);
    cells[move % 2] += by;
    const both = seats.map(
      (seat) => new Promise((done) => (seat.seen > move ? done() : (seat.told = () => seat.seen > move && done()))),
    );
    const sent = performance.now();
    const answered = mover.leap(by);
    await both[seats.indexOf(other)];
    waits.push(performance.now() - sent);
    await Promise.all([answered, ...both]);
    if (Number(pause)) await sleep(Number(pause));
  }
}

const waits = [];
let [used, took] = [0, 0];
for (let round = 0; round < Number(rounds); round++) {
  const matches = await Promise.all(Array.from({ length: Number(pairs) }, sitDown));
  await Promise.all(matches.flat().map((seat) => seat.watch()));
  const [then, start] = [cpu(), performance.now()];
  await Promise.all(matches.map((seats) => play(seats, waits)));
  used += cpu() - then;
  took += (performance.now() - start) / 1000;
  matches.flat().forEach((seat) => seat.leave());
}
console.log(JSON.stringify({ moves: waits.length, cpu: used, seconds: took, waits }));
process.exit(0);
