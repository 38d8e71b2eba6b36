(() => {
  const details = get("details"), search = get("search");
  const KINDS = {
    layer: "Layers", norm: "Normalisation", activation: "Activations", arithmetic: "Arithmetic",
    reduction: "Pooling, reductions", movement: "Data movement", type: "Type conversion", input: "Inputs, outputs",
  };
  const COSTS = 12; // rows of the list of the most expensive nodes
  const macs = (number) => scaled(number, [" MAC", " kMAC", " MMAC", " GMAC", " TMAC"]);
  const both = (words, number) => (number < 1000 ? words : words + " (" + grouped(number) + ")");
  const time = (ms) => (ms >= 0.1 || ms === 0 ? digits(ms) + " ms" : digits(ms * 1000) + " \u00b5s");
  const last = data.graphs.length - 1;
  data.graphs.forEach((graph) => { graph.items = graph.items.map((number) => data.nodes[number]); });
  // What was measured, each of one graph. Those of one title have one scale of colours.
  const measured = data.measured.map(({ title, unit, boxes, graph }) => {
    const all = boxes.reduce((sum, box) => sum + box[1], 0) || 1, ranked = [...boxes].sort((a, b) => b[1] - a[1]);
    const most = Math.max(...data.measured.filter((other) => other.title === title).flatMap((other) => other.boxes.map((box) => box[1])), 0) || 1;
    return { title, graph, ranked, most, all, of: new Map(boxes.map((box) => [box[0], box])), words: (cost) => (unit === "seconds" ? time(cost) : grouped(cost) + " instructions") };
  });
  const titles = [...new Set(measured.map((costs) => costs.title))];
  const costsOf = (pane) => measured.filter((costs) => costs.graph === pane.stage);
  const chosenCosts = (pane) => costsOf(pane).find((costs) => costs.title === titles[colour]);
  let panes = [], matches = [], match = -1, colour = -1;

  // -- which nodes of two graphs belong together ---------------------------------------------------------------------
  const namesOf = (value) => [value.name, ...(value.from || [])];
  const keysOf = (item) => {
    const values = item.kind === "output" ? item.inputs : item.outputs;
    return values.flatMap((number) => namesOf(data.values[number]));
  };
  const index = (graph) => {
    if (graph.index) return graph.index;
    graph.index = { made: new Map(), named: new Map() };
    graph.items.forEach((item, at) => {
      if (item.kind === "output") return;
      keysOf(item).forEach((key) => graph.index.made.set(key, [...(graph.index.made.get(key) || []), at]));
      if (item.name) graph.index.named.set(item.name, [...(graph.index.named.get(item.name) || []), at]);
    });
    return graph.index;
  };
  // The nodes of `other` that make the values of this one, or have its name; else those of the nodes behind it.
  const counterparts = (graph, at, other) => {
    const seen = new Set([at]);
    for (let ring = [at]; ring.length && seen.size < 200; ) {
      for (const box of ring) {
        const item = graph.items[box], { made, named } = index(other);
        const found = [...new Set(keysOf(item).flatMap((key) => made.get(key) || []))];
        if (found.length) return found;
        if (item.name && named.has(item.name)) return named.get(item.name);
      }
      ring = graph.edges.filter((edge) => ring.includes(edge[0]) && !seen.has(edge[1])).map((edge) => edge[1]);
      ring.forEach((box) => seen.add(box));
    }
    return [];
  };

  // -- details -------------------------------------------------------------------------------------------------------
  const list = (pairs) => {
    const element = html("dl");
    for (const [key, value] of pairs) element.append(html("dt", "", key), html("dd", "", value));
    return element;
  };
  const title = (text) => html("h3", "", text);
  const heading = (kind, text) => html("h2", kind, ...(kind ? [html("span", "dot")] : []), html("span", "", text));
  const spread = (found, ends, words) => {
    const zeros = found.zeros ? `, ${(100 * found.zeros).toPrecision(2)} % zeros` : "", odd = found.odd ? `, ${grouped(found.odd)} NaN or infinite` : "";
    const sampled = found.every > 1 ? ` Of every ${grouped(found.every)}th element.` : "";
    return html("div", "spread", histogram(found, ends), html("div", "ends", html("span", "", short(found.low)), html("span", "", short(found.high))),
      html("div", "", `${words}mean ${short(found.mean)}, deviation ${short(found.deviation)}${zeros}${odd}; bars by logarithm.${sampled}`));
  };
  const valueCard = (pane, number, neighbours) => {
    const value = data.values[number], card = html("div", "value");
    const name = html("b", "", value.name), type = html("div", "", [value.type, value.bytes ? both(bytes(value.bytes), value.bytes) : ""].filter(Boolean).join(" \u00b7 "));
    if (neighbours.length) neighbours.forEach((box, at) => {
      const link = html("button", "", at ? html("b", "", `, ${pane.graph.items[box].op}`) : name);
      link.addEventListener("click", () => { choose(pane, box); pane.reveal(box); });
      card.append(link);
    });
    else card.append(name);
    card.append(type);
    if (value.from) card.append(html("div", "", "in the source: " + value.from.join(", ")));
    if (value.range) card.append(html("div", "", value.range.length ? `stored in ${value.bits} bits: ${short(value.range[0])} to ${short(value.range[1])}` : `stored in ${value.bits} bits, a range for each channel`));
    if (value.constant) card.append(html("code", "", value.constant));
    if (value.spread) card.append(spread(value.spread, value.range || [], ""));
    for (const { title: where, values } of data.layers.filter((found) => found.graph === pane.stage)) {
      const layer = values[value.name];
      if (!layer) continue;
      card.append(html("div", layer.passed ? "" : "wrong", `${where}: cosine ${layer.cosine.toFixed(6)}, largest error ${short(layer.error)} of the largest value${layer.passed ? "" : ", failed"}`));
      if (layer.spread) card.append(spread(layer.spread, value.range || [], ""));
    }
    return card;
  };
  const bar = (kind, text, share, count, action) => {
    const fill = html("i"), row = html("button", `bar ${kind}`, html("span", "", text), html("span", "track", fill), html("span", "count", count));
    fill.style.width = `${100 * share}%`;
    row.addEventListener("click", action);
    return row;
  };
  const searchFor = (text) => { search.value = search.value === text ? "" : text; look(); };
  // What a node is by itself, whatever the values around it are called.
  const itself = (item) => JSON.stringify([item.op, item.name, item.sub, item.attributes, item.inputs.filter((number) => data.values[number].constant !== undefined)]);
  const strangers = (graph, other) => {
    const known = new Set(other.items.map(itself));
    return graph.items.flatMap((item, at) => (known.has(itself(item)) ? [] : [at]));
  };
  // What a pass has changed: how many nodes are new, and how many are gone.
  const change = (pane) => {
    if (!pane.graph.pass) return [];
    const gone = strangers(data.graphs[pane.stage - 1], pane.graph).length;
    return [title("Change"), html("p", "", `${grouped(pane.fresh.length)} nodes are new or different (framed), ${grouped(gone)} of the stage before are gone or different.`)];
  };
  const overview = (pane) => {
    const { graph } = pane, counts = new Map();
    graph.items.forEach((item) => { if (item.kind !== "input" && item.kind !== "output") counts.set(item.op, [(counts.get(item.op) || [0])[0] + 1, item.kind]); });
    const order = [...counts].sort((a, b) => b[1][0] - a[1][0] || (a[0] < b[0] ? -1 : 1)), most = order.length ? order[0][1][0] : 1;
    const border = (kind) => graph.items.flatMap((item, at) => (item.kind === kind ? [[kind === "input" ? item.outputs[0] : item.inputs[0], at]] : [])).map(([number, at]) => valueCard(pane, number, [at]));
    const facts = [["nodes", grouped(graph.nodes)], ...(graph.macs ? [["work", both(macs(graph.macs), graph.macs)]] : []), ["weights", both(bytes(graph.weights), graph.weights)], ...graph.symbols.map((text) => ["size", text])];
    const costs = chosenCosts(pane);
    details.replaceChildren(
      heading("", graph.title), html("p", "", `${graph.about || ""} Lathe ${data.version}. Click a node to see what it is.`.trim()), ...change(pane),
      title("Totals"), list(facts),
      ...(costs ? [title(`Most expensive: ${costs.title}`), ...costs.ranked.slice(0, COSTS).map(([box, cost]) => bar("heat", graph.items[box].op, cost / costs.most, costs.words(cost), () => { choose(pane, box); pane.reveal(box); }))] : []),
      title("Operators"), ...order.map(([op, [count, kind]]) => bar(kind, op, count / most, String(count), () => searchFor(op))),
      title("Inputs"), ...border("input"), title("Outputs"), ...border("output"),
    );
  };
  const describe = (pane, at) => {
    const { graph } = pane, item = graph.items[at], facts = [];
    const makers = (value) => graph.edges.filter((edge) => edge[1] === at && edge[2] === value).map((edge) => edge[0]);
    const readers = (value) => graph.edges.filter((edge) => edge[0] === at && edge[2] === value).map((edge) => edge[1]);
    if (item.macs) facts.push(["work", both(macs(item.macs), item.macs)], ["share", `${(100 * item.macs / graph.macs).toFixed(1)} % of the model`]);
    if (item.weights) facts.push(["weights", both(bytes(item.weights), item.weights)]);
    for (const costs of costsOf(pane)) {
      const cost = costs.of.get(at);
      if (cost) facts.push([costs.title, `${costs.words(cost[1])}, ${(100 * cost[1] / costs.all).toFixed(1)} %, number ${costs.ranked.indexOf(cost) + 1} of ${costs.ranked.length}`], ["kernel", cost[2]]);
    }
    const parts = [heading(item.kind, item.op), html("p", "", item.name || (KINDS[item.kind] ? "" : item.kind))];
    if (facts.length) parts.push(title("Cost"), list(facts));
    if (item.attributes.length) parts.push(title("Attributes"), list(item.attributes));
    if (item.inputs.length) parts.push(title("Inputs"), ...item.inputs.map((value) => valueCard(pane, value, makers(value))));
    if (item.outputs.length) parts.push(title("Outputs"), ...item.outputs.map((value) => valueCard(pane, value, readers(value))));
    details.replaceChildren(...parts);
    details.scrollTop = 0;
  };
  const choose = (pane, at) => {
    panes.forEach((other) => {
      const peers = other === pane || at < 0 ? [] : counterparts(pane.graph, at, other.graph);
      other.chosen = other === pane ? at : -1;
      other.choose(other.chosen);
      other.mark("peer", peers);
      if (peers.length) other.reveal(peers[0]);
    });
    if (at >= 0) describe(pane, at); else overview(pane);
    remember();
  };

  // -- stages --------------------------------------------------------------------------------------------------------
  const show = (pane, stage) => {
    pane.stage = stage;
    pane.graph = data.graphs[stage];
    pane.chosen = -1;
    pane.select.value = String(stage);
    pane.before.disabled = stage === 0;
    pane.after.disabled = stage === last;
    pane.figures.textContent = `${grouped(pane.graph.nodes)} nodes \u00b7 ${bytes(pane.graph.weights)}`;
    pane.show(pane.graph);
    pane.fresh = pane.graph.pass ? strangers(pane.graph, data.graphs[stage - 1]) : [];
    pane.mark("fresh", pane.fresh);
    warm(pane);
    look();
    overview(pane);
    remember();
  };
  const newPane = (stage) => {
    const select = html("select", ""), before = html("button", "", "\u2039"), after = html("button", "", "\u203a"), figures = html("span", "figures");
    let passes = 0;
    select.setAttribute("aria-label", "Stage");
    select.append(...data.graphs.map((graph, at) => { const option = html("option", "", graph.pass ? `${passes += 1}. ${graph.title}` : graph.title); option.value = String(at); return option; }));
    before.title = "The stage before";
    after.title = "The next stage";
    const pane = { select, before, after, figures };
    Object.assign(pane, graphPane(html("div", "stage", before, select, after, figures), (at) => choose(pane, at)));
    select.addEventListener("change", () => show(pane, Number(select.value)));
    before.addEventListener("click", () => show(pane, pane.stage - 1));
    after.addEventListener("click", () => show(pane, pane.stage + 1));
    panes.push(pane);
    get("panes").append(pane.element);
    show(pane, stage);
    return pane;
  };
  // The stage on the left in front of the one that was shown, which is on the right then.
  const beside = (stage) => {
    const [main] = panes, stages = panes.map((pane) => pane.stage);
    panes = [];
    get("panes").replaceChildren();
    if (stage !== null) newPane(stage);
    newPane(stages[stages.length - 1]);
    get("beside").setAttribute("aria-pressed", String(panes.length > 1));
    panes.forEach((pane) => { show(pane, pane.stage); }); // each has half of the room now
    return main;
  };
  const remember = () => {
    const main = panes[panes.length - 1], other = panes.length > 1 ? `+${panes[0].stage}` : "";
    try { history.replaceState(null, "", `#${main.stage}${main.chosen >= 0 ? "/" + main.chosen : ""}${other}`); } catch (problem) { /* embedded */ }
  };

  // -- colours -------------------------------------------------------------------------------------------------------
  const warm = (pane) => {
    const costs = chosenCosts(pane);
    pane.heat(costs ? pane.graph.items.map((item, at) => (costs.of.has(at) ? Math.sqrt(costs.of.get(at)[1] / costs.most) : 0)) : null);
  };
  const paint = (next) => {
    colour = next;
    get("colour").value = String(next);
    panes.forEach(warm);
    const kinds = Object.entries(KINDS).map(([kind, text]) => html("li", kind, html("span", "dot"), html("span", "", text)));
    const warmest = measured.find((costs) => costs.title === titles[colour]);
    get("legend").replaceChildren(...(warmest ? [html("li", "scale", html("span", "", "0"), html("i"), html("span", "", warmest.words(warmest.most)))] : kinds));
    if (panes.length) choose(panes[panes.length - 1], panes[panes.length - 1].chosen);
  };

  // -- search --------------------------------------------------------------------------------------------------------
  const words = (pane, item, at) => {
    const values = [...item.inputs, ...item.outputs].map((number) => data.values[number]);
    const kernels = costsOf(pane).flatMap((costs) => (costs.of.has(at) ? [costs.of.get(at)[2]] : []));
    return [item.op, item.name, ...kernels, ...values.flatMap((value) => namesOf(value))].join("\n").toLowerCase();
  };
  const look = () => {
    const wanted = search.value.trim().toLowerCase();
    matches = [];
    panes.forEach((pane) => {
      if (!pane.graph) return;
      // A word that is the name of an operator means that operator, not all that stands beside it.
      const exact = pane.graph.items.some((item) => item.op.toLowerCase() === wanted);
      const fits = (item, at) => (exact ? item.op.toLowerCase() === wanted : words(pane, item, at).includes(wanted));
      const found = wanted ? pane.graph.items.flatMap((item, at) => (fits(item, at) ? [at] : [])) : null;
      pane.found(found);
      matches.push(...(found || []).map((at) => [pane, at]));
    });
    match = -1;
    get("found").textContent = wanted ? String(matches.length) : "";
  };
  const next = (step) => {
    if (!matches.length) return;
    match = (match + step + matches.length + (match < 0 && step < 0 ? 1 : 0)) % matches.length;
    get("found").textContent = `${match + 1} / ${matches.length}`;
    const [pane, at] = matches[match];
    choose(pane, at);
    pane.reveal(at);
  };

  // -- events --------------------------------------------------------------------------------------------------------
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { search.value = ""; look(); search.blur(); }
    event.stopPropagation();
  });
  const toggle = () => { beside(panes.length > 1 ? null : data.beside || 0); };
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const each = (action) => () => panes.forEach(action);
    const actions = {
      "/": () => search.focus(), b: toggle, Escape: () => choose(panes[panes.length - 1], -1),
      "+": each((pane) => pane.zoomMiddle(1.25)), "-": each((pane) => pane.zoomMiddle(0.8)), 0: each((pane) => pane.fit()),
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  });
  get("beside").addEventListener("click", toggle);
  get("beside").hidden = data.graphs.length < 2;
  get("colour").append(...[["kind of operator", -1], ...titles.map((text, at) => [text, at])].map(([text, at]) => { const option = html("option", "", text); option.value = String(at); return option; }));
  get("colour").addEventListener("change", () => paint(Number(get("colour").value)));
  get("colours").hidden = !measured.length;

  const [, at, box, other] = /^#(\d+)(?:\/(\d+))?(?:\+(\d+))?$/.exec(location.hash) || [];
  newPane(data.graphs[at] ? Number(at) : last);
  const left = other !== undefined ? Number(other) : data.beside;
  if (data.graphs[left]) beside(left);
  paint(titles.length ? 0 : -1);
  const main = panes[panes.length - 1];
  if (box !== undefined && main.graph.items[box]) { choose(main, Number(box)); main.reveal(Number(box)); }
})();
