// Keys for the buttons. The page needs no script.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const note = document.querySelector("input[name=note]");
  if (event.target === note) {
    // The first button would be pressed by Enter in the note.
    if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); note.blur(); }
    return;
  }
  if (event.key === "n" && note) { event.preventDefault(); note.focus(); return; }
  const button = [...document.querySelectorAll("button[name=key]")].find((one) => one.value === event.key.toLowerCase());
  if (button) { event.preventDefault(); button.click(); }
});
