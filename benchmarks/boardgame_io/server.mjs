// boardgame.io's own server, as it is, with leap as a game of its own. Matches are kept by its own file storage.
// Writes its port to stdout once it listens.
//
// node server.mjs FOLDER
import { createRequire } from "node:module";

const { FlatFile, Server } = createRequire(import.meta.url)("boardgame.io/server");

const GOAL = 21;

const leap = {
  name: "leap",
  minPlayers: 2,
  maxPlayers: 2,
  setup: () => ({ cells: [1, 1] }), // our server enters both by itself: there is nothing to choose
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    leap: ({ G, ctx }, by) => {
      const cell = G.cells[ctx.currentPlayer];
      if (cell % by !== 0 || cell + by > GOAL) return "INVALID_MOVE";
      G.cells[ctx.currentPlayer] = cell + by;
    },
  },
  endIf: ({ G, ctx }) => (G.cells.includes(GOAL) ? { winner: ctx.currentPlayer } : undefined),
};

const db = new FlatFile({ dir: process.argv[2] });
const running = await Server({ games: [leap], origins: [/./], db }).run({ port: 0 });
console.log(running.appServer.address().port);
