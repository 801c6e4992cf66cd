// How one sits down, watches and moves at each of the servers, as a browser would.
import { Agent, request } from "node:http";
import { createRequire } from "node:module";

const BROWSER = { "Accept-Encoding": "gzip, deflate, br" };
const agent = new Agent({ keepAlive: true });
let base = "";

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

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
    const headers = { ...BROWSER, Accept: "text/event-stream" };
    if (this.cookie) headers.Cookie = this.cookie;
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

// One of the servers, at its address: `sitDown` gives the two seats of a new match, `bystander` somebody who watches it.
export function Kind(name, url) {
  base = url;
  return {
    duels: { sitDown: sitDownAtDuels, bystander: (match) => new DuelsSeat(match, "") },
    "boardgame.io": { sitDown: sitDownAtBoardgame, bystander: (match) => new BoardgameSeat(match, null, undefined) },
  }[name];
}
