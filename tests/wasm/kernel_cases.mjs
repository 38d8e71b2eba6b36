// Every case file of a folder, run by the module of all kernels: prints failures and digests by file as JSON. Arguments:
// the module's .mjs, the folder, and the words at the end of the kernels' names that are wanted. What it checks is what
// native/tests/op_cases_test.cc checks with one thread; native/tests/op_cases_file.h specifies the files.
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync} from 'node:fs';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [file, folder, ...isas] = process.argv.slice(2);
const library = await (await import(pathToFileURL(file))).load();
const TYPES = [, 'float32', 'float16', 'bfloat16', 'float64', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32',
               'int64', 'uint64', 'bool'];

class Reader {
  constructor(path) {
    this.bytes = readFileSync(path);
    this.at = 9;
    if (this.bytes.toString('latin1', 0, 9) !== 'LATHECASE') throw new Error(`${path} is no case`);
  }
  u32() {
    return this.bytes.readUInt32LE((this.at += 4) - 4);
  }
  u64() {
    return Number(this.bytes.readBigUInt64LE((this.at += 8) - 8));
  }
  f64() {
    return this.bytes.readDoubleLE((this.at += 8) - 8);
  }
  blob() {
    const size = this.u64();
    return new Uint8Array(this.bytes.subarray(this.at, (this.at += size)));
  }
  tensors() {
    return Array.from({length: this.u32()}, () => {
      const type = TYPES[this.u32()], rank = this.u32();
      return {type, shape: Array.from({length: rank}, () => this.u64()), bytes: this.blob()};
    });
  }
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + mantissa / 1024) : 2 ** -24 * mantissa);
}

function floats(type, bytes) {
  const buffer = bytes.slice().buffer;
  if (type === 'float32') return new Float32Array(buffer);
  if (type === 'float64') return new Float64Array(buffer);
  if (type === 'float16') return Float64Array.from(new Uint16Array(buffer), halfToNumber);
  if (type === 'bfloat16') {
    const wide = Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16);
    return new Float32Array(wide.buffer);
  }
  return null;
}

const integers = {int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array};

// How an output differs; empty where it does not.
function difference(expected, actual, rtol, atol) {
  if (actual.length !== expected.bytes.length) return 'the output has another size';
  const want = floats(expected.type, expected.bytes), have = floats(expected.type, actual);
  if (want === null) {
    if (Buffer.compare(actual, expected.bytes) === 0) return '';
    const Elements = integers[expected.type];
    if (!Elements) return 'integers differ';
    const a = new Elements(expected.bytes.slice().buffer), b = new Elements(actual.slice().buffer);
    const steps = a.reduce((most, value, index) => Math.max(most, Math.abs(value - b[index])), 0);
    return steps <= atol ? '' : `integers differ, by ${steps}`;
  }
  const least = atol >= 1 ? 0 : atol;
  const largest = want.reduce((most, value) => Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most, 0);
  for (let index = 0; index < want.length; ++index) {
    if (want[index] === have[index] || (Number.isNaN(want[index]) && Number.isNaN(have[index]))) continue;
    const allowed = least + rtol * largest, error = Math.abs(want[index] - have[index]);
    if (!(error <= allowed)) return `element ${index} is ${have[index]}, not ${want[index]} (at most ${allowed} off)`;
  }
  return '';
}

const bytesOf = (elements) => new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength).slice();

async function judge(path) {
  const reader = new Reader(path), kernel = Buffer.from(reader.blob()).toString();
  if (!isas.includes(kernel.slice(kernel.lastIndexOf('__') + 2))) return null;
  const rtol = reader.f64(), atol = reader.f64(), files = {model: reader.blob(), data: reader.blob()};
  const inputs = reader.tensors(), outputs = reader.tensors(), model = await library.model('case', files);
  try {
    const declared = model.inputs;
    model.resize(Object.fromEntries(inputs.map(({shape}, index) => [declared[index].name, shape])));
    const ran = [];
    model.observe((event) => ran.push(event.kernel));
    const once = () => {
      inputs.forEach(({bytes}, index) => {
        const to = model.input(declared[index].name);
        new Uint8Array(to.buffer, to.byteOffset, to.byteLength).set(bytes);
      });
      model.compute();
      return model.outputs.map(({name}) => bytesOf(model.output(name)));
    };
    const first = once();
    if (!ran.includes(kernel)) return `${ran} ran instead of ${kernel}`;
    for (const [index, output] of outputs.entries()) {
      const differs = difference(output, first[index], rtol, atol);
      if (differs) return `output ${index}: ${differs}`;
      if (`${model.outputs[index].shape}` !== `${output.shape}`) return `output ${index} has another shape`;
    }
    const second = once();
    if (!first.every((bytes, index) => Buffer.compare(bytes, second[index]) === 0)) return 'a second run differs';
    const name = basename(path, '.case'), digest = createHash('sha256');
    first.forEach((bytes) => digest.update(bytes));
    digests[name] = {kernel, digest: digest.digest('hex')};
    return '';
  } finally {
    model.close();
  }
}

const failures = {}, digests = {};
let passed = 0;
for (const name of readdirSync(folder).filter((name) => name.endsWith('.case')).sort()) {
  let said;
  try {
    said = await judge(join(folder, name));
  } catch (problem) {
    said = `${problem.name}: ${problem.message}`;
  }
  if (said) failures[name] = said;
  if (said === '') ++passed;
}
console.log(JSON.stringify({passed, failures, digests}));
