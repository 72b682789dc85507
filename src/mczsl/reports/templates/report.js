"use strict";
(() => {
  // Sorting: a click on a heading; figures by value, texts by alphabet, empty cells last.
  const valueOf = (cell) =>
    cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent.trim();
  const isEmpty = (value) => value === "" || value === "–";
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other
      : String(one).localeCompare(String(other), undefined, { numeric: true });

  const sort = (heading) => {
    const table = heading.closest("table");
    const headings = [...heading.parentElement.children];
    const at = headings.indexOf(heading);
    const falling = heading.getAttribute("aria-sort") === "ascending";
    for (const other of headings) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[at]), row]);
    rows.sort(([one], [other]) => {
      if (isEmpty(one) || isEmpty(other)) return isEmpty(one) - isEmpty(other);
      return falling ? compare(other, one) : compare(one, other);
    });
    body.append(...rows.map(([, row]) => row));
  };
  for (const button of document.querySelectorAll("table.sortable th button"))
    button.addEventListener("click", () => sort(button.parentElement));

  // Legends: a click hides or shows a series.
  const toggle = (key) => {
    const shown = key.getAttribute("aria-pressed") !== "true";
    key.setAttribute("aria-pressed", String(shown));
    for (const series of key.ownerSVGElement.querySelectorAll("g.series"))
      if (series.dataset.series === key.dataset.series) series.classList.toggle("off", !shown);
  };
  for (const key of document.querySelectorAll("svg.chart g.key")) {
    for (const [name, value] of [["role", "button"], ["tabindex", "0"], ["aria-pressed", "true"]])
      key.setAttribute(name, value);
    key.setAttribute("aria-label", `show ${key.dataset.series}`);
    key.addEventListener("click", () => toggle(key));
    key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(key);
    });
  }

  // Inside the models.
  const source = document.getElementById("inside-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const find = (id) => document.getElementById(id);
  const [map, pick, task] = ["map", "inside-run", "map-task"].map(find);
  const element = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.append(element("title", {}));
    if (text !== undefined) made.firstChild.textContent = text;
    return made;
  };
  const mark = (x, y, seen, size, style, text) => {
    const colour = `${seen ? "c0" : "c1"} ${style}`;
    return seen
      ? element("circle", { cx: x, cy: y, r: size, class: colour }, text)
      : element("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, class: colour }, text);
  };

  const drawMap = () => {
    const run = data[pick.value];
    const stage = run.stages[task.value - 1];
    find("map-task-number").textContent = `${stage.task} of ${run.stages[run.stages.length - 1].task}`;
    const prototypes = Object.entries(stage.prototypes);
    const places = run.points.concat(prototypes.map(([, place]) => place));
    const reach = (at) => {
      const all = places.map((place) => place[at]);
      return [Math.min(...all), Math.max(...all)];
    };
    const [[left, right], [low, high]] = [reach(0), reach(1)];
    const x = (value) => 14 + ((value - left) / (right - left || 1)) * 412;
    const y = (value) => 386 - ((value - low) / (high - low || 1)) * 372;
    const seen = new Set(stage.seen);
    const known = new Set(stage.seen.concat(stage.unseen));
    const marks = [];
    if (find("map-features").checked)
      for (const [px, py, number] of run.points)
        if (known.has(number))
          marks.push(mark(x(px), y(py), seen.has(number), 2.2, "faint", run.class_names[number]));
    if (find("map-prototypes").checked)
      for (const [number, [px, py]] of prototypes)
        marks.push(mark(x(px), y(py), seen.has(Number(number)), 4.5, "prototype", `prototype of ${run.class_names[number]}`));
    map.replaceChildren(...marks);
  };

  const drawWorst = () => {
    const run = data[pick.value];
    find("worst-task").textContent = run.task ? ` after task ${run.task}` : "";
    const rows = (run.worst || []).map((entry) => {
      const row = document.createElement("tr");
      const name = `${entry.class} (${entry.seen ? "seen" : "unseen"})`;
      const right = `${entry.accuracy.toFixed(1)}\u00a0% of ${entry.samples}`;
      for (const text of [name, right]) row.insertCell().textContent = text;
      const taken = row.insertCell();
      for (const [other, share] of entry.taken_for) {
        const line = document.createElement("div");
        line.className = "share";
        const bar = document.createElement("i");
        bar.style.width = `${Math.max(2, share)}px`;
        line.append(bar, `${other} ${share.toFixed(0)}\u00a0%`);
        taken.append(line);
      }
      return row;
    });
    find("worst").tBodies[0].replaceChildren(...rows);
  };

  // What the best offset would give; older analyses do not have it.
  const tellWhatIsLeft = () => {
    const { task: last, curve } = data[pick.value];
    let text = "";
    if (curve && curve.best_H !== undefined) {
      const [seen, unseen] = curve.here;
      const now = seen + unseen ? (2 * seen * unseen) / (seen + unseen) : 0;
      text =
        `After task ${last} H is ${now.toFixed(2)}. With an offset picked on the test itself it would be ` +
        `${curve.best_H.toFixed(2)}: the distance left for calibration, not a result.`;
    }
    find("left").textContent = text;
  };

  const choose = () => {
    task.max = data[pick.value].stages.length;
    task.value = task.max;
    find("inside-name").textContent = pick.value;
    drawMap();
    drawWorst();
    tellWhatIsLeft();
  };
  pick.addEventListener("change", choose);
  task.addEventListener("input", drawMap);
  for (const id of ["map-features", "map-prototypes"]) find(id).addEventListener("change", drawMap);
  choose();
})();
