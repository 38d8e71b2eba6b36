"use strict";
// Names from models are only ever set as text content: nothing here parses them as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 240, HEIGHT = 36;
  const kept = new Set(data.proposed);
  const short = (number) => String(Number(number.toPrecision(4)));
  const percent = (share) => (share ? `${(100 * share).toPrecision(2)} %` : "0");

  const shape = (tag, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  // How often numbers lie where, by logarithm, as most of them are near zero; and the ends of what is stored.
  const histogram = (layer) => {
    const { low, high, counts } = layer.histogram, picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const most = Math.log1p(Math.max(...counts, 1)), step = WIDTH / counts.length;
    picture.setAttribute("aria-label", `${counts.length} bars from ${short(low)} to ${short(high)}`);
    counts.forEach((count, index) => {
      const height = (HEIGHT * Math.log1p(count)) / most;
      if (count) picture.append(shape("rect", { x: index * step, y: HEIGHT - height, width: Math.max(step - 1, 1), height }));
    });
    for (const end of layer.range) {
      const x = high > low ? (WIDTH * (end - low)) / (high - low) : 0;
      picture.append(shape("line", { x1: x, x2: x, y1: 0, y2: HEIGHT }));
    }
    return picture;
  };

  const columns = [
    ["layer", (layer) => layer.name, "name"],
    ["operator", (layer) => layer.op, ""],
    ["alone (dB)", (layer) => layer.alone_db, "number", (layer) => layer.alone_db.toFixed(1)],
    ["in place (dB)", (layer) => layer.here_db, "number", (layer) => layer.here_db.toFixed(1)],
    ["stored from", (layer) => layer.range[0], "number", (layer) => short(layer.range[0])],
    ["to", (layer) => layer.range[1], "number", (layer) => short(layer.range[1])],
    ["seen from", (layer) => layer.seen[0], "number", (layer) => short(layer.seen[0])],
    ["to", (layer) => layer.seen[1], "number", (layer) => short(layer.seen[1])],
    ["cut off", (layer) => layer.clipped, "number", (layer) => percent(layer.clipped)],
    ["numbers of its result, by logarithm", null, "", histogram],
  ];
  const head = document.getElementById("head"), body = document.getElementById("rows");
  let order = 2, sign = 1;

  const draw = () => {
    const key = columns[order][1];
    const rows = [...data.layers].sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    body.replaceChildren(...rows.map((layer) => {
      const row = document.createElement("tr");
      if (kept.has(layer.name)) row.className = "kept";
      for (const [, value, name, shown] of columns) {
        const cell = document.createElement("td");
        cell.className = name;
        cell.append((shown || value)(layer));
        row.append(cell);
      }
      return row;
    }));
    [...head.children].forEach((cell, index) => {
      if (index === order) cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
  };

  columns.forEach(([title, value, name], index) => {
    const cell = document.createElement("th");
    cell.className = name;
    if (value) {
      const button = document.createElement("button");
      button.textContent = title;
      button.addEventListener("click", () => {
        sign = index === order ? -sign : 1;
        order = index;
        draw();
      });
      cell.append(button);
    } else cell.textContent = title;
    head.append(cell);
  });

  const words = [
    `Signal to noise at the outputs with everything stored: ${data.output_db.toFixed(1)} dB, of ${data.samples} samples.`,
    "Alone: at the outputs, where nothing but this layer is stored. In place: at its own result, where everything is.",
  ];
  if (data.proposed.length) words.push(`Marked layers in single precision: ${data.output_db_proposed.toFixed(1)} dB.`);
  const figures = Object.entries(data.accuracy);
  if (figures.length) words.push(`Accuracy: ${figures.map(([name, value]) => `${name} ${value.toFixed(4)}`).join(", ")}.`);
  document.getElementById("summary").textContent = words.join("\n");
  draw();
})();
