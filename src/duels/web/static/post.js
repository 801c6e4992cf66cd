// Requests that change something. Every refusal is shown as the server words it.

export function notice(text) {
  document.getElementById("notice").textContent = text;
}

// The answer's data ({} where there is none), or null if it was refused, which is said then.
export async function post(path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    notice("The server cannot be reached. Nothing was sent; try again.");
    return null;
  }
  const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (answer.ok) {
    notice("");
    return data;
  }
  notice(data.message || `That did not work (${answer.status}).`);
  return null;
}
