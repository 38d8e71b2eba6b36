(() => {
  const main = get("main");
  // What ran when, in one lane for each thread: [name, start, end, hint, colour, lane].
  const timeline = (rows, unit, lanes = [""]) => chart(lanes.length * 30 + 48, (width) => {
    const left = lanes.length > 1 ? 62 : 0, end = Math.max(...rows.map((row) => row[2])) || 1, x = (at) => left + 1 + (width - left - 2) * at / end;
    const steps = ticks(0, end, Math.floor((width - left) / 110)), bottom = lanes.length * 30 + 24, top = (lane) => (lane ? 18 + 30 * lane : 4);
    return [
      ...lanes.map((name, lane) => make("text", { class: "strong", x: 0, y: top(lane) + (lane ? 17 : 26) }, name)),
      ...rows.flatMap(([name, from, to, hint, colour, lane = 0]) => {
        const wide = Math.max(0.5, x(to) - x(from));
        const text = letters(name, wide - 8);
        return [
          titled(make("rect", { class: `area k${colour}`, x: x(from), y: top(lane), width: wide, height: lane ? 24 : 40, rx: wide > 6 ? 3 : 0 }), hint),
          ...(text ? [make("text", { class: "inside", x: x(from) + 5, y: top(lane) + (lane ? 16 : 25) }, text)] : []),
        ];
      }),
      make("line", { class: "axis", x1: left, x2: width, y1: bottom, y2: bottom }),
      ...steps.map((at) => make("text", { class: at === 0 ? "" : x(at) > width - 40 ? "end" : "middle", x: x(at), y: bottom + 16 }, unit(at))),
    ];
  });
  // The nodes in the first lane, and below them what each thread did of the loops that they shared.
  const threadsOf = (item, colours) => {
    const nodes = item.nodes.map((node) => [node.op, node.start_ms, node.end_ms, `${node.op} ${node.name}\n${time(node.end_ms - node.start_ms)}, ${node.kernel}`, colours.of(node.op)]);
    const loops = item.threads_of_loops || [], count = Math.max(-1, ...loops.map((loop) => loop.thread)) + 1;
    const of = (start) => item.nodes.findLast((node) => node.start_ms <= start) || item.nodes[0];
    const shared = loops.map((loop) => ["", loop.start_ms, loop.end_ms, `${of(loop.start_ms).op} ${of(loop.start_ms).name}\nthread ${loop.thread}: ${loop.slices} slices in ${time(loop.end_ms - loop.start_ms)}`, colours.of(of(loop.start_ms).op), loop.thread + 1]);
    const lanes = count > 1 ? ["nodes", ...Array.from({ length: count }, (_, at) => `thread ${at}`)] : [""];
    const busy = loops.reduce((sum, loop) => sum + loop.end_ms - loop.start_ms, 0), span = Math.max(...item.nodes.map((node) => node.end_ms)) || 1;
    const words = count > 1 ? ` Below the nodes, what the threads did of the loops that they shared: ${percent(busy / span / count)} of their time.` : "";
    return section("When what ran", `A run that took as long as most do.${words}`, timeline(count > 1 ? [...nodes, ...shared] : nodes, tick, lanes), legend(colours));
  };
  // Every round, how they are spread, and where the median is.
  const rounds = (times, figures) => chart(240, (width, height) => {
    const left = 74, bottom = height - 26, top = 10, split = width - Math.min(190, width * 0.28), cut = figures.percentiles["99"];
    const low = figures.min, high = Math.max(cut, figures.median * 1.02), room = (high - low) * 0.08 || low * 0.1 || 1;
    const from = Math.max(0, low - room), to = high + room;
    const y = (ms) => bottom - (bottom - top) * (Math.min(ms, to) - from) / (to - from);
    const x = (at) => left + 8 + (split - left - 16) * (times.length > 1 ? at / (times.length - 1) : 0.5);
    const count = 28, found = new Array(count).fill(0);
    times.forEach((ms) => { found[Math.min(count - 1, Math.max(0, Math.floor(count * (Math.min(ms, to) - from) / (to - from))))] += 1; });
    const most = Math.max(...found);
    const [first, last] = figures.median_interval;
    return [
      ...ticks(from, to, 8).flatMap((ms) => [
        make("line", { class: "grid", x1: left, x2: width, y1: y(ms), y2: y(ms) }),
        make("text", { class: "end", x: left - 8, y: y(ms) + 4 }, tick(ms)),
      ]),
      make("rect", { class: "band", x: left, width: width - left, y: y(last), height: Math.max(1, y(first) - y(last)) }),
      make("line", { class: "line", x1: left, x2: width, y1: y(figures.median), y2: y(figures.median) }),
      ...times.map((ms, at) => titled(make("circle", { class: "point k0", cx: x(at), cy: y(ms), r: times.length > 300 ? 2 : 3.2 }), `round ${at + 1}: ${time(ms)}`)),
      ...found.map((many, at) => make("rect", { class: "bar k0", "fill-opacity": 0.55, x: split + 14, width: (width - split - 18) * many / most, y: bottom - (bottom - top) * (at + 1) / count + 0.5, height: (bottom - top) / count - 1 })),
      make("text", { class: "middle", x: (left + split) / 2, y: height - 6 }, "round"),
      make("text", { class: "middle", x: (split + width) / 2 + 6, y: height - 6 }, "how many"),
    ];
  });
  // Computing against moving bytes, both axes logarithmic.
  const roofline = (nodes, peak, colours) => chart(330, (width, height) => {
    const shown = nodes.filter((node) => node.macs && node.gmacs > 0), left = 64, bottom = height - 40, top = 12;
    const speed = Math.max(...Object.values(peak.gmacs)), slow = peak.reading[peak.reading.length - 1].gb_s, fast = peak.reading[0].gb_s;
    const density = (node) => node.macs / node.bytes;
    const range = (values) => [Math.floor(Math.log10(Math.min(...values)) * 2) / 2, Math.ceil(Math.log10(Math.max(...values)) * 2) / 2];
    const [x0, x1] = range([...shown.map(density), speed / slow * 1.5, 1]), [y0, y1] = range([...shown.map((node) => node.gmacs), speed * 1.2]);
    const x = (value) => left + (width - left - 10) * (Math.log10(value) - x0) / (x1 - x0);
    const y = (value) => bottom - (bottom - top) * (Math.log10(value) - y0) / (y1 - y0);
    const decades = (from, to) => Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, at) => 10 ** (Math.ceil(from) + at));
    const roof = (bandwidth, level, name) => {
      const start = Math.max(10 ** x0, 10 ** y0 / bandwidth);
      const knee = Math.min(level / bandwidth, 10 ** x1);
      return titled(make("path", { class: name, d: `M${x(start)} ${y(start * bandwidth)}L${x(knee)} ${y(knee * bandwidth)}L${x(10 ** x1)} ${y(level)}` }), `${digits(bandwidth)} GB/s, ${digits(level)} GMAC/s`);
    };
    const level = peak.gmacs.f32 || speed;
    return [
      ...decades(x0, x1).flatMap((at) => [make("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: bottom }), make("text", { class: "middle", x: x(at), y: bottom + 16 }, String(Number(at.toPrecision(1))))]),
      ...decades(y0, y1).flatMap((at) => [make("line", { class: "grid", x1: left, x2: width - 10, y1: y(at), y2: y(at) }), make("text", { class: "end", x: left - 8, y: y(at) + 4 }, String(Number(at.toPrecision(1))))]),
      roof(slow, level, "roof"), ...(fast > slow ? [roof(fast, level, "limit")] : []),
      make("text", { class: "end", x: width - 12, y: y(level) - 7 }, `${digits(level)} GMAC/s (f32)`),
      ...shown.map((node) => titled(make("circle", { class: `point k${colours.of(node.op)}`, cx: x(density(node)), cy: y(node.gmacs), r: 3 + 7 * Math.sqrt(node.percent / 100) }), `${node.op} ${node.name}\n${digits(node.gmacs)} GMAC/s, ${digits(density(node))} MAC a byte, ${node.percent.toFixed(1)} % of the time`)),
      make("text", { class: "middle", x: (left + width) / 2, y: height - 5 }, width < 500 ? "MAC for each byte moved at least" : "multiply-accumulates for each byte that is moved at least"),
      make("text", { class: "middle", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)` }, "GMAC/s"),
    ];
  });
  // The arena over time: across the steps of a run, up the bytes.
  const arena = (memory, colours) => chart(360, (width, height) => {
    const unit = 1024 ** Math.min(3, Math.floor(Math.log2(Math.max(1, memory.size)) / 10));
    const left = 74, bottom = height - 38, top = 8, steps = memory.steps, size = memory.size || 1;
    const x = (step) => left + (width - left - 8) * step / steps, y = (at) => bottom - (bottom - top) * at / size;
    return [
      ...ticks(0, size / unit, 6).map((at) => at * unit).flatMap((at) => [make("line", { class: "grid", x1: left, x2: width - 8, y1: y(at), y2: y(at) }), make("text", { class: "end", x: left - 8, y: y(at) + 4 }, bare(bytes(at)))]),
      ...memory.values.map(([name, op, offset, length, first, last]) => titled(
        make("rect", { class: `area k${colours.of(op)}`, x: x(first), width: Math.max(0.8, x(last + 1) - x(first)), y: y(offset + length), height: Math.max(0.8, y(offset) - y(offset + length)) }),
        `${name}, made by ${op}\n${grouped(length)} bytes at ${grouped(offset)}, steps ${first} to ${last}`)),
      make("line", { class: "limit", x1: left, x2: width - 8, y1: y(memory.lower_bound), y2: y(memory.lower_bound) }),
      make("line", { class: "axis", x1: left, x2: width - 8, y1: bottom, y2: bottom }),
      ...ticks(0, steps, Math.floor(width / 90)).map((at) => make("text", { class: "middle", x: x(at), y: bottom + 16 }, grouped(at))),
      make("text", { class: "middle", x: (left + width) / 2, y: height - 4 }, width < 500 ? "step" : "step: the nodes in the order in which they run"),
    ];
  });

  // -- pages -----------------------------------------------------------------------------------------------------
  // Buttons, and below them what belongs to the chosen one.
  const chosen = {};
  const choice = (key, titles, build) => {
    const box = html("div", "choice switch"), place = html("div", "");
    const pick = (at) => {
      chosen[key] = at;
      forgetCharts();
      [...box.children].forEach((button, index) => button.setAttribute("aria-pressed", String(index === at)));
      place.replaceChildren(...build(at));
      redraw();
    };
    titles.forEach((title, at) => { const button = html("button", "", title); button.addEventListener("click", () => pick(at)); box.append(button); });
    queueMicrotask(() => pick(Math.min(chosen[key] || 0, titles.length - 1)));
    return titles.length > 1 ? [box, place] : [place];
  };
  const measured = () => (data.benchmark ? data.benchmark.measurements : []);
  const results = () => (data.validation ? data.validation.results : []);
  const amount = (item) => (item.unit === "seconds" ? time(item.plain.median) : scaled(item.instructions, ["", " k", " M", " G"]) + " instructions");

  // Firmware has figures of its own; of the layers, which each target describes in its own way, what says most.
  const count = (value) => (Number.isInteger(value) ? grouped(value) : digits(value));
  const figure = ({ value, unit }) => (unit === "bytes" ? bytes(value) : unit === "share" ? percent(value) : unit === "steps" ? `${digits(value)} steps` : typeof value === "number" ? count(value) : String(value));
  const LAYER = ["layer", "name", "operation", "pool", "in", "kernel", "depthwise", "out", "output", "bits", "activation", "activation_error", "cycles", "macs", "estimated_instructions", "constant_bytes", "ram_bytes"];
  const LABELS = { macs: "MACs", estimated_instructions: "instructions (estimated)", constant_bytes: "bytes of constants", ram_bytes: "bytes of RAM" };
  // TensorFlow Lite calls what it has fused by the names of all its parts: the last one says most.
  const brief = (name) => { const parts = String(name).split(";").filter(Boolean); if (parts.length < 2) return String(name); const word = html("span", "", `\u2026;${parts[parts.length - 1]}`); word.title = name; return word; };
  const firmwareOf = ({ abi, images, models }) => {
    const words = [...new Set(models.flatMap((model) => model.figures.map((each) => each.words)))];
    const found = (row, word) => row.figures.find((each) => each.words === word);
    const columns = words.map((word) => [word, (row) => (found(row, word) || {}).value, { number: true, show: (row) => (found(row, word) ? figure(found(row, word)) : "") }]);
    const plain = (item) => (item === null || item === undefined || item === false ? "" : item === true ? "yes" : Array.isArray(item) ? list(item) : typeof item === "number" ? count(item) : String(item));
    const known = (layers) => LAYER.filter((key) => layers.some((layer) => plain(layer[key]) !== ""));
    const isNumber = (layers, key) => layers.some((layer) => typeof layer[key] === "number");
    const layers = models.filter((model) => (model.details.layers || []).length).map(({ name, details }) => section(`Layers of ${name} on ${abi}`, "A click on a heading sorts.", table(
      known(details.layers).map((key) => [LABELS[key] || key.replaceAll("_", " "), (row) => row[key], { number: isNumber(details.layers, key), long: key === "layer" || key === "name", show: (row) => (key === "layer" || key === "name" ? [brief(plain(row[key]))] : plain(row[key])) }]), details.layers)));
    return [
      section(`Firmware for ${abi}`, "", table([["model", (row) => row.name], ...columns], models)),
      ...(Object.keys(images).length ? [section(`Images for ${abi}`, "", table([["file", ([path]) => path, { code: true }], ["memory", ([, size]) => size, { number: true, show: ([, size]) => grouped(size) }]], Object.entries(images)))] : []),
      ...layers,
    ];
  };

  const overview = () => {
    const build = data.build, firmware = build.firmware || [], failed = results().filter((result) => !result.passed);
    const tiles = build.libraries.map((library) => tile(`library for ${library.abi}`, bytes(library.bytes_stripped), `${library.kernels.length} kernels, ${library.needed.join(", ") || "needs nothing"}`));
    tiles.push(...build.models.map((model) => tile(`model ${model.name}`, `${macs(model.macs)}MAC`, `${model.nodes} nodes, ${bytes(model.data_bytes)} of weights`)));
    if (results().length) tiles.push(tile("validation", html("span", failed.length ? "wrong" : "ok", failed.length ? `${failed.length} failed` : "passed"), `${results().length} ${results().length === 1 ? "comparison" : "comparisons"} with ${data.validation.reference}`));
    tiles.push(...measured().map((item) => tile(`${item.model} on ${item.abi}`, amount(item), `${item.device}, ${threads(item.threads)}`)));
    tiles.push(...firmware.flatMap(({ abi, models }) => models.filter((model) => model.figures.length).map((model) => tile(`${model.name} on ${abi}`, figure(model.figures[0]), model.figures[0].words))));
    const missing = firmware.length ? [] : [...(results().length ? [] : ["validated: lathe validate"]), ...(measured().length ? [] : ["measured: lathe bench"])];
    return [
      html("div", "tiles", ...tiles),
      ...(missing.length ? [section("Not done yet", `This build has not been ${missing.join("; nor ")}. The page is written anew then.`)] : []),
      section("Models", "", table([
        ["model", (row) => row.name], ["from", (row) => row.platform], ["nodes", (row) => row.nodes, { number: true, show: (row) => `${row.source_nodes} \u2192 ${row.nodes}` }],
        ["MACs", (row) => row.macs, { number: true, show: (row) => grouped(row.macs) }], ["weights", (row) => row.data_bytes, { number: true, show: (row) => bytes(row.data_bytes) }],
        ...(build.models.every((row) => !row.plans.length) ? [] : [["arena", (row) => Math.max(0, ...row.plans.map((plan) => plan.arena_size)), { number: true, show: (row) => [...new Set(row.plans.map((plan) => bytes(plan.arena_size)))].join(", ") }]]),
        ["operators", (row) => Object.keys(row.operators).length, { show: (row) => Object.entries(row.operators).map(([op, count]) => `${count} ${op}`).join(", ") }],
      ], build.models)),
      ...(build.libraries.length ? [section("Libraries", "", table([
        ["abi", (row) => row.abi], ["shared, stripped", (row) => row.bytes_stripped, { number: true, show: (row) => grouped(row.bytes_stripped) }],
        ["static", (row) => row.bytes_static, { number: true, show: (row) => grouped(row.bytes_static) }],
        ["kernels", (row) => row.kernels.length, { number: true, show: (row) => String(row.kernels.length) }],
        ["needs", (row) => row.needed.join(", ")], ["glibc", (row) => row.glibc], ["exports", (row) => row.exported.join(", "), { code: true }],
      ], build.libraries))] : []),
      ...firmware.flatMap(firmwareOf),
    ];
  };
  const frame = (page, title) => { const element = html("iframe"); element.title = title; element.srcdoc = page; return element; };
  const framed = (key, entries) => {
    const box = html("div", "choice switch"), place = [];
    const pick = (at) => {
      chosen[key] = at;
      [...box.children].forEach((button, index) => button.setAttribute("aria-pressed", String(index === at)));
      place.forEach((element) => element.remove());
      place.splice(0, 1, frame(entries[at][1], entries[at][0]));
      main.append(place[0]);
    };
    entries.forEach(([title], at) => { const button = html("button", "", title); button.addEventListener("click", () => pick(at)); box.append(button); });
    queueMicrotask(() => pick(chosen[key] || 0));
    return entries.length > 1 ? [box] : [];
  };
  const memory = () => choice("memory", data.memory.map((item) => `${item.model}, ${item.abi}`), (at) => {
    const item = data.memory[at], names = item.values.map((value) => value[1]);
    const count = (op) => names.filter((name) => name === op).length;
    const colours = palette([...new Set(names)].sort((a, b) => count(b) - count(a)));
    return [
      html("div", "tiles", tile("arena", bytes(item.size), `${grouped(item.size)} bytes`), tile("least possible", bytes(item.lower_bound), "what is live at once, at most"), tile("values", grouped(item.values.length), `${bytes(item.values.reduce((sum, value) => sum + value[3], 0))} without sharing`)),
      section("The arena over time", "Each area is a value: from the step that makes it to the last one that reads it, and where it lies. Values that are views of others lie on top of them. The dashed line is the least possible.", arena(item, colours), legend(colours)),
    ];
  });
  const ranOn = (gpu) => {
    if (!gpu) return "CPU";
    if (gpu.kind === "dsp") return `${gpu.name}${gpu.reason ? `; in part the CPU: ${gpu.reason}` : ""}`;
    return gpu.kind === "gpu" ? `GPU ${gpu.name}, driver ${gpu.driver}${gpu.reason ? `; in part the CPU: ${gpu.reason}` : ""}` : `CPU: ${gpu.reason}`;
  };
  const validation = () => {
    if (!results().length) return [section("Validation", "This build has not been validated yet: lathe validate compares it with its source models.")];
    const keys = [...new Set(results().flatMap((result) => Object.keys(result)))].filter((key) => key !== "gpu" && results().some((result) => typeof result[key] !== "object" || result[key] === null));
    const shown = inOrder(keys, ["model", "output", "abi", "device", "kind", "format", "reference", "cosine", "sqnr", "max_abs", "max_rel", "pixel_accuracy", "threshold"]).filter((key) => key !== "passed" && results().some((result) => result[key] !== null && result[key] !== ""));
    const columns = shown.map((key) => [key === "sqnr" ? "sqnr, dB" : key.replaceAll("_", " "), (row) => row[key], { number: results().some((row) => typeof row[key] === "number"), long: true, show: (row) => (typeof row[key] === "number" ? Number(row[key].toPrecision(key.startsWith("max") || key === "sqnr" ? 3 : 7)).toString() : String(row[key] === null || row[key] === undefined ? "" : row[key])) }]);
    if (results().some((row) => row.gpu)) columns.push(["ran on", (row) => ranOn(row.gpu), { long: true }]);
    columns.push(["", (row) => row.passed, { show: (row) => [html("span", row.passed ? "ok" : "wrong", row.passed ? "passed" : "failed")] }]);
    return [section("Validation", `The outputs of the library beside those of ${data.validation.reference}.`, table(columns, results()))];
  };
  const meter = (share) => { const bar = html("i"); bar.style.width = `${Math.min(100, 100 * share)}%`; return html("span", "meter", bar); };
  const list = (numbers) => (numbers || []).join("\u00d7");
  // What the operators take: the medians of their nodes, which no single slow run can spoil.
  const usual = (nodes) => {
    const sums = new Map();
    nodes.forEach((node) => sums.set(node.op, (sums.get(node.op) || 0) + node.median_ms));
    const all = [...sums.values()].reduce((sum, ms) => sum + ms, 0) || 1;
    return [...sums].sort((a, b) => b[1] - a[1]).map(([op, ms]) => [op, ms, ms / all]);
  };
  const timed = (item) => {
    const plain = item.plain, colours = palette(item.operators.map((entry) => entry.op)), [low, high] = plain.median_interval;
    const energy = item.energy.known ? Object.entries(item.energy.millijoules_a_run).map(([name, value]) => tile(`energy, ${name}`, `${digits(value)} mJ`, "a run")) : [];
    return [
      html("div", "tiles",
        tile("median", time(plain.median), `${percent(plain.confidence)} sure: ${time(low)} to ${time(high)}`),
        tile("99 of 100 within", time(plain.percentiles["99"]), `least ${time(plain.min)}, most ${time(plain.max)}`),
        tile("speed", `${Number((item.macs.total / plain.median / 1e6).toPrecision(3))} GMAC/s`, item.share_of_peak === null ? "" : `${percent(item.share_of_peak)} of what the processor can do`),
        tile("with statistics", time(item.observed.median), `${item.observed.median >= plain.median ? "+" : ""}${(100 * (item.observed.median / plain.median - 1)).toFixed(1)} % beside the plain run`),
        tile("until ready", time(item.create_ms), "create and prepare"), ...energy),
      ...(item.note ? [section("Note", "", html("p", "note", item.note))] : []),
      section("Rounds", "Each dot is a run. The line is the median, the band where the true median lies. Runs slower than 99 of 100 are at the upper edge.", rounds(item.rounds_ms, plain)),
      threadsOf(item, colours),
      section("By operator", "The medians of the nodes, added up.", bars(usual(item.nodes).map(([op, ms, share]) => [op, ms, `${time(ms)}, ${(100 * share).toFixed(1)} %`, colours.of(op)]))),
      ...(item.peak && item.peak.gmacs.f32 && item.nodes.some((node) => node.macs && node.share_of_peak !== null) ? [section("Roofline", "Each circle is a node, the larger the more of the time it takes. Solid: what memory and the arithmetic units allow; dashed: with everything in the nearest cache. Above the roof is what computes with fewer multiplications than are counted, such as Winograd's algorithms.", roofline(item.nodes.filter((node) => node.share_of_peak !== null), item.peak, colours), legend(colours))] : []),
      section("Nodes", "A click on a heading sorts.", table([
        ["#", (row) => row.index, { number: true, show: (row) => String(row.index) }], ["operator", (row) => row.op], ["name", (row) => row.name, { long: true }],
        ["average", (row) => row.avg_ms, { number: true, show: (row) => time(row.avg_ms) }], ["\u00b1", (row) => row.std_ms, { number: true, show: (row) => time(row.std_ms) }], ["%", (row) => row.percent, { number: true, show: (row) => row.percent.toFixed(1) }],
        ["GMAC/s", (row) => row.gmacs, { number: true, show: (row) => (row.macs ? digits(row.gmacs) : "") }], ["GB/s", (row) => row.gb_s, { number: true }],
        ["of peak", (row) => row.share_of_peak, { number: true, show: (row) => (row.share_of_peak === null ? "" : [percent(row.share_of_peak), meter(row.share_of_peak)]) }],
        ["limit", (row) => row.limit], ["output", (row) => list(row.output)], ["kernel", (row) => row.kernel, { code: true }],
      ], item.nodes)),
    ];
  };
  const counted = (item) => {
    const colours = palette(item.operators.map((entry) => entry.op));
    let passed = 0;
    const rows = item.nodes.map((node) => { const from = passed; passed += node.instructions; return [node.op, from, passed, `${node.op} ${node.name}\n${grouped(node.instructions)} instructions, ${node.kernel}`, colours.of(node.op)]; });
    const count = (number) => scaled(number, ["", " k", " M", " G"]);
    return [
      html("div", "tiles", tile("instructions", count(item.instructions), "of one run on one thread"), tile("memory accesses", count(item.accesses), "of at most 8 bytes each"), tile("multiplies at least", count(item.bound), item.ratio ? `${digits(item.ratio)} instructions for each` : "")),
      section("Note", "", html("p", "note", item.note)),
      section("Which instructions are whose", "", timeline(rows, count), legend(colours)),
      section("By operator", "", bars(item.operators.map((entry) => [entry.op, entry.instructions, `${count(entry.instructions)}, ${entry.percent.toFixed(1)} %`, colours.of(entry.op)]))),
      section("Nodes", "A click on a heading sorts.", table([
        ["#", (row) => row.index, { number: true, show: (row) => String(row.index) }], ["operator", (row) => row.op], ["name", (row) => row.name, { long: true }],
        ["instructions", (row) => row.instructions, { number: true, show: (row) => grouped(row.instructions) }], ["%", (row) => row.percent, { number: true, show: (row) => row.percent.toFixed(1) }],
        ["accesses", (row) => row.accesses, { number: true, show: (row) => grouped(row.accesses) }], ["MACs", (row) => row.macs, { number: true, show: (row) => grouped(row.macs) }],
        ["output", (row) => list(row.output)], ["kernel", (row) => row.kernel, { code: true }],
      ], item.nodes)),
    ];
  };
  const value = (entry, number) => (entry.unit === "seconds" ? time(number) : grouped(number));
  const compared = () => {
    const against = data.benchmark.against || [], before = data.benchmark.compared || [], shown = [];
    const interval = (row) => (row.interval ? `${digits(row.interval[0])} \u2026 ${digits(row.interval[1])}` : row.ratio ? "exact" : "");
    const where = [["model", (row) => row.model], ["abi", (row) => row.abi], ["device", (row) => row.device]];
    if (against.length) shown.push(section("Beside another library", "Both ran in turns. A ratio below 1 says that this library is faster.", table([...where, ["other", (row) => row.other, { code: true }],
      ["this", (row) => row.ratio, { number: true, show: (row) => value(row, row.own.median || row.own) }], ["other", (row) => row.ratio, { number: true, show: (row) => value(row, row.other_figures.median || row.other_figures) }],
      ["ratio", (row) => row.ratio, { number: true }], ["interval", interval, { number: true }], ["this one is", (row) => row.verdict]], against)));
    if (before.length) shown.push(section("Beside an earlier result", "Measured at another time: what is not counted but timed may differ because the machine was slower or faster then.", table([...where, ["before", (row) => row.before, { number: true, show: (row) => (row.found ? value(row, row.before) : "") }],
      ["now", (row) => row.after, { number: true, show: (row) => (row.found ? value(row, row.after) : "") }], ["ratio", (row) => row.ratio, { number: true }], ["interval", interval, { number: true }], ["", (row) => (row.found ? row.verdict : "not in the earlier run")]], before)));
    return shown;
  };
  // Of chips: what an emulator counted, and what follows from the layers.
  const onEmulators = () => ((data.benchmark || {}).emulated || []).map((item) => section(`${item.model} on ${item.abi}`, `One run on the emulated ${item.device}. Instructions are not cycles, and an emulator's time does not represent any processor.`,
    html("div", "tiles", tile("instructions", scaled(item.instructions, ["", " k", " M", " G"]), grouped(item.instructions)), tile("MACs", macs(item.macs), item.macs ? `${digits(item.instructions / item.macs)} instructions for each` : ""),
      tile("RAM", bytes(item.arena_bytes), "tensors and work buffers"), tile("stack", bytes(item.stack_bytes)), tile("code", bytes(item.code_bytes)), tile("constants", bytes(item.constant_bytes)))));
  const onSimulators = () => ((data.benchmark || {}).estimates || []).flatMap(({ model, abi, estimate }) => {
    const took = (cycles) => time(1000 * cycles / estimate.hertz), called = (row) => `${row.layer} ${row.name}`.trim(), about = estimate.rough ? "about " : "";
    const columns = [["layer", called, { long: true }], ["cycles", (row) => row.cycles, { number: true, show: (row) => `${row.rough ? "about " : ""}${grouped(row.cycles)}` }], ["time", (row) => row.cycles, { number: true, show: (row) => took(row.cycles) }],
      ["MACs", (row) => row.macs, { number: true, show: (row) => grouped(row.macs) }], ["processors", (row) => row.processors, { number: true, show: (row) => grouped(row.processors) }], ["busy", (row) => row.busy, { number: true, show: (row) => percent(row.busy) }],
      ...(estimate.layers.some((row) => row.joules !== undefined) ? [["energy, \u00b5J", (row) => row.joules, { number: true, show: (row) => digits(1e6 * row.joules) }]] : [])];
    return [
      html("div", "tiles", tile(`${model} on ${abi}`, took(estimate.cycles), `${about}estimated, at ${grouped(estimate.hertz / 1e6)} MHz`), tile("cycles", grouped(estimate.cycles), about.trim()), tile("multiplications", `${macs(estimate.macs)}MAC`, `${digits(estimate.macs / estimate.cycles)} a cycle`),
        ...(estimate.joules === undefined ? [] : [tile("energy", `${digits(1e6 * estimate.joules)} \u00b5J`, "by the given power")])),
      section("By layer", "Cycles follow from the layers; nothing was measured.", bars(estimate.layers.map((row) => [called(row), row.cycles, took(row.cycles), 0]))),
      section("Layers", "A click on a heading sorts.", table(columns, estimate.layers)),
    ];
  });
  const speed = () => {
    const chips = [...onEmulators(), ...onSimulators()];
    if (!measured().length) return chips.length ? chips : [section("Speed", "This build has not been measured yet: lathe bench does.")];
    return [...compared(), ...choice("speed", measured().map((item) => `${item.model}, ${item.abi}, ${item.device}`), (at) => (measured()[at].unit === "seconds" ? timed : counted)(measured()[at]))];
  };
  const device = () => measured().flatMap((item) => [
    section(`${item.device}, ${item.abi}`, `ran ${item.model}`, pairs(Object.entries(item.properties))),
    ...(item.peak ? [section(`What the processor of ${item.device} can do`, "", pairs([...Object.entries(item.peak.gmacs).map(([type, figure]) => [`GMAC/s of ${type} (${item.peak.source})`, digits(figure)]), ...item.peak.reading.map((entry) => [entry.bytes ? `GB/s from ${bytes(entry.bytes)}` : "GB/s", digits(entry.gb_s)])]))] : []),
  ]);
  const placed = data.build.models.flatMap((model) => model.plans.filter((plan) => plan.placement).map((plan) => ({ model: model.name, abi: plan.abi, ...plan.placement })));
  const placement = () => choice("placement", placed.map((item) => `${item.model}, ${item.abi}`), (at) => {
    const item = placed[at], took = (nanoseconds) => (nanoseconds === null ? "unknown" : time(nanoseconds / 1e6));
    const rows = (item.nodes || []).map((node, index) => ({ ...node, index }));
    return [
      html("div", "tiles",
        tile("nodes on the device", grouped(item.on_gpu), `${grouped(item.on_cpu)} on the CPU, runtime ${item.runtime}`),
        tile("copies", grouped(item.copy_count), `of ${item.regions} ${item.regions === 1 ? "region" : "regions"}`),
        tile("estimate", took(item.cost_ns), `least possible ${took(item.least_ns)}`),
        tile("each node by itself", took(item.greedy_cost_ns), `${grouped(item.greedy_copies)} copies`),
        tile("all on the CPU", took(item.cpu_cost_ns), "")),
      ...(rows.length ? [section("Where nodes run", "A click on a heading sorts.", table([
        ["#", (row) => row.index, { number: true, show: (row) => String(row.index) }], ["node", (row) => row.node, { long: true }], ["op", (row) => row.op],
        ["runs on", (row) => (row.side === "device" ? "device" : "CPU")], ["region", (row) => (row.region === null ? -1 : row.region), { number: true, show: (row) => (row.region === null ? "" : String(row.region)) }],
        ["why", (row) => row.reason.replace(/^\w+: /, ""), { long: true }],
      ], rows))] : []),
      ...((item.copies || []).length ? [section("Copies", "", table([
        ["value", (row) => row.value, { long: true }], ["to", (row) => (row.to === "device" ? "device" : "CPU")], ["region", (row) => row.region, { number: true, show: (row) => String(row.region) }],
        ["estimate", (row) => row.cost_ns, { number: true, show: (row) => took(row.cost_ns) }],
      ], item.copies))] : []),
    ];
  });
  const tryIt = () => choice("run", Object.keys(data.live.models), (at) => [live.page(data.live, Object.keys(data.live.models)[at])]);
  const manifest = () => {
    const structured = (entry) => typeof entry === "object" && entry !== null;
    const text = (entry) => (Array.isArray(entry) && !entry.some(structured) ? entry.join(", ") : structured(entry) ? JSON.stringify(entry) : String(entry === undefined || entry === null ? "" : entry));
    const leaves = (name, entry) => (structured(entry) && !Array.isArray(entry) ? Object.entries(entry).flatMap(([key, inner]) => leaves(`${name} ${key}`.trim(), inner)) : [[name, text(entry)]]);
    const part = ([key, content]) => {
      const title = key.charAt(0).toUpperCase() + key.slice(1).replaceAll("_", " ");
      if (!Array.isArray(content) || !content.every(structured)) return section(title, "", pairs(leaves("", content)));
      const keys = inOrder([...new Set(content.flatMap(Object.keys))], ["name", "path", "abi", "file", "role", "bytes"]);
      return section(title, "", table(keys.map((name) => [name.replaceAll("_", " "), (row) => text(row[name]), { code: true }]), content));
    };
    const entries = Object.entries(data.manifest), plain = entries.filter(([, content]) => !structured(content));
    return [...(plain.length ? [section("Build", "", pairs(plain.map(([key, content]) => [key.replaceAll("_", " "), text(content)])))] : []), ...entries.filter(([, content]) => structured(content)).map(part)];
  };

  const graphs = Object.entries(data.pages.graphs);
  const PAGES = [
    ["overview", "Overview", overview, true],
    ["graph", "Graph", () => framed("graph", graphs), graphs.length > 0, true],
    ["sizes", "Sizes", () => framed("sizes", [["sizes", data.pages.sizes]]), Boolean(data.pages.sizes), true],
    ["memory", "Memory", memory, data.memory.length > 0],
    ["placement", "devices", placement, placed.length > 0],
    ["validation", "Validation", validation, true],
    ["speed", "Speed", speed, true],
    ["device", "Device", device, measured().length > 0],
    ["run", "Run", tryIt, Boolean(data.live)],
    ["manifest", "Manifest", manifest, Object.keys(data.manifest).length > 0],
  ].filter((page) => page[3]);
  get("figures").textContent = `Lathe ${data.build.version}`;
  showPages(main, PAGES);
})();
