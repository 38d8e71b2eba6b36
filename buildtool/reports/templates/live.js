
// A page that runs the models that it reports on: `lathe build --report-live`. Files that are dropped on an input become
// its elements; nothing leaves the page.
const live = (() => {
  // -- files become elements -------------------------------------------------------------------------------------
  const NPY = {
    "<f4": Float32Array, "<f8": Float64Array, "<f2": Uint16Array, "|i1": Int8Array, "|u1": Uint8Array, "|b1": Uint8Array, "<i2": Int16Array,
    "<u2": Uint16Array, "<i4": Int32Array, "<u4": Uint32Array, "<i8": BigInt64Array, "<u8": BigUint64Array,
  };
  const ARRAYS = {
    float32: Float32Array, float64: Float64Array, float16: Uint16Array, bfloat16: Uint16Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array,
    int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  };
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const letters = (raw, from, to) => String.fromCharCode(...raw.subarray(from, to));
  // A number from the bits of a half.
  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, rest = bits & 1023;
    return sign * (exponent === 31 ? (rest ? NaN : Infinity) : exponent ? 2 ** (exponent - 15) * (1 + rest / 1024) : 2 ** -24 * rest);
  };
  // The nearest half, as its bits.
  const halved = (value) => {
    const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0, size = Math.abs(value);
    if (Number.isNaN(value)) return 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    const exponent = Math.max(-14, Math.floor(Math.log2(size || 2 ** -24))), scaled = size / 2 ** (exponent - 10);
    const whole = Math.floor(scaled), rest = scaled - whole, rounded = whole + (rest > 0.5 || (rest === 0.5 && whole % 2) ? 1 : 0);
    return sign | (rounded >= 1024 ? ((exponent + 14) << 10) + rounded : rounded);
  };
  // Numbers as the elements of a tensor.
  const fit = (tensor, values) => {
    const wanted = count(tensor.shape), Elements = ARRAYS[tensor.type];
    if (values.length !== wanted) throw new Error(`${tensor.name} has ${wanted} elements (${tensor.shape.join(" x ")}), the file has ${values.length}`);
    if (tensor.type === "bfloat16") throw new Error(`${tensor.name} is bfloat16: give its bytes`);
    if (tensor.type === "float16") return Elements.from(values, (value) => halved(Number(value)));
    if (Elements === BigInt64Array || Elements === BigUint64Array) return Elements.from(values, (value) => (typeof value === "bigint" ? value : BigInt(Math.round(value))));
    return Elements.from(values, tensor.type.startsWith("float") ? Number : (value) => Math.round(Number(value)));
  };
  const npy = (buffer) => {
    const raw = new Uint8Array(buffer), view = new DataView(buffer), long = raw[6] > 1;
    if (letters(raw, 1, 6) !== "NUMPY") throw new Error("this is not an .npy file");
    const start = long ? 12 : 10, length = long ? view.getUint32(8, true) : view.getUint16(8, true), head = letters(raw, start, start + length);
    const type = (/'descr': '([^']*)'/.exec(head) || [])[1], Elements = NPY[type];
    if (!Elements) throw new Error(`arrays of ${type || "several fields"} are not read`);
    if (/'fortran_order': True/.test(head)) throw new Error("the array is in Fortran's order: np.ascontiguousarray changes it");
    const values = new Elements(buffer.slice(start + length));
    return type === "<f2" ? Array.from(values, half) : values;
  };
  // A sound of one channel, each element from -1 to 1.
  const wave = (buffer) => {
    const raw = new Uint8Array(buffer), view = new DataView(buffer);
    if (letters(raw, 0, 4) !== "RIFF" || letters(raw, 8, 12) !== "WAVE") throw new Error("this is not a .wav file");
    let format = 0, channels = 1, bits = 16;
    for (let at = 12; at + 8 <= raw.length;) {
      const name = letters(raw, at, at + 4), size = view.getUint32(at + 4, true), from = at + 8;
      if (name === "fmt ") {
        [format, channels, bits] = [view.getUint16(from, true), view.getUint16(from + 2, true), view.getUint16(from + 14, true)];
        if (format === 0xfffe) format = view.getUint16(from + 24, true);
      } else if (name === "data") {
        const read = {
          "1 8": (place) => (raw[place] - 128) / 128, "1 16": (place) => view.getInt16(place, true) / 32768,
          "1 32": (place) => view.getInt32(place, true) / 2 ** 31, "3 32": (place) => view.getFloat32(place, true),
        }[`${format} ${bits}`];
        if (!read) throw new Error(`sounds of ${bits} bits in format ${format} are not read`);
        const step = bits / 8, frames = Math.floor(Math.min(size, raw.length - from) / step / channels), sound = new Float32Array(frames);
        for (let frame = 0; frame < frames; ++frame) {
          for (let channel = 0; channel < channels; ++channel) sound[frame] += read(from + (frame * channels + channel) * step) / channels;
        }
        return sound;
      }
      at = from + size + (size & 1);
    }
    throw new Error("the file has no sound");
  };
  // What of a sound an input takes: its beginning, with silence behind it.
  const cut = (sound, wanted) => Float32Array.from({ length: wanted }, (_, at) => (at < sound.length ? sound[at] : 0));
  // How an input holds an image; null where it holds none.
  const imageOf = ({ shape, format }) => {
    const sizes = shape.length === 4 && shape[0] === 1 ? shape.slice(1) : shape.length === 3 ? shape : null;
    if (!sizes) return null;
    const first = format === "NCHW" || (format !== "NHWC" && ![1, 3, 4].includes(sizes[2]) && [1, 3, 4].includes(sizes[0]));
    const [channels, height, width] = first ? sizes : [sizes[2], sizes[0], sizes[1]];
    return [1, 3, 4].includes(channels) ? { channels, height, width, first } : null;
  };
  // Pixels (red, green, blue, alpha) of the size of the input, 0 becoming `low` and 255 `high`. Integers are stored as they are.
  const pixels = (tensor, rgba, [low, high]) => {
    const { channels, height, width, first } = imageOf(tensor), area = height * width, values = new Float64Array(channels * area);
    const whole = !tensor.type.startsWith("float"), shift = tensor.type === "int8" ? -128 : 0;
    for (let at = 0; at < area; ++at) {
      const [red, green, blue] = [rgba[4 * at], rgba[4 * at + 1], rgba[4 * at + 2]];
      for (let channel = 0; channel < channels; ++channel) {
        const value = channels === 1 ? 0.299 * red + 0.587 * green + 0.114 * blue : rgba[4 * at + channel];
        values[first ? channel * area + at : at * channels + channel] = whole ? value + shift : low + ((high - low) * value) / 255;
      }
    }
    return fit(tensor, values);
  };
  const random = (tensor, [low, high]) => {
    let state = 12345;
    return fit(tensor, Float64Array.from({ length: count(tensor.shape) }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return low + ((high - low) * state) / 2 ** 32;
    }));
  };
  const raw = (tensor, buffer) => {
    const Elements = ARRAYS[tensor.type], wanted = count(tensor.shape) * Elements.BYTES_PER_ELEMENT;
    if (buffer.byteLength !== wanted) throw new Error(`${tensor.name} has ${wanted} bytes, the file has ${buffer.byteLength}`);
    return new Elements(buffer);
  };

  // -- models ----------------------------------------------------------------------------------------------------
  const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let library = null;
  const models = new Map();
  // A model of the page. The script of the library defines loadLathe, once the page has been read.
  const open = async (held, name) => {
    if (!globalThis.loadLathe) await new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true }));
    library = library || globalThis.loadLathe({ wasm: decoded(held.wasm) });
    const files = held.models[name];
    if (!models.has(name)) models.set(name, (await library).model(name, { model: decoded(files.graph), data: decoded(files.data) }));
    return models.get(name);
  };
  // Outputs, times of the nodes and of a run without any listener, in milliseconds. Clocks of browsers are coarse: as
  // many runs as take ten milliseconds are one measurement.
  const run = (model, inputs) => {
    const nodes = [];
    model.observe((node) => nodes.push(node));
    const outputs = model.run(inputs);
    model.observe(null);
    const timed = (runs) => {
      const start = performance.now();
      for (let left = runs; left > 0; --left) model.compute();
      return performance.now() - start;
    };
    let runs = 1, took = timed(1);
    while (took < 10 && runs < 1024) took = timed(runs *= 2);
    return { outputs, nodes, milliseconds: took / runs };
  };
  const plain = (type, values) => (type === "float16" ? Array.from(values, half) : Array.from(values, Number));
  const summary = (values) => {
    const known = values.filter(Number.isFinite);
    const order = values.map((value, index) => [index, value]).filter(([, value]) => Number.isFinite(value)).sort((a, b) => b[1] - a[1]);
    const [low, high] = [order.length ? order[order.length - 1][1] : NaN, order.length ? order[0][1] : NaN];
    return { low, high, mean: known.reduce((sum, value) => sum + value, 0) / known.length, strange: values.length - known.length, largest: order.slice(0, 8) };
  };

  // -- the page --------------------------------------------------------------------------------------------------
  const scaledTo = async (file, { width, height }) => {
    const canvas = html("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d"), image = await createImageBitmap(file);
    context.drawImage(image, 0, 0, width, height);
    return [context.getImageData(0, 0, width, height).data, canvas];
  };
  const read = async (tensor, file, range) => {
    const end = file.name.toLowerCase().split(".").pop();
    if (end === "npy") return [fit(tensor, npy(await file.arrayBuffer()))];
    if (end === "wav") return [fit(tensor, cut(wave(await file.arrayBuffer()), count(tensor.shape)))];
    if (!file.type.startsWith("image/")) return [raw(tensor, await file.arrayBuffer())];
    if (!imageOf(tensor)) throw new Error(`${tensor.name} (${tensor.shape.join(" x ")}) holds no image`);
    const [rgba, canvas] = await scaledTo(file, imageOf(tensor));
    return [pixels(tensor, rgba, range), canvas];
  };
  // Where a file for an input is dropped. `change(elements)` gets what it holds.
  const place = (tensor, known, change) => {
    const said = html("span", "more", "random elements"), picture = html("span", ""), chooser = html("input"), range = [...known];
    const limits = range.map((value, at) => {
      const field = html("input", "limit");
      Object.assign(field, { type: "number", step: "any", value: String(value), ariaLabel: at ? "value of white" : "value of black" });
      field.addEventListener("change", () => { range[at] = Number(field.value); if (last) take(last); });
      return field;
    });
    let last = null;
    const take = async (file) => {
      last = file;
      try {
        const [values, canvas] = await read(tensor, file, range);
        said.textContent = file.name;
        picture.replaceChildren(...(canvas ? [canvas] : []));
        change(values);
      } catch (problem) {
        said.textContent = problem.message;
      }
    };
    chooser.type = "file";
    chooser.setAttribute("aria-label", `a file for ${tensor.name}`);
    chooser.addEventListener("change", () => { if (chooser.files[0]) take(chooser.files[0]); });
    const box = html("div", "drop", html("strong", "", tensor.name), ` ${tensor.type} ${tensor.shape.join("\u00d7")} `, said, picture, chooser);
    if (imageOf(tensor) && tensor.type.startsWith("float")) box.append(html("label", "", "black is ", limits[0], " white is ", limits[1]));
    box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("over");
      if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
    return box;
  };
  const results = (model, { outputs, nodes, milliseconds }) => {
    const shapes = new Map(model.outputs.map((tensor) => [tensor.name, tensor]));
    const rows = Object.entries(outputs).map(([name, values]) => ({ name, ...shapes.get(name), ...summary(plain(shapes.get(name).type, values)) }));
    return [
      html("div", "tiles", tile("a run in this browser", time(milliseconds), "one thread"), ...rows.map((row) => tile(row.name, row.largest.length ? `element ${row.largest[0][0]}` : "", "is the largest"))),
      section("Outputs", "", table([
        ["output", (row) => row.name, { long: true }], ["shape", (row) => row.shape.join("\u00d7")], ["type", (row) => row.type], ["least", (row) => row.low, { number: true }],
        ["mean", (row) => row.mean, { number: true }], ["most", (row) => row.high, { number: true }], ["NaN or infinite", (row) => row.strange, { number: true, show: (row) => grouped(row.strange) }],
      ], rows)),
      ...rows.filter((row) => row.largest.length > 1).map((row) => section(`Largest elements of ${row.name}`, "By their place in the output.", bars(row.largest.map(([at, value]) => [`element ${grouped(at)}`, Math.max(0, value), digits(value), 0])))),
      section("Nodes", "Times of one run; clocks of browsers may be coarser than a node.", table([
        ["#", (node) => node.index, { number: true, show: (node) => String(node.index) }], ["operator", (node) => node.op], ["name", (node) => node.name, { long: true }],
        ["time", (node) => node.end - node.start, { number: true, show: (node) => time(node.end - node.start) }], ["kernel", (node) => node.kernel, { code: true }],
      ], nodes)),
    ];
  };
  // The elements of a model, which follow what is dropped on them.
  const page = (held, name) => {
    const box = html("div", "", html("p", "", "Loading the model."));
    const start = async () => {
      const model = await open(held, name), answer = html("div", ""), inputs = {};
      const ranges = (tensor) => held.models[name].ranges[tensor.name] || [-1, 1];
      const again = () => {
        try {
          const found = run(model, inputs);
          forgetCharts();
          answer.replaceChildren(...results(model, found));
          redraw();
        } catch (problem) {
          answer.replaceChildren(section("The model did not run", problem.message));
        }
      };
      for (const tensor of model.inputs) if (tensor.type !== "bfloat16") inputs[tensor.name] = random(tensor, ranges(tensor));
      const places = model.inputs.map((tensor) => place(tensor, ranges(tensor), (values) => { inputs[tensor.name] = values; again(); }));
      box.replaceChildren(section("Inputs", "Drop a file on an input, or choose one: an image, .npy, .wav, or the bytes of the tensor. The model runs in this page; nothing leaves it.", ...places), answer);
      again();
    };
    start().catch((problem) => box.replaceChildren(section("The model cannot be opened", problem.message)));
    return box;
  };
  return { npy, wave, cut, fit, imageOf, pixels, random, raw, half, halved, open, run, summary, plain, page };
})();
