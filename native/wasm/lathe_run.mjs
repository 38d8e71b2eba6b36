// lathe_run for WebAssembly modules: runs one model of a library in Node, from files to files, and tells how long it
// took. The options are those of native/tools/lathe_run.cc, as far as they mean something here.
//
// Exit codes: 0 it ran, 1 the library refused something or a file is wrong, 2 the command line is wrong.
import {readFileSync, writeFileSync} from 'node:fs';
import {basename} from 'node:path';
import {pathToFileURL} from 'node:url';

const TEXTS = ['library', 'symbol', 'model', 'data', 'model-name', 'json', 'values', 'isa', 'powercap', 'cpus', 'device',
               'gpu-perf-hint', 'gpu-priority-hint', 'opencl-storage', 'opencl-tuning', 'opencl-binary', 'opencl-tune'];
const NUMBERS = ['threads', 'rounds', 'warmup', 'affinity', 'trace'];
const PAIRS = ['input', 'output', 'shape'];
const FLAGS = ['list', 'profile', 'help', 'gpu-check', 'gpu-profile', 'opencl-rebuild'];
const NPY = {float32: '<f4', float16: '<f2', float64: '<f8', int8: '|i1', uint8: '|u1', int16: '<i2', uint16: '<u2',
             int32: '<i4', uint32: '<u4', int64: '<i8', uint64: '<u8', bool: '|b1', bfloat16: '<f4'};

class Usage extends Error {}

function parse(words) {
  const options = {rounds: 1, warmup: 0, threads: 1, trace: 0, input: {}, output: {}, shape: {}, value: []};
  for (let index = 0; index < words.length; ++index) {
    const name = words[index].replace(/^--/, '');
    if (FLAGS.includes(name)) {
      options[name] = true;
      continue;
    }
    if (![...TEXTS, ...NUMBERS, ...PAIRS, 'value'].includes(name)) throw new Usage(`there is no option '${words[index]}'`);
    const value = words[++index];
    if (value === undefined) throw new Usage(`option '--${name}' needs a value`);
    if (name === 'value') {
      options.value.push(value);
    } else if (PAIRS.includes(name)) {
      const at = value.indexOf('=');
      if (at < 1) throw new Usage(`--${name}: '${value}' is not of the form NAME=...`);
      options[name][value.slice(0, at)] = value.slice(at + 1);
    } else {
      options[name] = NUMBERS.includes(name) ? Number.parseInt(value, 10) : value;
      if (Number.isNaN(options[name])) throw new Usage(`--${name}: '${value}' is no number`);
    }
  }
  if (!options.library) throw new Usage('no library: give --library');
  return options;
}

function readNpy(file, bytes) {
  if (bytes.toString('latin1', 1, 6) !== 'NUMPY') throw new Error(`'${file}' is no .npy file`);
  const long = bytes[6] > 1, length = long ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8), start = long ? 12 : 10;
  const header = bytes.toString('latin1', start, start + length);
  const word = /'descr':\s*'([^']+)'/.exec(header)?.[1], shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  if (/'fortran_order':\s*True/.test(header) || word === undefined || shape === undefined)
    throw new Error(`'${file}' is not stored row by row`);
  return {word, shape: shape.split(',').filter((size) => size.trim()).map(Number), data: bytes.subarray(start + length)};
}

// Halves of the upper bits are floats in files.
function widened(elements) {
  const wide = new Uint32Array(elements.length);
  elements.forEach((bits, index) => wide[index] = bits << 16);
  return wide;
}

