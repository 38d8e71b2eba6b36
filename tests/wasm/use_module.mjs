// What a page does with a library, in Node: prints what it saw as JSON. Arguments: the module's .mjs, a picture as JSON.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [file, picture] = process.argv.slice(2);
const {load, LatheError} = await import(pathToFileURL(file));
const library = await load();
const model = await library.model('digits');
const image = Float32Array.from(JSON.parse(readFileSync(picture)));
const {probabilities} = model.run({image});

// The elements in place, without copies.
model.input('image').set(image);
model.compute();
assert.deepEqual(model.output('probabilities').slice(), probabilities);

// Another session has inputs of its own.
const other = model.another();
other.run({image: new Float32Array(image.length)});
assert.deepEqual(model.output('probabilities').slice(), probabilities);
assert.notDeepEqual(other.output('probabilities').slice(), probabilities);
model.close();
model.close();
assert.deepEqual(other.run({image}).probabilities, probabilities);

const nodes = [];
other.observe((event) => nodes.push(event));
other.compute();
other.observe(null);
other.compute();
assert.ok(nodes.every((node) => node.end >= node.start && library.kernels.includes(node.kernel)));

const refused = async (use) => {
  try {
    await use();
  } catch (problem) {
    assert.ok(problem instanceof LatheError, String(problem));
    return `${problem.code}: ${problem.message}`;
  }
  return 'nothing';
};
const garbage = new Uint8Array(100).fill(7);
console.log(JSON.stringify({
  name: library.name,
  models: library.models,
  inside: library.inside,
  inputs: other.inputs,
  outputs: other.outputs,
  memory: other.memory,
  nodes: nodes.map(({op}) => op),
  probabilities: [...probabilities],
  wrong: [
    await refused(() => other.run({picture: image})),
    await refused(() => other.run({image: image.slice(1)})),
    await refused(() => other.resize({image: [1, 1, 9, 9]})),
    await refused(() => other.resize({picture: [1]})),
    await refused(() => library.model('letters')),
    await refused(() => library.model('digits', {model: garbage, data: garbage})),
  ],
}));
