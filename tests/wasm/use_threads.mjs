// The forms of one library beside each other, in Node and in a page: what each computes, and with how many threads.

function assert(holds, what) {
  if (!holds) throw new Error(what);
}

export async function use(folder, image) {
  const said = {outputs: {}, threads: {}};
  const index = await import(`${folder}/index.mjs`);
  said.chosen = index.abi;
  said.isolated = globalThis.crossOriginIsolated ?? null;
  for (const [abi, threads] of [['wasm32-simd', 1], ['wasm32-relaxed-simd-threads', 1], ['wasm32-relaxed-simd-threads', 3]]) {
    const {load, LatheError} = await import(`${folder}/lib/${abi}/digits.mjs`);
    const library = await load({threads});
    const model = await library.model('digits'), other = await library.model('digits');
    for (let round = 0; round < 200; ++round) {
      const {probabilities} = (round % 2 ? model : other).run({image});
      const word = `${abi} ${threads}`;
      said.outputs[word] ??= [...probabilities];
      assert(said.outputs[word].every((value, at) => value === probabilities[at]), `${word}: another result in run ${round}`);
    }
    said.threads[`${abi} ${threads}`] = library.threads;
    try {
      model.run({image: image.slice(1)});
    } catch (problem) {
      assert(problem instanceof LatheError && problem instanceof index.LatheError, String(problem));
    }
    model.close();
    assert(other.run({image}).probabilities.length === 10, 'the other model goes on');
    other.close();
    library.close();
  }
  return said;
}
