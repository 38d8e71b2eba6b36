// One network in Lathe, onnxruntime-web and TensorFlow.js, by turns. `tf` is a TensorFlow.js with its
// WebAssembly backend, `ort` an onnxruntime-web; `read(path)` gives the bytes of a file.

const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];

async function lathe(task, read, input, engines, word) {
  const {load} = await import(task.modules[word]);
  const model = await (await load({threads: task.threads})).model();
  const [{name}] = model.inputs;
  return {
    run() {
      model.run({[name]: input});
    },
    output: () => model.run({[name]: input})[model.outputs[0].name],
  };
}

async function onnxruntime(task, read, input, {ort}) {
  const session = await ort.InferenceSession.create(await read(task.onnx), {executionProviders: ['wasm']});
  const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', input, task.shape)};
  const run = async () => (await session.run(feeds))[session.outputNames[0]].data;
  return {run, output: run};
}

// The nodes of Lathe's graph by the operators of TensorFlow.js, fused as its converter fuses them.
function step(tf, node, values) {
  const [x, w, bias, residual] = node.inputs.map((name) => values.get(name)), {attributes: a} = node;
  const pad = (pads) => (pads.every((size) => size === 0) ? 'valid' : [[0, 0], [pads[0], pads[2]], [pads[1], pads[3]], [0, 0]]);
  const relu6 = a.activation === 'clip' && a.alpha === 0 && a.beta === 6;
  const known = {none: undefined, relu: 'relu', clip: relu6 ? 'relu6' : null}[a.activation ?? 'none'];
  if (known === null) throw new Error(`no counterpart of ${a.activation}`);
  const activation = residual ? undefined : known;
  const finish = (y) => {
    const sum = residual ? tf.add(y, residual) : y;
    return residual && known === 'relu' ? tf.relu(sum) : residual && known ? tf.relu6(sum) : sum;
  };
  switch (node.op) {
    case 'transpose':
      return tf.transpose(x, a.perm);
    case 'conv2d':
      return finish(tf.fused.conv2d({x, filter: w, strides: a.strides, pad: pad(a.pads), bias, activation}));
    case 'dwconv2d':
      return finish(tf.fused.depthwiseConv2d({x, filter: w, strides: a.strides, pad: pad(a.pads), bias, activation}));
    case 'fully_connected':
      return tf.fused.matMul({a: x, b: w, bias, activation});
    case 'max_pool2d':
      return tf.maxPool(x, a.kernel, a.strides, a.pads[0] ? a.pads[0] : 'valid', a.pads[0] ? 'floor' : undefined);
    case 'reduce_mean':
      return tf.mean(x, a.axes, a.keepdims);
    case 'concat':
      return tf.concat(node.inputs.map((name) => values.get(name)), a.axis);
    case 'slice':
      return tf.slice(x, a.starts, a.sizes);
    case 'gather':
      return tf.gather(x, w, a.axis);
  }
  throw new Error(`no counterpart of ${node.op}`);
}

async function tensorflow(task, read, input, {tf}) {
  const graph = JSON.parse(new TextDecoder().decode(await read(task.graph)));
  const bytes = await read(task.weights), constants = new Map();
  for (const {name, type, shape, offset, count} of graph.constants) {
    const Elements = type === 'int32' ? Int32Array : Float32Array;
    constants.set(name, tf.tensor(new Elements(bytes.slice(offset, offset + 4 * count).buffer), shape, type));
  }
  const run = () => {
    const result = tf.tidy(() => {
      const values = new Map(constants);
      values.set(graph.input, tf.tensor(input, task.shape));
      for (const node of graph.nodes) values.set(node.output, step(tf, node, values));
      return values.get(graph.output);
    });
    const data = result.dataSync();
    result.dispose();
    return data;
  };
  return {run, output: run};
}

const ENGINES = {lathe, lathe_relaxed: lathe, lathe_alone: lathe, onnxruntime_web: onnxruntime, tensorflow_js: tensorflow};

// How far the outputs are from each other, as a part of the largest element.
function error(a, b) {
  let [most, largest] = [0, 0];
  a.forEach((value, index) => {
    most = Math.max(most, Math.abs(value - b[index]));
    largest = Math.max(largest, Math.abs(value));
  });
  return a.length === b.length && largest > 0 ? most / largest : Infinity;
}

export async function measure(task, engines, read) {
  const count = task.shape.reduce((product, size) => product * size, 1);
  const input = Float32Array.from({length: count}, (_, index) => Math.sin(index));
  const runs = {}, times = {}, outputs = {};
  for (const name of task.engines) {
    runs[name] = await ENGINES[name](task, read, input, engines, name);
    outputs[name] = Float32Array.from(await runs[name].output());
    times[name] = [];
  }
  for (let round = -task.warmup; round < task.rounds; ++round)
    for (const [name, {run}] of Object.entries(runs)) {
      const start = performance.now();
      await run();
      if (round >= 0) times[name].push(performance.now() - start);
    }
  const result = {network: task.name};
  for (const name of task.engines)
    result[name] = {
      median_ms: median(times[name]), least_ms: Math.min(...times[name]), error: error(outputs.lathe, outputs[name])};
  return result;
}