function npy({type, shape}, elements) {
  const data = type === 'bfloat16' ? widened(elements) : elements;
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '${NPY[type]}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const header = `${text}${' '.repeat((64 - (11 + text.length) % 64) % 64)}\n`;
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  return Buffer.concat([head, Buffer.from(header), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}

// Numbers in -1..1 that are the same everywhere; integers get 0 or 1, which are valid indices of most things.
function pseudoRandom(type, elements) {
  let state = 12345;
  for (let index = 0; index < elements.length; ++index) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const value = Math.fround(Math.fround(state >>> 8) / 8388608 - 1);
    const bits = new Uint32Array(new Float32Array([value]).buffer)[0];
    if (type === 'float32' || type === 'float64') elements[index] = value;
    else if (type === 'float16') elements[index] = ((bits >>> 16) & 0x8000) | 0x3000 | ((bits >>> 13) & 0x3ff);
    else if (type === 'bfloat16') elements[index] = bits >>> 16;
    else elements[index] = typeof elements[index] === 'bigint' ? BigInt(state >>> 31) : state >>> 31;
  }
}

function fill(options, model) {
  const known = model.inputs.map((input) => input.name);
  for (const name of [...Object.keys(options.input), ...Object.keys(options.shape)]) model.input(name);
  for (const name of Object.keys(options.output)) model.output(name);
  const files = {}, shapes = {};
  for (const [name, shape] of Object.entries(options.shape)) shapes[name] = shape ? shape.split(',').map(Number) : [];
  for (const [name, file] of Object.entries(options.input)) {
    const bytes = readFileSync(file), declared = model.inputs[known.indexOf(name)];
    files[name] = {data: bytes};
    if (!file.endsWith('.npy')) continue;
    files[name] = readNpy(file, bytes);
    if (files[name].word !== NPY[declared.type])
      throw new Error(`input '${name}' is of type ${declared.type}, '${file}' holds ${files[name].word}`);
    shapes[name] ??= files[name].shape;
  }
  if (model.inputs.some(({name, shape}) => shapes[name] && `${shapes[name]}` !== `${shape}`)) model.resize(shapes);
  for (const {name, type, bytes} of model.inputs) {
    const to = model.input(name);
    if (!files[name]) {
      pseudoRandom(type, to);
      continue;
    }
    let data = files[name].data;
    if (type === 'bfloat16' && files[name].word) data = Buffer.from(data.filter((_, index) => index % 4 > 1));
    if (data.length !== bytes) throw new Error(`input '${name}' has ${bytes} bytes, the file has ${data.length}`);
    new Uint8Array(to.buffer, to.byteOffset, to.byteLength).set(data);
  }
}

const nanoseconds = (milliseconds) => Math.round(milliseconds * 1e6);
const sorted = (times) => [...times].sort((a, b) => a - b);
const mean = (times) => Math.round(times.reduce((sum, time) => sum + time, 0) / times.length);

function median(times) {
  const order = sorted(times), half = times.length >> 1;
  return times.length % 2 ? order[half] : Math.round((order[half - 1] + order[half]) / 2);
}

function timed(model) {
  const start = performance.now();
  model.compute();
  return nanoseconds(performance.now() - start);
}

function describeTimes(rounds, warmup, observed) {
  const sums = rounds.length === 0 ? {} : {min_ns: Math.min(...rounds), median_ns: median(rounds), mean_ns: mean(rounds),
                                           max_ns: Math.max(...rounds)};
  return {rounds: rounds.length, warmup: warmup.length, ...sums, warmup_ns: warmup, rounds_ns: rounds,
          observed_ns: observed, energy_uj: {}};
}

function deviation(times) {
  if (times.length < 2) return 0;
  const middle = mean(times);
  return Math.round(Math.sqrt(times.reduce((sum, time) => sum + (time - middle) ** 2, 0) / (times.length - 1)));
}

// As many runs again, node by node.
function profile(model, rounds) {
  const nodes = [], observed = [];
  for (let round = 0; round < rounds; ++round) {
    let next = 0;
    const began = performance.now();
    model.observe((event) => {
      if (next === nodes.length) nodes.push({...event, starts: [], ends: []});
      nodes[next].starts.push(nanoseconds(event.start - began));
      nodes[next++].ends.push(nanoseconds(event.end - began));
    });
    model.compute();
    observed.push(nanoseconds(performance.now() - began));
  }
  model.observe(null);
  const middle = observed.indexOf(sorted(observed)[observed.length >> 1]);
  return {observed, nodes: nodes.map(({index, name, op, kernel, starts, ends}) => {
    const times = starts.map((start, round) => ends[round] - start);
    return {index, name, op, kernel, ns: Math.min(...times), first_ns: times[0], median_ns: median(times),
            mean_ns: mean(times), deviation_ns: deviation(times), start_ns: starts[middle], end_ns: ends[middle]};
  })};
}

// The inner values: all but constants, which two sessions of one model have at the same place.
function writeValues(options, model) {
  const other = model.another();
  const elsewhere = new Map(other.values().map(({name, address}) => [name, address]));
  other.close();
  const chosen = model.values().filter(
      ({name, address}) =>
          elsewhere.get(name) !== address && (options.value.length === 0 || options.value.includes(name)));
  writeFileSync(options.values, Buffer.concat(chosen.map((value) => npy(value, value.data))));
  return chosen.map(({name}) => name);
}

function describe(tensor, files) {
  const {name, type, format, shape, bytes} = tensor;
  return {name, dtype: type, format, shape, bytes, ...(files[name] ? {file: files[name]} : {})};
}

async function run(options) {
  const {load} = await import(pathToFileURL(options.library.replace(/\.wasm$/, '.mjs')));
  const library = await load(options.threads > 0 ? {threads: options.threads} : {});
  const about = {library: library.name, version: library.version, kernels: library.kernels, models: library.inside};
  if (options.list) return about;
  const file = (path) => path && readFileSync(path);
  const name = options['model-name'] ?? (options.model ? basename(options.model, '.pb') : undefined);
  const files = {model: file(options.model), data: file(options.data)};
  const began = performance.now();
  const model = await library.model(name, {...files, isa: options.isa, keepAll: Boolean(options.values)});
  const create = nanoseconds(performance.now() - began);
  fill(options, model);
  const tell = (event) => console.error(
      `lathe_run: node ${event.index} ${event.name} (${event.op}, ${event.kernel}) ` +
      `${((event.end - event.start) * 1e3).toFixed(1)} us`);
  if (options.trace > 1) {
    model.observe(tell);
    model.compute();
    model.observe(null);
  }
  const warmup = Array.from({length: options.warmup}, () => timed(model));
  const rounds = Array.from({length: options.rounds}, () => timed(model));
  const seen = options.profile ? profile(model, options.rounds) : {observed: [], nodes: []};
  for (const [output, path] of Object.entries(options.output)) {
    const tensor = model.outputs.find(({name}) => name === output), elements = model.output(output);
    const raw = Buffer.from(elements.buffer, elements.byteOffset, elements.byteLength);
    writeFileSync(path, path.endsWith('.npy') ? npy(tensor, elements) : raw);
  }
  const {weightsMapped, weightsAllocated, arena, scratch} = model.memory;
  return {
    ...about,
    threads: library.threads,
    create_ns: create,
    timings: describeTimes(rounds, warmup, seen.observed),
    ...(options.profile ? {nodes: seen.nodes, threads_of_loops: []} : {}),
    memory: {weights_mapped: weightsMapped, weights_allocated: weightsAllocated, arena, scratch},
    process_peak: process.resourceUsage().maxRSS * 1024,
    affinity: {},
    ...(options.values ? {values: writeValues(options, model)} : {}),
    inputs: model.inputs.map((input) => describe(input, options.input)),
    outputs: model.outputs.map((output) => describe(output, options.output)),
  };
}

async function main() {
  let options = {};
  try {
    options = parse(process.argv.slice(2));
    const text = `${JSON.stringify(await run(options))}\n`;
    if (options.json && options.json !== '-') writeFileSync(options.json, text);
    else process.stdout.write(text);
  } catch (problem) {
    if (problem instanceof WebAssembly.RuntimeError) throw problem;  // a trap is a crash: Node tells where
    console.error(`lathe_run: error: ${problem.message}`);
    const error = {code: problem.code ?? 'io', message: problem.message};
    if (options.json === '-') process.stdout.write(`${JSON.stringify({error})}\n`);
    process.exitCode = problem instanceof Usage ? 2 : 1;
  }
}

await main();
