// Sections, tables and charts of pages with figures.
const { section, tile, macs, time, bare, tick, percent, threads, ticks, table, pairs, inOrder, chart, redraw, forgetCharts, palette, legend, letters, bars, showPages } = (() => {
  const CARDS = 12; // rows that are cards on a phone; tables of more are scrolled
  const COLOURS = 8; // the last one is that of everything else

  const section = (title, text, ...parts) => html("section", "", html("h2", "", title), ...(text ? [html("p", "", text)] : []), ...parts);
  const tile = (label, value, more) => html("div", "tile", html("div", "label", label), html("div", "value", value), html("div", "more", more || ""));

  // -- numbers ---------------------------------------------------------------------------------------------------
  const macs = (number) => scaled(number, ["", " k", " M", " G", " T"]);
  const time = (ms) => (ms >= 1000 ? digits(ms / 1000) + " s" : ms >= 0.1 || ms === 0 ? digits(ms) + " ms" : digits(ms * 1000) + " \u00b5s");
  const bare = (text) => text.replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, ""); // without zeros at the end
  const tick = (ms) => (ms === 0 ? "0" : bare(time(ms)));
  const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
  const threads = (count) => (count < 1 ? "all cores" : count === 1 ? "1 thread" : `${count} threads`);
  // Round steps of an axis, at most `most` of them.
  const ticks = (low, high, most) => {
    const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power, found = [];
    for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
    return found;
  };

  // -- tables ----------------------------------------------------------------------------------------------------
  // columns: [title, value of a row, {number, code, long, show, sort}]
  const table = (columns, rows) => {
    const body = html("tbody"), head = html("tr");
    const cell = ([label, value, how = {}], row) => {
      const content = how.show ? how.show(row) : value(row);
      const element = html("td", how.number ? "number" : how.code ? "code" : how.long ? "long" : "");
      element.dataset.label = label;
      element.append(...(Array.isArray(content) ? content : [content === null || content === undefined ? "" : typeof content === "number" ? digits(content) : content]));
      return element;
    };
    const fill = (list) => body.replaceChildren(...list.map((row) => html("tr", "", ...columns.map((column) => cell(column, row)))));
    columns.forEach((column) => {
      const button = html("button", "", column[0]), heading = html("th", (column[2] || {}).number ? "number" : "", button);
      button.addEventListener("click", () => {
        const upwards = heading.getAttribute("aria-sort") === "descending";
        [...head.children].forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", upwards ? "ascending" : "descending");
        const key = (row) => { const value = column[1](row); return value === null || value === undefined ? -Infinity : value; };
        const order = [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
        fill(upwards ? order : order.reverse());
      });
      head.append(heading);
    });
    fill(rows);
    return html("div", "scroll", html("table", rows.length <= CARDS ? "cards" : "", html("thead", "", head), body));
  };
  const pairs = (entries) => html("div", "scroll", html("table", "pairs", html("tbody", "", ...entries.map(([key, value]) => html("tr", "", html("td", "", key), html("td", "code", String(value)))))));

  // Names with those first that a reader looks for.
  const inOrder = (names, first) => [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];

  // -- charts ----------------------------------------------------------------------------------------------------
  let charts = []; // of the shown page, drawn again when its width changes
  const forgetCharts = () => { charts = []; };
  const chart = (height, draw) => {
    const svg = make("svg", { height, role: "img" });
    charts.push(() => { const width = Math.max(240, svg.getBoundingClientRect().width); svg.replaceChildren(...draw(width, height)); });
    return svg;
  };
  const redraw = () => charts.forEach((draw) => draw());
  const palette = (names) => {
    const order = [...new Set(names)];
    return { of: (name) => Math.min(order.indexOf(name), COLOURS - 1), order };
  };
  const legend = (colours) => {
    const shown = colours.order.slice(0, COLOURS - 1).map((name, at) => html("li", `k${at}`, html("span", "dot"), name));
    if (colours.order.length === COLOURS) shown.push(html("li", `k${COLOURS - 1}`, html("span", "dot"), colours.order[COLOURS - 1]));
    if (colours.order.length > COLOURS) shown.push(html("li", `k${COLOURS - 1}`, html("span", "dot"), "others"));
    return html("ul", "legend", ...shown);
  };
  const letters = (text, width) => { const room = Math.floor(width / 6.6); return room < 4 ? "" : text.length > room ? text.slice(0, room - 1) + "\u2026" : text; };

  // Bars from left to right: [name, amount, label, colour].
  const bars = (rows) => chart(rows.length * 26 + 4, (width) => {
    const left = Math.min(210, width * 0.34, Math.max(...rows.map(([name]) => name.length)) * 7.4 + 14), right = 126;
    const most = Math.max(...rows.map(([, amount]) => amount)) || 1;
    return rows.flatMap(([name, amount, label, colour], at) => {
      const y = at * 26 + 3, length = Math.max(1, (width - left - right) * amount / most);
      return [
        make("text", { class: "end strong", x: left - 10, y: y + 14 }, letters(name, left - 10)),
        titled(make("rect", { class: `bar k${colour}`, x: left, y, width: length, height: 19, rx: 3 }), `${name}: ${label}`),
        make("text", { x: left + length + 8, y: y + 14 }, label),
      ];
    });
  });

  // Tabs for pages, the chosen one named in the address: [name, title, build, ..., whether it fills the window].
  const showPages = (main, pages) => {
    const show = (at, remember) => {
      const [name, , build, , whole] = pages[at];
      forgetCharts();
      main.className = whole ? "whole" : "";
      main.replaceChildren();
      if (whole) main.append(...build()); else main.append(html("div", "content", ...build()));
      redraw();
      main.scrollTop = 0;
      [...get("switch").children].forEach((tab, index) => tab.setAttribute("aria-selected", String(index === at)));
      if (remember) try { history.replaceState(null, "", `#${name}`); } catch (problem) { /* embedded */ }
    };
    get("switch").append(...pages.map(([, title], at) => {
      const tab = html("button", "", title);
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => show(at, true));
      return tab;
    }));
    const wanted = () => Math.max(0, pages.findIndex(([name]) => `#${name}` === location.hash));
    window.addEventListener("hashchange", () => show(wanted(), false));
    window.addEventListener("resize", redraw);
    show(wanted(), false);
  };
  return { section, tile, macs, time, bare, tick, percent, threads, ticks, table, pairs, inOrder, chart, redraw, forgetCharts, palette, legend, letters, bars, showPages };
})();
