// The playground: three libraries of Lathe in the visitor's browser. playground.json, which the build of the site
// writes, says where they are. With ?answer the page posts what it found to /answer, for tests.
const here = (path) => new URL(path, import.meta.url);
const ROUNDS = 15, LEAST = 10;
const answer = {};

const number = (value) => value.toLocaleString('en', {maximumFractionDigits: value < 10 ? 3 : value < 100 ? 1 : 0});
const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

// One network with the elements of its card.
class Card {
  constructor(name, facts, model) {
    this.name = name;
    this.facts = facts;
    this.model = model;
    this.element = document.getElementById(name);
    this.find('.play-measure').addEventListener('click', () => this.measure());
    this.tell();
  }
  find(selector) {
    return this.element.querySelector(selector);
  }
  say(text) {
    this.find('.play-said').textContent = text;
  }
  tell(time = '') {
    const {wasm, weights, macs, report} = this.facts, place = this.find('.play-facts');
    place.textContent = `${time}${number(wasm / 1000)} kB of WebAssembly, ${number(weights / 1000)} kB of model, ` +
        `${number(macs / 1e6)} million multiply-accumulates. `;
    if (report) place.append(Object.assign(document.createElement('a'), {href: here(report), textContent: 'Build report'}));
  }
  // Runs the model on what its input holds; returns the outputs.
  run(inputs) {
    const start = performance.now(), outputs = this.model.run(inputs);
    this.tell(`${number(performance.now() - start)} ms with copies in and out. `);
    return outputs;
  }
  // Clocks of browsers are coarse: as many runs as take ten milliseconds are one measurement.
  async measure() {
    const timed = (runs) => {
      const start = performance.now();
      for (let run = 0; run < runs; ++run) this.model.compute();
      return performance.now() - start;
    };
    let runs = 1;
    while (timed(runs) < LEAST) runs *= 2;
    const times = [];
    for (let round = 0; round < ROUNDS; ++round) {
      times.push(timed(runs) / runs);
      await new Promise((done) => setTimeout(done));
    }
    this.tell(`${number(median(times))} ms per inference, median of ${ROUNDS} times ${runs}. `);
    return median(times);
  }
  bars(names, chances) {
    const rows = names.map((name, index) => {
      const row = document.createElement('li'), bar = document.createElement('i');
      const [label, share] = [name, `${Math.round(100 * chances[index])} %`].map((text) =>
        Object.assign(document.createElement('span'), {textContent: text}));
      bar.style.width = `${100 * chances[index]}%`;
      row.append(label, bar, share);
      return row;
    });
    this.find('.play-bars').replaceChildren(...rows);
  }
}

const largest = (values) => values.reduce((best, value, index) => (value > values[best] ? index : best), 0);

// ---- digits -------------------------------------------------------------------------------------------------------
const PAD = 256, SIDE = 8;

// What is drawn, cut out, in the middle of 8 x 8 pixels of 0 to 1, as the network has learnt it.
function picture(canvas) {
  const {data} = canvas.getContext('2d').getImageData(0, 0, PAD, PAD);
  const ink = (x, y) => 1 - data[4 * (y * PAD + x)] / 255;
  let [left, top, right, bottom] = [PAD, PAD, 0, 0];
  for (let y = 0; y < PAD; ++y)
    for (let x = 0; x < PAD; ++x)
      if (ink(x, y) > 0.5) [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), Math.max(bottom, y + 1)];
  const image = new Float32Array(SIDE * SIDE);
  if (right <= left) return null;
  const side = Math.max(right - left, bottom - top) * 1.04, cell = side / SIDE;
  const [x0, y0] = [(left + right - side) / 2, (top + bottom - side) / 2];
  for (let row = 0; row < SIDE; ++row)
    for (let column = 0; column < SIDE; ++column) {
      let sum = 0, count = 0;
      for (let y = Math.round(y0 + row * cell); y < y0 + (row + 1) * cell; ++y)
        for (let x = Math.round(x0 + column * cell); x < x0 + (column + 1) * cell; ++x, ++count)
          if (x >= 0 && y >= 0 && x < PAD && y < PAD) sum += ink(x, y);
      image[row * SIDE + column] = count ? sum / count : 0;
    }
  return image;
}

function wipe(canvas) {
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, PAD, PAD);
}

