// One graph on the screen: boxes and edges that can be moved, zoomed, chosen and searched.
const graphPane = (() => {
  const LONGEST = 34;
  const TEXT_FROM = 0.32; // the scale below which letters are specks
  const shortened = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "\u2026" : text);

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
  const drawBox = (item, [x, y, width], height) => {
    const group = make("g", { class: `box ${item.kind}`, transform: `translate(${x - width / 2} ${y - height / 2})` });
    const radius = item.kind === "input" || item.kind === "output" ? height / 2 : 7;
    group.append(make("rect", { class: "card", width, height, rx: radius }), make("rect", { class: "tint", width, height, rx: radius }));
    if (radius === 7) group.append(make("path", { class: "band", d: `M7 0h-0a7 7 0 0 0 -7 7v${height - 14}a7 7 0 0 0 7 7h-1.5v${-height}z` }));
    group.append(
      make("text", { class: "head", x: 17, y: 19 }, shortened(item.op)),
      make("text", { class: "sub", x: 17, y: 36 }, shortened(item.sub)),
      make("title", {}, item.name || item.op),
    );
    return group;
  };

  // `bar`: what stands above the graph; `chosen(index)` is called for a click on a box, with -1 for one beside them.
  return (bar, chosen) => {
    const scene = make("g", {}), canvas = make("svg", { class: "canvas", role: "img", "aria-label": "The graph" });
    const button = (text, title, action) => { const element = html("button", "", text); element.title = title; element.addEventListener("click", action); return element; };
    const tools = html("div", "tools", button("+", "Zoom in (+)", () => zoomMiddle(1.25)), button("\u2212", "Zoom out (-)", () => zoomMiddle(0.8)), button("Fit", "Show everything (0)", () => fit()));
    const element = html("div", "pane", bar, canvas, tools);
    canvas.append(scene);
    let graph = null, boxes = [], lines = [], view = { x: 0, y: 0, scale: 1 };

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
    const whole = () => Math.min(1.2, (room().width - 60) / graph.size[0], (room().height - 60) / graph.size[1]);
    const fit = () => {
      const { width, height } = room(), scale = whole();
      view = { scale, x: (width - graph.size[0] * scale) / 2, y: (height - graph.size[1] * scale) / 2 };
      apply();
    };
    // Long graphs start at their inputs, in a size that can be read.
    const begin = () => {
      if (whole() > 0.6) return fit();
      const top = graph.boxes.reduce((best, box) => (box[1] < best[1] ? box : best), graph.boxes[0]);
      view = { x: room().width / 2 - top[0] * 0.85, y: 34, scale: 0.85 };
      apply();
    };
    const reveal = (index) => {
      const { width, height } = room(), [x, y] = graph.boxes[index];
      if (view.scale < 0.6) view.scale = 0.85;
      view.x = width / 2 - x * view.scale;
      view.y = height / 2 - y * view.scale;
      apply();
    };
    const show = (next) => {
      graph = next;
      lines = graph.edges.map(([from, to, , route]) => make("path", { class: "edge", "marker-end": "url(#arrow)", d: path(graph.boxes[from], graph.boxes[to], route, graph.size[2]) }));
      boxes = graph.items.map((item, index) => {
        const box = drawBox(item, graph.boxes[index], graph.size[2]);
        box.addEventListener("click", () => chosen(index));
        return box;
      });
      scene.replaceChildren(...lines, ...boxes);
      begin();
    };
    // Sets a class on the boxes of these numbers, and on no others.
    const mark = (name, indices) => boxes.forEach((box, at) => box.classList.toggle(name, indices.includes(at)));
    const choose = (index) => {
      mark("chosen", [index]);
      lines.forEach((line, at) => line.classList.toggle("near", index >= 0 && graph.edges[at].slice(0, 2).includes(index)));
    };
    const found = (matches) => {
      mark("match", matches || []);
      canvas.classList.toggle("searching", matches !== null);
    };
    // How warm boxes are, from 0 to 1; null: coloured by the kind of their operator.
    const heat = (shares) => {
      canvas.classList.toggle("heated", shares !== null);
      boxes.forEach((box, at) => box.style.setProperty("--heat", shares && shares[at] !== undefined ? shares[at] : 0));
    };

    let drag = null, pinch = 0;
    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      if (event.button === 0) drag = { x: event.clientX, y: event.clientY, far: fingers.size > 1, box: event.target.closest(".box") };
    });
    window.addEventListener("pointermove", (event) => {
      if (!drag) return;
      if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
      if (fingers.size === 2) {
        const [one, two] = [...fingers.values()], apart = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
        if (pinch) zoom(apart / pinch, (one.clientX + two.clientX) / 2 - room().left, (one.clientY + two.clientY) / 2 - room().top);
        pinch = apart;
        drag.far = true;
        return;
      }
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.far && Math.abs(dx) + Math.abs(dy) < 4) return;
      Object.assign(drag, { x: event.clientX, y: event.clientY, far: true });
      canvas.classList.add("dragged");
      view.x += dx;
      view.y += dy;
      apply();
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      pinch = 0;
      if (drag && fingers.size) Object.assign(drag, { x: [...fingers.values()][0].clientX, y: [...fingers.values()][0].clientY });
      if (fingers.size) return;
      if (drag && !drag.far && !drag.box) chosen(-1);
      drag = null;
      canvas.classList.remove("dragged");
    };
    window.addEventListener("pointerup", release);
    window.addEventListener("pointercancel", release);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), event.clientX - room().left, event.clientY - room().top);
    }, { passive: false });
    return { element, show, choose, mark, reveal, found, heat, fit, zoomMiddle };
  };
})();
