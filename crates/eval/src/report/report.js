"use strict";
(() => {
  const records = [...document.querySelectorAll("#records > .record")];
  const controls = document.getElementById("controls");
  const search = document.getElementById("search");
  const only = document.getElementById("only");
  const count = document.getElementById("count");
  if (!records.length) return;
  controls.hidden = false;
  document.getElementById("keys").hidden = false;
  controls.addEventListener("submit", (event) => event.preventDefault());

  const inFacet = (record) => !only.value || record.dataset.in.split(" ").includes(only.value);
  const visible = () => records.filter((record) => !record.hidden && inFacet(record));
  const told = () => {
    const shown = visible().length;
    count.textContent = shown === records.length ? `${shown} records` : `${shown} of ${records.length} records`;
  };

  const texts = new Map();
  const text = (record) => {
    if (!texts.has(record)) texts.set(record, record.textContent.toLowerCase());
    return texts.get(record);
  };
  let waiting = 0;
  const find = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const record of records) record.hidden = !words.every((word) => text(record).includes(word));
    told();
  };
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 150);
  });

  // Which records are shown is said by the address; the stylesheet does the rest.
  only.addEventListener("change", () => {
    location.hash = only.value ? `only-${only.value}` : "records";
  });
  const moved = () => {
    const name = location.hash.slice(1);
    const facet = name.startsWith("only-") ? name.slice(5) : "";
    only.value = [...only.options].some((option) => option.value === facet) ? facet : "";
    const record = document.getElementById(name);
    if (record && record.matches(".record")) open(record);
    told();
  };
  const open = (record) => {
    record.querySelector("details").open = true;
    record.querySelector("summary").focus({ preventScroll: true });
    record.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", moved);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select")) {
      if (event.key !== "Escape") return;
      // A browser would empty the field, and tell nobody: the records would stay filtered.
      event.preventDefault();
      event.target.blur();
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      search.focus();
      return;
    }
    if (event.key !== "j" && event.key !== "k") return;
    event.preventDefault();
    const shown = visible();
    const now = shown.indexOf(document.activeElement.closest(".record"));
    const next = event.key === "j" ? now + 1 : now < 0 ? shown.length - 1 : now - 1;
    if (!shown[next]) return;
    if (now >= 0) shown[now].querySelector("details").open = false;
    open(shown[next]);
  });
  moved();
})();