function stroke(canvas, points) {
  const context = canvas.getContext('2d');
  Object.assign(context, {lineWidth: 26, lineCap: 'round', lineJoin: 'round', strokeStyle: '#000'});
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function digits(card) {
  const canvas = card.find('.play-pad'), names = Array.from({length: 10}, (_, digit) => `${digit}`);
  const read = () => {
    const image = picture(canvas);
    if (!image) return card.say('Draw with a finger or the mouse.');
    const {probabilities} = card.run({image}), digit = largest(probabilities);
    card.bars(names, [...probabilities]);
    card.say(`This is a ${digit}.`);
    answer.digits = digit;
  };
  let last = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * PAD / box.width, (event.clientY - box.top) * PAD / box.height];
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
    stroke(canvas, [last, last]);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!last) return;
    const next = at(event);
    stroke(canvas, [last, next]);
    last = next;
    read();
  });
  for (const kind of ['pointerup', 'pointercancel']) canvas.addEventListener(kind, () => {
    if (last) read();
    last = null;
  });
  card.find('.play-clear').addEventListener('click', () => {
    wipe(canvas);
    card.bars([], []);
    read();
  });
  wipe(canvas);
  // A three to begin with.
  stroke(canvas, [[80, 50], [128, 36], [172, 60], [168, 100], [120, 124], [172, 146], [180, 190], [132, 222], [76, 204]]);
  read();
}

// ---- faces --------------------------------------------------------------------------------------------------------
const SEEN = 128;  // the side of the image that the detector sees

// The middles of the boxes that the detector starts from: 2 for each cell of 16 x 16, 6 for each of 8 x 8.
const ANCHORS = [[16, 2], [8, 6]].flatMap(([cells, boxes]) =>
  Array.from({length: cells * cells * boxes}, (_, index) => {
    const cell = Math.floor(index / boxes), size = SEEN / cells;
    return [(cell % cells + 0.5) * size, (Math.floor(cell / cells) + 0.5) * size];
  }));

function overlap(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const area = (box) => (box.right - box.left) * (box.bottom - box.top);
  return width * height / (area(a) + area(b) - width * height);
}

// Boxes of at least 60 %, the best of those that overlap.
function found(regressors, logits) {
  const boxes = [];
  ANCHORS.forEach(([x, y], index) => {
    const score = 1 / (1 + Math.exp(-logits[index]));
    if (score < 0.6) return;
    const box = regressors.subarray(16 * index, 16 * index + 16), middle = [x + box[0], y + box[1]];
    boxes.push({
      score, left: middle[0] - box[2] / 2, right: middle[0] + box[2] / 2, top: middle[1] - box[3] / 2,
      bottom: middle[1] + box[3] / 2,
      points: Array.from({length: 6}, (_, point) => [x + box[4 + 2 * point], y + box[5 + 2 * point]]),
    });
  });
  boxes.sort((a, b) => b.score - a.score);
  return boxes.reduce((kept, box) => (kept.some((other) => overlap(box, other) > 0.3) ? kept : [...kept, box]), []);
}

function faces(card) {
  const canvas = card.find('.play-photo');
  const look = async (blob) => {
    const image = await createImageBitmap(blob);
    const scale = Math.min(SEEN / image.width, SEEN / image.height);
    const seen = new OffscreenCanvas(SEEN, SEEN), context = seen.getContext('2d');
    context.fillRect(0, 0, SEEN, SEEN);
    const [width, height] = [image.width * scale, image.height * scale];
    const [left, top] = [(SEEN - width) / 2, (SEEN - height) / 2];
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, left, top, width, height);
    const {data} = context.getImageData(0, 0, SEEN, SEEN), input = new Float32Array(SEEN * SEEN * 3);
    for (let pixel = 0; pixel < SEEN * SEEN; ++pixel)
      for (let part = 0; part < 3; ++part) input[3 * pixel + part] = data[4 * pixel + part] / 127.5 - 1;
    const {regressors, classificators} = card.run({input}), boxes = found(regressors, classificators);
    canvas.width = 512;
    canvas.height = Math.round(512 * image.height / image.width);
    const pen = canvas.getContext('2d'), zoom = 512 / width;
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    const place = ([x, y]) => [(x - left) * zoom, (y - top) * zoom];
    for (const box of boxes) {
      const [x, y] = place([box.left, box.top]);
      Object.assign(pen, {lineWidth: 3, strokeStyle: '#ff4040', fillStyle: '#40ffa0', font: '16px sans-serif'});
      pen.strokeRect(x, y, (box.right - box.left) * zoom, (box.bottom - box.top) * zoom);
      for (const point of box.points) {
        const [px, py] = place(point);
        pen.beginPath();
        pen.arc(px, py, 4, 0, 7);
        pen.fill();
      }
    }
    const sure = boxes.length ? `, the surest with ${Math.round(100 * boxes[0].score)} %` : '';
    card.say(`${boxes.length} ${boxes.length === 1 ? 'face' : 'faces'}${sure}.`);
    answer.faces = boxes.map((box) => box.score);
  };
  card.find('input').addEventListener('change', ({target}) => {
    if (target.files[0]) look(target.files[0]).catch((problem) => card.say(`Not an image: ${problem.message}`));
  });
  return fetch(here('photo.jpg')).then((response) => response.blob()).then(look);
}

