(() => {
  const SERIES = 7; // networks of more kinds have one colour
  // Points at [x, y, kind]; `line`: in order, joined.
  const plot = (curve, colours) => chart(230, (width, height) => {
    const ys = curve.points.map((point) => point[1]), xs = curve.points.map((point) => point[0]);
    const [low, high] = [Math.min(...ys), Math.max(...ys)], room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 0.1;
    const from = curve.share ? Math.max(0, low - room) : Math.min(low - room, 0), to = curve.share ? Math.min(1, high + room) : high + room;
    const [first, last] = curve.line ? [Math.min(...xs), Math.max(...xs)] : [0, Math.max(...xs) * 1.05];
    const left = 58, right = width - 14, top = 10, bottom = height - 42;
    const x = (value) => (last > first ? left + (right - left) * (value - first) / (last - first) : (left + right) / 2);
    const y = (value) => bottom - (bottom - top) * (value - from) / (to - from);
    const shares = ticks(100 * from, 100 * to, 6), digitsOf = shares.some((value) => value % 1) ? 1 : 0;
    const marks = curve.share ? shares.map((value) => [value / 100, `${value.toFixed(digitsOf)} %`]) : ticks(from, to, 6).map((value) => [value, short(value)]);
    const steps = ticks(first, last, Math.max(2, Math.floor(width / 110))).filter((value) => !curve.line || value % 1 === 0);
    const shown = (value) => (curve.share ? `${(100 * value).toFixed(2)} %` : short(value));
    return [
      ...marks.flatMap(([value, text]) => [make("line", { class: "grid", x1: left, x2: width, y1: y(value), y2: y(value) }), make("text", { class: "end", x: left - 8, y: y(value) + 4 }, text)]),
      ...(curve.line && steps[0] !== first ? [first] : []).concat(steps).map((value) => make("text", { class: "middle", x: x(value), y: bottom + 18 }, curve.line ? String(value) : grouped(value))),
      make("text", { class: "middle", x: (left + right) / 2, y: height - 6 }, curve.x),
      ...(curve.line ? [make("polyline", { class: "path", points: curve.points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") })] : []),
      ...curve.points.map(([at, value, kind]) => titled(make("circle", { class: `point k${colours ? colours.of(kind) : 0}`, cx: x(at), cy: y(value), r: curve.points.length > 100 ? 2.4 : 4 }), `${curve.x} ${grouped(at)}: ${shown(value)}, ${kind}`)),
    ];
  });
  const picture = (curve) => {
    const colours = palette(curve.points.map((point) => point[2])), few = colours.order.length > 1 && colours.order.length <= SERIES;
    return section(curve.title, curve.text, plot(curve, few ? colours : null), ...(few ? [legend(colours)] : []));
  };
  const columns = data.table.columns.map(([title, number], at) => [title, (row) => row[at][0], { number, long: !number, show: (row) => row[at][1] }]);
  get("main").append(html("div", "content",
    html("div", "tiles", ...data.tiles.map(([label, value, more]) => tile(label, value, more))),
    ...data.notes.map((text) => html("p", "note", text)),
    ...data.curves.filter((curve) => curve.points.length).map(picture),
    section(data.table.title, "A click on a heading sorts.", table(columns, data.table.rows)),
  ));
  redraw();
  window.addEventListener("resize", redraw);
})();
