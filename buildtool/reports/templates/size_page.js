(() => {
  const canvas = get("canvas"), details = get("details");
  let library = null, shapes = [], chosen = -1;

  const share = (number) => `${(100 * number / library.total).toFixed(1)} %`;
  const sum = (parts) => parts.reduce((all, part) => all + part.bytes, 0);

  // -- areas -----------------------------------------------------------------------------------------------------
  // Fills a rectangle with areas in proportion to `bytes`, row by row along the shorter side, each row as long as that
  // keeps its worst area from becoming thinner.
  const fill = (items, box) => {
    const sorted = [...items].sort((a, b) => b.bytes - a.bytes), placed = [];
    let { x, y, width, height } = box, left = sum(sorted);
    const worst = (row, side, scale) => {
      const length = sum(row) * scale / side;
      return Math.max(...row.map((item) => {
        const breadth = item.bytes * scale / length;
        return Math.max(length / breadth, breadth / length);
      }));
    };
    while (sorted.length && left > 0) {
      const side = Math.min(width, height), scale = width * height / left, row = [sorted.shift()];
      while (sorted.length && worst([...row, sorted[0]], side, scale) <= worst(row, side, scale)) row.push(sorted.shift());
      const bytes = sum(row), length = bytes * scale / side, wide = width >= height;
      let at = 0;
      for (const item of row) {
        const breadth = side * item.bytes / bytes;
        placed.push([item, wide ? { x, y: y + at, width: length, height: breadth } : { x: x + at, y, width: breadth, height: length }]);
        at += breadth;
      }
      if (wide) { x += length; width -= length; } else { y += length; height -= length; }
      left -= bytes;
    }
    return placed;
  };
  const clusters = () => {
    const found = new Map();
    library.parts.forEach((part, index) => {
      const key = part.group === "kernels" ? part.operator : "/" + part.group;
      if (!found.has(key)) found.set(key, { key, parts: [], bytes: 0 });
      const cluster = found.get(key);
      cluster.parts.push({ index, bytes: part.bytes });
      cluster.bytes += part.bytes;
    });
    return [...found.values()];
  };
  const drawPart = (index, box) => {
    const part = library.parts[index];
    const group = make("g", { class: `part ${part.group}`, tabindex: 0, role: "button", "aria-label": `${part.name}: ${part.bytes} bytes` });
    group.append(make("rect", { ...box, rx: 3 }), make("title", {}, `${part.name}: ${grouped(part.bytes)} bytes`));
    const letters = Math.floor((box.width - 10) / 7);
    if (letters >= 5 && box.height >= 20) {
      const text = part.name.length > letters ? part.name.slice(0, letters - 1) + "\u2026" : part.name;
      group.append(make("text", { x: box.x + 6, y: box.y + 16 }, text));
      if (box.height >= 36) group.append(make("text", { class: "count", x: box.x + 6, y: box.y + 31 }, grouped(part.bytes)));
    }
    group.addEventListener("click", () => choose(index));
    group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") choose(index); });
    shapes[index] = group;
    return group;
  };
  const draw = () => {
    const { width, height } = canvas.getBoundingClientRect();
    if (!library || width < 20 || height < 20) return;
    shapes = [];
    const boxes = fill(clusters(), { x: 8, y: 8, width: width - 16, height: height - 16 });
    const parts = boxes.flatMap(([cluster, box]) => fill(cluster.parts, box).map(([item, inner]) => drawPart(item.index, inner)));
    canvas.replaceChildren(...parts, ...boxes.map(([, box]) => make("rect", { class: "frame", ...box, rx: 4 })));
    if (shapes[chosen]) shapes[chosen].classList.add("chosen");
  };

  // -- details ---------------------------------------------------------------------------------------------------
  const row = (kind, name, bytes) => {
    const first = kind ? html("td", "", html("span", "dot"), name) : html("td", "", name);
    return html("tr", kind, first, html("td", "", grouped(bytes)), html("td", "", share(bytes)));
  };
  const title = (text) => html("h3", "", text);
  const overview = () => {
    const groups = Object.keys(data.groups).map((group) => [group, sum(library.parts.filter((part) => part.group === group))]);
    const operators = clusters().filter((cluster) => !cluster.key.startsWith("/")).sort((a, b) => b.bytes - a.bytes);
    details.replaceChildren(
      html("h2", "", library.abi), html("p", "", `The stripped library. Lathe ${data.version}. Click a part to see what it is.`),
      title("Parts"), html("table", "", ...groups.filter(([, bytes]) => bytes).map(([group, bytes]) => row(group, data.groups[group], bytes))),
      title("Operators"), html("table", "", ...operators.map((cluster) => row("kernels", cluster.key, cluster.bytes))),
    );
  };
  const choose = (index) => {
    if (shapes[chosen]) shapes[chosen].classList.remove("chosen");
    chosen = index === chosen ? -1 : index;
    if (chosen < 0) return overview();
    shapes[chosen].classList.add("chosen");
    const part = library.parts[chosen];
    const kinds = data.kinds.filter((kind) => part[kind]).map((kind) => row("", kind, part[kind]));
    details.replaceChildren(
      html("h2", part.group, html("span", "dot"), html("span", "", part.name)),
      html("p", "", part.operator ? `a kernel of ${part.operator}` : data.groups[part.group]),
      title("Bytes"), html("table", "", ...kinds, row("", "all", part.bytes)),
    );
  };
  const show = (index) => {
    library = data.libraries[index];
    chosen = -1;
    [...get("switch").children].forEach((tab, at) => tab.setAttribute("aria-selected", String(at === index)));
    get("figures").textContent = `${grouped(library.total)} bytes`;
    draw();
    overview();
  };

  get("switch").append(...data.libraries.map((item, index) => {
    const tab = html("button", "", item.abi);
    tab.setAttribute("role", "tab");
    tab.addEventListener("click", () => show(index));
    return tab;
  }));
  window.addEventListener("resize", draw);
  window.addEventListener("keydown", (event) => { if (event.key === "Escape" && chosen >= 0) choose(chosen); });
  show(0);
})();
