// A review: step through its boards, continue from one of them, or upload a record.
import { Idiomorph } from "./idiomorph.js";
import { load } from "./storage.js";
import { isHandledElsewhere, shortcutsEnabled, motionEnabled } from "./page.js";
import { busy, goTo, notice, noticeOutage, UNREACHABLE } from "./post.js";

const container = document.getElementById("review-container");

// Put a review into the page and show its first step.
function begin(review) {
  container?.replaceChildren(review);
  const buttons = [...review.querySelectorAll("button[data-step]")];
  const templates = [...review.querySelectorAll("template")];
  const dots = [...review.querySelectorAll(".dot")];
  const isMistake = (step) => ["mistake", "blunder"].includes(templates[step].dataset.mark) && !buttons[step].matches(".earlier");
  const mistakes = [...templates.keys()].filter(isMistake);
  const get = (selector) => review.querySelector(selector);
  let current = 0;

  function show(step) {
    current = Math.max(0, Math.min(templates.length - 1, step));
    const { title, comments, mark } = templates[current].dataset;
    const fresh = templates[current].content.cloneNode(true);
    Idiomorph.morph(get(".stage"), [...fresh.childNodes], { morphStyle: "innerHTML" });
    get(".step-title").textContent = title;
    get(".comments").textContent = comments;
    const here = get("[data-play-on=here]");
    if (here) {
      here.hidden = current === templates.length - 1;
      const again = get("[data-play-on=again]");
      again.hidden = !["inaccuracy", "mistake", "blunder"].includes(mark);
      get(".choice").hidden = here.hidden && again.hidden;
    }
    for (const [index, button] of buttons.entries()) {
      if (index === current) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    for (const dot of dots) dot.classList.toggle("now", Number(dot.dataset.step) === current);
    const list = buttons[current].closest("ol");
    const [row, view] = [buttons[current], list].map((element) => element.getBoundingClientRect());
    // Scroll only the list, not the page, and only to an entry that is out of sight.
    if (row.top < view.top || row.bottom > view.bottom - row.height / 2) list.scrollTop += row.top - view.top - view.height / 2;
  }

  // Show an entry and scroll to the board, which may be far away.
  function choose(step) {
    show(step);
    get(".stage").scrollIntoView({ block: "nearest", behavior: motionEnabled() ? "smooth" : "instant" });
  }

  function continueMatch(button) {
    const entries = Number(review.dataset.first) + current - (button.dataset.playOn === "again" ? 1 : 0);
    const against = get("[name=against]:checked").value;
    goTo(button, "/matches", { match: review.dataset.match, entries, against, name: load("name") });
  }

  review.addEventListener("click", (event) => {
    const closest = (selector) => event.target.closest(selector);
    let element;
    if ((element = closest("[data-step]"))) choose(Number(element.dataset.step));
    else if ((element = closest("[data-go]"))) show(current + Number(element.dataset.go));
    else if (closest("[data-slip]")) show(mistakes.find((step) => step > current) ?? mistakes[0]);
    else if ((element = closest("[data-play-on]"))) continueMatch(element);
    else if ((element = closest("[data-page]"))) {
      if (form) upload(element, Number(element.dataset.page));
      else location.search = `page=${element.dataset.page}`;
    }
  });
  const keys = { ArrowLeft: () => current - 1, ArrowRight: () => current + 1, Home: () => 0, End: () => templates.length - 1 };
  review.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || !shortcutsEnabled() || isHandledElsewhere(event) || event.target.matches("[type=radio]")) return;
    event.preventDefault();
    choose(keys[event.key]());
  });
  get("[data-slip]").hidden = !mistakes.length;
  const worst = Number(review.dataset.worst) - Number(review.dataset.first);
  show(worst in templates ? worst : 0);
  if (container) {
    container.scrollIntoView({ block: "start" });
    get("[data-go='1']").focus({ preventScroll: true });
  }
}

const form = document.getElementById("upload");
async function upload(button, page) {
  const answer = await busy(button, () =>
    fetch("/review", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/html" },
      body: JSON.stringify({ record: form.elements.record.value, page }),
    }).catch(() => null),
  );
  if (!answer?.ok) {
    container.replaceChildren(); // remove the last review
    const data = await answer?.json().catch(() => null);
    if (data?.message) notice(data.message);
    else noticeOutage(UNREACHABLE);
    return;
  }
  notice("");
  const html = new DOMParser().parseFromString(await answer.text(), "text/html");
  begin(html.getElementById("review"));
}
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  upload(event.submitter, 1);
});
form?.elements.file.addEventListener("change", async (event) => {
  form.elements.record.value = await event.target.files[0].text();
});

const embedded = document.querySelector("main > #review");
if (embedded) begin(embedded);
