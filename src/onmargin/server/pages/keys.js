// One press is an answer to the item that was on the screen; held keys and keys typed into fields are none.
(() => {
  const set = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  try { set(localStorage.getItem("onmargin-theme")); } catch { /* (no storage: as the system says) */ }
  window.onmarginTheme = () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    set(next);
    try { localStorage.setItem("onmargin-theme", next); } catch { /* (for this page only) */ }
  };
  document.addEventListener("keydown", (event) => {
    const desk = document.querySelector("[data-known]");
    if (!desk || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.activeElement;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(field?.tagName || "")) {
      if (event.key === "Escape") field.blur();
      return;
    }
    const fresh = document.querySelector("input[name=label]");
    if (event.key === "+" && fresh?.checkVisibility()) {
      event.preventDefault();
      fresh.focus();
      return;
    }
    const known = desk.dataset.known.split(" ");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!known.includes(key)) return;
    event.preventDefault();
    onmarginPress(key);
  });
  window.onmarginImport = async (input, url) => {
    const said = document.getElementById("import-said");
    const file = input.files[0];
    if (!file) return;
    said.textContent = "Reading " + file.name + " …";
    const answer = await fetch(url, { method: "POST", body: file, headers: { "Content-Type": "application/x-ndjson" } });
    const told = await answer.json().catch(() => ({}));
    said.textContent = answer.ok ? told.added + (told.added === 1 ? " item" : " items") + " taken." : "Not taken: " + (told.detail || told.error || answer.status);
    input.value = "";
    if (answer.ok) emitEvent("onmargin-imported", {});
  };
})();
// A button is the same as its key: it answers what is on the screen (null: nothing is).
const onmarginItem = () => {
  const item = document.querySelector("[data-item]");
  return item && Number(item.dataset.item);
};
window.onmarginPress = (key) => emitEvent("onmargin-key", { key, item: onmarginItem() });
window.onmarginNew = (form) => {
  emitEvent("onmargin-new", { label: form.elements.label.value, item: onmarginItem() });
  form.reset();
  form.elements.label.blur(); // (keys are answers again)
};
