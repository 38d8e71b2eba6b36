// What a page of `lathe build --report-live` computes, without the page. Arguments: live.js, a file with its module's
// script, a file with its data, and a file with the cases: [{tensor, kind, file or values, range}].
import {readFile} from 'node:fs/promises';
import {pathToFileURL} from 'node:url';

const [script, module, held, cases] = process.argv.slice(2);
const live = new Function(`${await readFile(script, 'utf8')}; return live;`)();
await import(pathToFileURL(module));
const {models} = JSON.parse(await readFile(held, 'utf8')), answers = [];
const buffer = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
const READERS = {
  npy: ({tensor, file}) => live.fit(tensor, live.npy(buffer(file))),
  wav: ({file}) => live.wave(buffer(file)),
  cut: ({file, length}) => live.cut(live.wave(buffer(file)), length),
  raw: ({tensor, file}) => live.raw(tensor, buffer(file)),
  pixels: ({tensor, values, range}) => live.pixels(tensor, values, range),
  image: ({tensor}) => Object.entries(live.imageOf(tensor) ?? {}).flat(),
  random: ({tensor, range}) => live.random(tensor, range),
  halves: () => Array.from({length: 65536}, (_, bits) => bits).filter((bits) => {
    const value = live.half(bits);
    return !Number.isNaN(value) && live.halved(value) !== bits;
  }),
  halved: ({values}) => values.map(live.halved),
};
for (const each of JSON.parse(await readFile(cases, 'utf8'))) {
  try {
    answers.push(Array.from(READERS[each.kind](each), (value) => (typeof value === 'bigint' ? Number(value) : value)));
  } catch (problem) {
    answers.push(problem.message);
  }
}
const document = JSON.parse(await readFile(held, 'utf8')), [name] = Object.keys(models), model = await live.open(document, name);
const [input] = model.inputs, picture = answers[0];
const {outputs, nodes, milliseconds} = live.run(model, {[input.name]: picture});
console.log(JSON.stringify({
  answers, input, milliseconds, nodes: nodes.map(({op}) => op), range: document.models[name].ranges[input.name],
  summaries: Object.values(outputs).map((values) => live.summary(live.plain('float32', values))),
}));
