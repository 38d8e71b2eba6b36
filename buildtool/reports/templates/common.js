"use strict";
// What all pages share. Text from models, libraries and devices is only ever set as text content or attribute value:
// nothing here or in a page parses it as markup.
const { data, get, html, make, titled, grouped, scaled, bytes, short, digits, histogram } = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const get = (id) => document.getElementById(id);
  const data = JSON.parse(get("data").textContent);
  document.documentElement.classList.toggle("embedded", window.parent !== window);
  const html = (tag, name, ...parts) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...parts);
    return element;
  };
  const make = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const titled = (element, text) => { element.append(make("title", {}, text)); return element; };

  const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const scaled = (number, units, base = 1000) => {
    let unit = 0;
    while (number >= base && unit < units.length - 1) { number /= base; unit += 1; }
    return (unit ? number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0) : String(Math.round(number))) + units[unit];
  };
  const bytes = (number) => scaled(number, [" B", " KiB", " MiB", " GiB"], 1024);
  const short = (number) => String(Number(number.toPrecision(4)));
  const digits = (number) => (number === 0 ? "0" : Math.abs(number) >= 100 ? number.toFixed(1) : Math.abs(number) >= 1 ? number.toFixed(3) : number.toPrecision(3));

  // How often numbers lie where, by logarithm, as most of them are near zero; `ends`: of what is stored of them.
  const WIDTH = 240, HEIGHT = 36;
  const histogram = ({ low, high, counts }, ends = []) => {
    const picture = make("svg", { class: "histogram", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    const most = Math.log1p(Math.max(...counts, 1)), step = WIDTH / counts.length;
    picture.setAttribute("aria-label", `${counts.length} bars from ${short(low)} to ${short(high)}`);
    counts.forEach((count, index) => {
      const height = (HEIGHT * Math.log1p(count)) / most, from = low + ((high - low) * index) / counts.length, to = low + ((high - low) * (index + 1)) / counts.length;
      if (count) picture.append(titled(make("rect", { x: index * step, y: HEIGHT - height, width: Math.max(step - 1, 1), height }), `${short(from)} to ${short(to)}: ${grouped(count)}`));
    });
    for (const end of ends) {
      const x = high > low ? Math.min(WIDTH, Math.max(0, (WIDTH * (end - low)) / (high - low))) : 0;
      picture.append(titled(make("line", { x1: x, x2: x, y1: 0, y2: HEIGHT }), `stored from or to ${short(end)}`));
    }
    return picture;
  };
  return { data, get, html, make, titled, grouped, scaled, bytes, short, digits, histogram };
})();
