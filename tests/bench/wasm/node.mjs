// The same as page.html in Node, for machines without a browser. Arguments: node_modules, the folder of the task.
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {measure} from './bench.mjs';

const [packages, folder] = process.argv.slice(2);
const require = createRequire(join(packages, 'here.js'));
const ort = await import(pathToFileURL(join(packages, 'onnxruntime-web/dist/ort.wasm.min.mjs')));
const tf = require('@tensorflow/tfjs'), wasm = require('@tensorflow/tfjs-backend-wasm');
const task = JSON.parse(await readFile(join(folder, 'task.json')));
ort.env.wasm.numThreads = task.threads;
ort.env.logLevel = 'error';
wasm.setWasmPaths(`${join(packages, '@tensorflow/tfjs-backend-wasm/dist')}/`);
wasm.setThreadsCount(task.threads);
await tf.setBackend('wasm');
const place = (path) => join(folder, path.replace('/tasks/', ''));
const modules = Object.fromEntries(Object.entries(task.modules).map(([word, path]) => [word, pathToFileURL(place(path))]));
const result = await measure(
    {...task, modules}, {ort, tf}, async (path) => new Uint8Array(await readFile(place(path))));
console.log(JSON.stringify({
  result, browser: `Node ${process.version}`, versions: {onnxruntime_web: ort.env.versions.web, tensorflow_js: tf.version.tfjs},
  backend: tf.getBackend(), simd: await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT')}));
