"use strict";
// Text from the model is only ever set as text content or attribute value: nothing here parses it as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const canvas = get("canvas"), scene = get("scene"), details = get("details"), search = get("search");
  const SVG = "http://www.w3.org/2000/svg";
  const KINDS = {
    layer: "Layers", norm: "Normalisation", activation: "Activations", arithmetic: "Arithmetic",
    reduction: "Pooling, reductions", movement: "Data movement", type: "Type conversion", input: "Inputs, outputs",
  };
  const LONGEST = 34;
  const TEXT_FROM = 0.32; // the scale below which letters are specks
  let graph = null, shown = 0, boxes = [], lines = [], chosen = -1, matches = [], match = -1;
  let view = { x: 0, y: 0, scale: 1 };

  const make = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const html = (tag, name, ...parts) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...parts);
    return element;
  };
  const short = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "\u2026" : text);
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const scaled = (number, units) => {
    let unit = 0;
    while (number >= 1000 && unit < units.length - 1) { number /= 1000; unit += 1; }
    return (unit ? number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0) : String(number)) + units[unit];
  };
  const bytes = (number) => scaled(number, [" B", " kB", " MB", " GB", " TB"]);
  const macs = (number) => scaled(number, [" MAC", " kMAC", " MMAC", " GMAC", " TMAC"]);
  const both = (words, number) => (number < 1000 ? words : words + " (" + grouped(number) + ")");

  // -- view ------------------------------------------------------------------------------------------------------
  const apply = () => {
    scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    canvas.classList.toggle("far", view.scale < TEXT_FROM);
  };
  const room = () => canvas.getBoundingClientRect();
  const zoom = (factor, x, y) => {
    const scale = Math.min(4, Math.max(0.01, view.scale * factor));
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    apply();
  };
  const zoomMiddle = (factor) => zoom(factor, room().width / 2, room().height / 2);
  const fit = () => {
    const { width, height } = room();
    view.scale = Math.min(1.2, (width - 80) / graph.size[0], (height - 80) / graph.size[1]);
    view.x = (width - graph.size[0] * view.scale) / 2;
    view.y = (height - graph.size[1] * view.scale) / 2;
    apply();
  };
  // Long graphs start at their inputs, in a size that can be read.
  const begin = () => {
    const { width, height } = room();
    const whole = Math.min((width - 80) / graph.size[0], (height - 80) / graph.size[1]);
    if (whole > 0.6) return fit();
    const top = graph.items.reduce((best, item) => (item.box[1] < best[1] ? item.box : best), graph.items[0].box);
    view = { x: width / 2 - top[0] * 0.85, y: 40, scale: 0.85 };
    apply();
  };
  const reveal = (index) => {
    const { width, height } = room(), [x, y] = graph.items[index].box;
    if (view.scale < 0.6) view.scale = 0.85;
    view.x = width / 2 - x * view.scale;
    view.y = height / 2 - y * view.scale;
    apply();
  };

  // -- drawing ---------------------------------------------------------------------------------------------------
  const path = (from, to, route, height) => {
    const points = [[from[0], from[1] + height / 2], ...route, [to[0], to[1] - height / 2 - 1]];
    let text = `M${points[0][0]} ${points[0][1]}`;
    for (let i = 1; i < points.length; i += 1) {
      const [x0, y0] = points[i - 1], [x1, y1] = points[i];
      const bend = Math.min((y1 - y0) / 2, 40);
      text += x0 === x1 ? `L${x1} ${y1}` : `C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`;
    }
    return text;
  };
  const drawBox = (item, index) => {
    const [x, y, width] = item.box, height = graph.size[2];
    const group = make("g", { class: `box ${item.kind}`, transform: `translate(${x - width / 2} ${y - height / 2})` });
    const radius = item.kind === "input" || item.kind === "output" ? height / 2 : 7;
    group.append(
      make("rect", { class: "card", width, height, rx: radius }),
      make("rect", { class: "tint", width, height, rx: radius }),
    );
    if (radius === 7) group.append(make("path", { class: "band", d: `M7 0h-0a7 7 0 0 0 -7 7v${height - 14}a7 7 0 0 0 7 7h-1.5v${-height}z` }));
    group.append(
      make("text", { class: "head", x: 17, y: 19 }, short(item.op)),
      make("text", { class: "sub", x: 17, y: 36 }, short(item.sub)),
      make("title", {}, item.name || item.op),
    );
    group.addEventListener("click", () => choose(index));
    return group;
  };
  const show = (index) => {
    shown = index;
    graph = data.graphs[index];
    chosen = -1;
    lines = graph.edges.map(([from, to, , route]) => make("path", {
      class: "edge", "marker-end": "url(#arrow)",
      d: path(graph.items[from].box, graph.items[to].box, route, graph.size[2]),
    }));
    boxes = graph.items.map(drawBox);
    scene.replaceChildren(...lines, ...boxes);
    [...get("switch").children].forEach((tab, at) => tab.setAttribute("aria-selected", String(at === index)));
    get("figures").textContent = `${grouped(graph.nodes)} nodes \u00b7 ${macs(graph.macs)} \u00b7 ${bytes(graph.weights)} of weights`;
    look();
    overview();
    begin();
    remember();
  };
  const remember = () => {
    try { history.replaceState(null, "", `#${shown}${chosen >= 0 ? "/" + chosen : ""}`); } catch (problem) { /* embedded */ }
  };

  // -- details ---------------------------------------------------------------------------------------------------
  const list = (pairs) => {
    const element = html("dl");
    for (const [key, value] of pairs) element.append(html("dt", "", key), html("dd", "", value));
    return element;
  };
  const title = (text) => html("h3", "", text);
  const heading = (kind, text) => html("h2", kind, html("span", "dot"), html("span", "", text));
  const valueCard = (number, neighbours) => {
    const value = graph.values[number], card = html("div", "value");
    const name = html("b", "", value.name);
    if (neighbours.length) {
      const button = html("button", "", name);
      button.title = "Go to " + graph.items[neighbours[0]].op;
      button.addEventListener("click", () => { choose(neighbours[0]); reveal(neighbours[0]); });
      card.append(button);
    } else card.append(name);
    card.append(html("div", "", `${value.constant !== undefined ? "constant " : ""}${value.type} \u00b7 ${both(bytes(value.bytes), value.bytes)}`));
    if (value.from) card.append(html("div", "", "in the source: " + value.from.join(", ")));
    if (value.constant) card.append(html("div", "", value.constant));
    return card;
  };
  const overview = () => {
    const counts = new Map();
    for (const item of graph.items) {
      if (item.kind === "input" || item.kind === "output") continue;
      const entry = counts.get(item.op) || { kind: item.kind, count: 0 };
      entry.count += 1;
      counts.set(item.op, entry);
    }
    const sorted = [...counts].sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1));
    const most = sorted.length ? sorted[0][1].count : 1;
    const bars = sorted.map(([op, { kind, count }]) => {
      const fill = html("i");
      fill.style.width = `${100 * count / most}%`;
      const bar = html("button", `bar ${kind}`, html("span", "", op), html("span", "track", fill), html("span", "count", String(count)));
      bar.addEventListener("click", () => { search.value = op; look(); });
      return bar;
    });
    const before = data.graphs[0], facts = [
      ["nodes", shown && before.nodes !== graph.nodes ? `${grouped(graph.nodes)}, imported ${grouped(before.nodes)}` : grouped(graph.nodes)],
      ["work", both(macs(graph.macs), graph.macs)],
      ["weights", both(bytes(graph.weights), graph.weights)],
    ];
    if (graph.symbols.length) facts.push(["sizes", graph.symbols.join("; ")]);
    const border = (kind) => graph.items.flatMap((item, at) => (item.kind === kind ? valueCard([...item.inputs, ...item.outputs][0], [at]) : []));
    details.replaceChildren(
      html("h2", "", graph.title), html("p", "", `Lathe ${data.version}. Click a node to see what it is.`),
      title("Totals"), list(facts), title("Inputs"), ...border("input"), title("Outputs"), ...border("output"),
      title("Operators"), ...bars,
    );
  };
  const describe = (index) => {
    const item = graph.items[index], facts = [];
    const makers = (value) => graph.edges.filter((edge) => edge[1] === index && edge[2] === value).map((edge) => edge[0]);
    const readers = (value) => graph.edges.filter((edge) => edge[0] === index && edge[2] === value).map((edge) => edge[1]);
    if (item.macs) facts.push(["work", both(macs(item.macs), item.macs)], ["share", `${(100 * item.macs / graph.macs).toFixed(1)} % of the model`]);
    if (item.weights) facts.push(["weights", both(bytes(item.weights), item.weights)]);
    const parts = [heading(item.kind, item.op), html("p", "", item.name || (KINDS[item.kind] ? "" : item.kind))];
    if (facts.length) parts.push(title("Cost"), list(facts));
    if (item.attributes.length) parts.push(title("Attributes"), list(item.attributes));
    if (item.inputs.length) parts.push(title("Inputs"), ...item.inputs.map((value) => valueCard(value, makers(value))));
    if (item.outputs.length) parts.push(title("Outputs"), ...item.outputs.map((value) => valueCard(value, readers(value))));
    details.replaceChildren(...parts);
    details.scrollTop = 0;
  };
  const choose = (index) => {
    if (boxes[chosen]) boxes[chosen].classList.remove("chosen");
    chosen = index;
    lines.forEach((line, at) => line.classList.toggle("near", index >= 0 && graph.edges[at].slice(0, 2).includes(index)));
    if (index >= 0) { boxes[index].classList.add("chosen"); describe(index); } else overview();
    remember();
  };

  // -- search ----------------------------------------------------------------------------------------------------
  const words = (item) => {
    const values = [...item.inputs, ...item.outputs].map((number) => graph.values[number]);
    return [item.op, item.name, ...values.flatMap((value) => [value.name, ...(value.from || [])])].join("\n").toLowerCase();
  };
  const look = () => {
    const wanted = search.value.trim().toLowerCase();
    // A word that is the name of an operator means that operator, not all that stands beside it.
    const exact = graph.items.some((item) => item.op.toLowerCase() === wanted);
    const fits = (item) => (exact ? item.op.toLowerCase() === wanted : words(item).includes(wanted));
    matches = wanted ? graph.items.flatMap((item, at) => (fits(item) ? [at] : [])) : [];
    match = -1;
    boxes.forEach((box, at) => box.classList.toggle("match", matches.includes(at)));
    canvas.classList.toggle("searching", wanted !== "");
    get("found").textContent = wanted ? String(matches.length) : "";
  };
  const next = (step) => {
    if (!matches.length) return;
    match = (match + step + matches.length + (match < 0 && step < 0 ? 1 : 0)) % matches.length;
    get("found").textContent = `${match + 1} / ${matches.length}`;
    choose(matches[match]);
    reveal(matches[match]);
  };

  // -- events ----------------------------------------------------------------------------------------------------
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, y: event.clientY, far: false, box: event.target.closest(".box") };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.far && Math.abs(dx) + Math.abs(dy) < 4) return;
    Object.assign(drag, { x: event.clientX, y: event.clientY, far: true });
    canvas.classList.add("dragged");
    view.x += dx;
    view.y += dy;
    apply();
  });
  window.addEventListener("pointerup", () => {
    if (drag && !drag.far && !drag.box) choose(-1);
    drag = null;
    canvas.classList.remove("dragged");
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), event.clientX - room().left, event.clientY - room().top);
  }, { passive: false });
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { search.value = ""; look(); search.blur(); }
    event.stopPropagation();
  });
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = { "/": () => search.focus(), "+": () => zoomMiddle(1.25), "-": () => zoomMiddle(0.8), 0: fit, Escape: () => choose(-1) };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  });
  get("closer").addEventListener("click", () => zoomMiddle(1.25));
  get("farther").addEventListener("click", () => zoomMiddle(0.8));
  get("fit").addEventListener("click", fit);

  get("switch").append(...data.graphs.map((item, index) => {
    const tab = html("button", "", item.title);
    tab.setAttribute("role", "tab");
    tab.addEventListener("click", () => show(index));
    return tab;
  }));
  get("legend").append(...Object.entries(KINDS).map(([kind, text]) => html("li", kind, html("span", "dot"), html("span", "", text))));
  const [, at, box] = /^#(\d+)(?:\/(\d+))?$/.exec(location.hash) || [];
  show(data.graphs[at] ? Number(at) : data.graphs.length - 1);
  if (box !== undefined && graph.items[box]) { choose(Number(box)); reveal(Number(box)); }
})();
