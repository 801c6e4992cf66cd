// A bot for duels: it speaks the protocol of docs/protocol.md and takes the last legal action.
const readline = require("node:readline");

function answer(question) {
  return { id: question.id, action: question.actions[question.actions.length - 1] };
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    console.log(JSON.stringify({ type: "ready", protocol: 1, name: "example in JavaScript" }));
  } else if (message.type === "choose") {
    console.log(JSON.stringify(answer(message)));
  }
});
