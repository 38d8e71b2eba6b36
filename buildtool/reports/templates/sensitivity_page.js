(() => {
  const kept = new Set(data.proposed);
  const share = (part) => (part ? `${(100 * part).toPrecision(2)} %` : "0");
  const number = (title, value, show) => [title, value, { number: true, show: (layer) => show(value(layer)) }];
  const decibels = (value) => value.toFixed(1);
  const layers = [...data.layers].sort((a, b) => a.alone_db - b.alone_db);

  const tiles = [
    tile("all layers stored in a few bits", `${decibels(data.output_db)} dB`, `signal to noise at the outputs, ${data.samples} samples`),
    ...(data.proposed.length ? [tile("marked layers in single precision", `${decibels(data.output_db_proposed)} dB`, `${data.proposed.length} of ${layers.length} layers`)] : []),
    ...Object.entries(data.accuracy).map(([name, value]) => tile(`accuracy, ${name}`, value.toFixed(4))),
  ];
  const text = "Alone: signal to noise at the outputs, where nothing but this layer is stored in a few bits. In place: at its own result, where every layer is. A click on a heading sorts.";
  const content = html("div", "content", html("div", "tiles", ...tiles), section("Layers", text, table([
    ["layer", (layer) => layer.name, { long: true, show: (layer) => [html("span", kept.has(layer.name) ? "kept" : "", layer.name)] }],
    ["operator", (layer) => layer.op],
    number("alone, dB", (layer) => layer.alone_db, decibels),
    number("in place, dB", (layer) => layer.here_db, decibels),
    number("stored from", (layer) => layer.range[0], short),
    number("stored to", (layer) => layer.range[1], short),
    number("seen from", (layer) => layer.seen[0], short),
    number("seen to", (layer) => layer.seen[1], short),
    number("cut off", (layer) => layer.clipped, share),
    ["numbers of its result, by logarithm", (layer) => layer.seen[1], { show: (layer) => [histogram(layer.histogram, layer.range)] }],
  ], layers)));
  get("main").append(content);
})();