// ---- keywords -----------------------------------------------------------------------------------------------------
const RATE = 8000, WORDS = ['nothing', 'yes', 'no', 'wow', 'ahoy'];

// The loudest second of a file, as 8000 samples of one channel.
async function heard(bytes) {
  const context = new OfflineAudioContext(1, 1, RATE), audio = await context.decodeAudioData(bytes);
  const channels = Array.from({length: audio.numberOfChannels}, (_, index) => audio.getChannelData(index));
  const mixed = channels[0].map((_, at) => channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length);
  let [best, most, sum] = [0, 0, 0];
  for (let at = 0; at < mixed.length; ++at) {
    sum += mixed[at] ** 2 - (at >= RATE ? mixed[at - RATE] ** 2 : 0);
    if (sum > most) [most, best] = [sum, Math.max(0, at + 1 - RATE)];
  }
  const second = new Float32Array(RATE);
  second.set(mixed.subarray(best, best + RATE));
  return second;
}

function keywords(card) {
  const canvas = card.find('.play-wave');
  const draw = (samples) => {
    const pen = canvas.getContext('2d'), {width, height} = canvas, step = samples.length / width;
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = '#4051b5';
    for (let x = 0; x < width; ++x) {
      const part = samples.subarray(Math.floor(x * step), Math.floor((x + 1) * step));
      const peak = part.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      pen.fillRect(x, height / 2 - peak * height / 2, 1, Math.max(1, peak * height));
    }
  };
  const listen = async (bytes, name) => {
    const audio = await heard(bytes), {probabilities} = card.run({audio}), word = WORDS[largest(probabilities)];
    draw(audio);
    card.bars(WORDS, [...probabilities]);
    card.say(word === 'nothing' ? 'No keyword.' : `“${word}”`);
    (answer.keywords ??= {})[name] = word;
  };
  const sample = async (name) => listen(await (await fetch(here(name))).arrayBuffer(), name);
  for (const button of card.element.querySelectorAll('.play-sample'))
    button.addEventListener('click', () => sample(button.dataset.file));
  card.find('input').addEventListener('change', async ({target}) => {
    const [file] = target.files;
    if (!file) return;
    listen(await file.arrayBuffer(), file.name).catch((problem) => card.say(`Not audio: ${problem.message}`));
  });
  return sample('ahoy.wav').then(() => sample('yes.wav'));
}

// ---- all ----------------------------------------------------------------------------------------------------------
async function start(name, begin, about) {
  const say = (text) => (document.querySelector(`#${name} .play-said`).textContent = text);
  if (about.missing[name]) return say(`This site was built without the network: ${about.missing[name]}`);
  try {
    const facts = about.libraries[name], {load} = await import(here(facts.module));
    const card = new Card(name, facts, await (await load()).model());
    await begin(card);
    if (answering) (answer.milliseconds ??= {})[name] = await card.measure();
  } catch (problem) {
    say(`This browser cannot run it: ${problem.message}`);
    (answer.problems ??= {})[name] = String(problem.stack);
  }
}

const answering = new URLSearchParams(location.search).has('answer');
const about = await (await fetch(here('playground.json'))).json();
for (const [name, begin] of [['digits', digits], ['faces', faces], ['keywords', keywords]]) await start(name, begin, about);
if (answering) await fetch('/answer', {method: 'POST', body: JSON.stringify(answer)});
