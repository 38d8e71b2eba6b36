(() => {
  const main = get("main");
  const NODES = 30;
  const words = (number, unit) => (number === null ? "" : unit === "ms" ? time(number) : unit === "bytes" ? grouped(number) + " B" : Number.isInteger(number) ? grouped(number) : Number(number.toPrecision(7)).toString());
  const LEAST = 0.0005; // what rounds to nothing
  const change = (before, after) => {
    if (before === after) return "=";
    if (!before) return "new";
    const share = after / before - 1;
    return Math.abs(share) < LEAST ? "below 0.1 %" : `${share > 0 ? "+" : "\u2212"}${(100 * Math.abs(share)).toFixed(1)} %`;
  };
  // What became less is good news, but for the agreement with the source.
  const verdict = (row) => (Math.abs(row.after - row.before) <= LEAST * row.before ? "" : (row.after < row.before) === !row.what.endsWith("cosine") ? "ok" : "wrong");

  // Bars to both sides of a line: [name, difference, label].
  const differences = (rows) => chart(rows.length * 26 + 4, (width) => {
    const left = Math.min(210, width * 0.34), room = (width - left) / 2 - 76, middle = left + (width - left) / 2, most = Math.max(...rows.map((row) => Math.abs(row[1]))) || 1;
    return [
      ...rows.flatMap(([name, amount, label], at) => {
        const y = at * 26 + 3, length = Math.max(1, room * Math.abs(amount) / most), less = amount < 0;
        return [
          make("text", { class: "end strong", x: left - 10, y: y + 14 }, letters(name, left - 10)),
          titled(make("rect", { class: `bar ${less ? "less" : "more"}`, x: less ? middle - length : middle, y, width: length, height: 19, rx: 3 }), `${name}: ${label}`),
          make("text", { class: less ? "end" : "", x: less ? middle - length - 8 : middle + length + 8, y: y + 14 }, label),
        ];
      }),
      make("line", { class: "axis", x1: middle, x2: middle, y1: 0, y2: rows.length * 26 }),
    ];
  });
  const changed = (pair) => Object.entries(pair).map(([name, [before, after]]) => [name, (after || 0) - (before || 0)]).filter((row) => row[1]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const signed = (number) => (number > 0 ? "+" : "\u2212") + grouped(Math.abs(number));
  // The tiles are what took another time, then what else is another one.
  const rank = (row) => (row.unit === "ms" || row.unit === "instructions" ? 0 : row.before === row.after ? 2 : 1);
  const foremost = [...data.figures].sort((a, b) => rank(a) - rank(b)).slice(0, 4);
  const figures = () => [
    html("div", "tiles", ...foremost.map((row) => tile(row.what, change(row.before, row.after), `${words(row.before, row.unit)} \u2192 ${words(row.after, row.unit)}`))),
    section("Figures", `Before: ${data.before}. After: ${data.after}.`, table([
      ["", (row) => row.what], ["before", (row) => row.before, { number: true, show: (row) => words(row.before, row.unit) }], ["after", (row) => row.after, { number: true, show: (row) => words(row.after, row.unit) }],
      ["change", (row) => (row.before ? row.after / row.before : 0), { number: true, show: (row) => [html("span", verdict(row), change(row.before, row.after))] }],
    ], data.figures)),
    ...Object.entries(data.operators).flatMap(([model, pair]) => (changed(pair).length ? [section(`Nodes of ${model}`, "By operator: how many more or fewer.", differences(changed(pair).map(([name, amount]) => [name, amount, signed(amount)])))] : [])),
  ];
  const sizes = () => Object.entries(data.sizes).flatMap(([abi, pair]) => {
    const rows = changed(pair), kernels = data.kernels[abi], list = Object.entries(kernels).flatMap(([word, names]) => names.map((name) => [word, name]));
    return [
      section(`Bytes by operator, ${abi}`, rows.length ? "What the library became larger or smaller by." : "Equal in both builds.", ...(rows.length ? [differences(rows.map(([name, amount]) => [name, amount, signed(amount)]))] : [])),
      ...(list.length ? [section(`Kernels, ${abi}`, "", table([["", ([word]) => word], ["kernel", (row) => row[1], { code: true }]], list))] : []),
    ];
  });
  const speed = () => data.speed.map((row) => {
    const unit = row.unit === "seconds" ? "ms" : "", nodes = row.nodes.filter((node) => node.difference).slice(0, NODES);
    const interval = row.interval ? ` The ratio is between ${digits(row.interval[0])} and ${digits(row.interval[1])}.` : "";
    return section(`${row.model} on ${row.abi}, ${row.device}: ${row.verdict}`, `${words(row.before, unit)} before, ${words(row.after, unit)} after.${interval} Below, the nodes whose cost changed most. The runs were not side by side: the machine may have been slower or faster.`,
      differences(nodes.map((node) => [`${node.op} ${node.name}`, node.difference, `${node.difference > 0 ? "+" : "\u2212"}${words(Math.abs(node.difference), unit)}`])));
  });
  const graph = () => Object.entries(data.graphs).map(([name, page]) => { const element = html("iframe"); element.title = name; element.srcdoc = page; return element; });

  const PAGES = [
    ["figures", "Figures", figures, true],
    ["sizes", "Sizes", sizes, Object.keys(data.sizes).length > 0],
    ["speed", "Speed", speed, data.speed.length > 0],
    ["graph", "Graph", graph, Object.keys(data.graphs).length > 0, true],
  ].filter((page) => page[3]);
  showPages(main, PAGES);
})();
