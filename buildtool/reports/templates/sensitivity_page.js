(() => {
  const kept = new Set(data.proposed);
  const percent = (share) => (share ? `${(100 * share).toPrecision(2)} %` : "0");

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
    ["numbers of its result, by logarithm", null, "picture", (layer) => histogram(layer.histogram, layer.range)],
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
