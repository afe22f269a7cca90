// Keeps the counts fresh while a run goes on, and moves between records with j and k. The pages need no script.
"use strict";
(() => {
  const summary = document.getElementById("summary");
  const news = document.getElementById("news");
  const main = document.querySelector("main");
  // On a phone filters are folded: the line that opens them says how many are in use.
  const more = document.querySelector("details.more");
  const narrow = matchMedia("(max-width: 40rem)");
  const fold = () => { if (more) more.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  let first = null;
  const look = async () => {
    try {
      const answer = await fetch("/summary");
      if (!answer.ok) return;
      const counts = await answer.json();
      if (first === null) first = counts;
      if (summary.dataset.seen !== counts.html) {
        if (summary.dataset.seen !== undefined) summary.innerHTML = counts.html;
        summary.dataset.seen = counts.html;
      }
      const more = counts.read - first.read;
      if (more === 0 && counts.generation === first.generation) return;
      // Where the newest come first and none is being read, the page follows the run.
      if (main.hasAttribute("data-live") && !main.querySelector("details[open]") && !document.querySelector("form :focus")) {
        location.reload();
        return;
      }
      news.textContent = more > 0 ? `${more} more since this page was made: ` : "written anew since this page was made: ";
      const link = document.createElement("a");
      link.href = location.href;
      link.textContent = "show them";
      link.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
      news.append(link);
      news.hidden = false;
    } catch {
      // The server has ended, or is busy.
    }
  };
  setInterval(look, 2000);
  look();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "/") {
      const search = document.getElementById("q");
      if (search) { event.preventDefault(); search.focus(); }
    }
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const all = [...document.querySelectorAll("article > details > summary")];
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
    if (next) next.focus();
  });
})();
