#!/bin/bash -eu
# Builds all fuzz targets for OSS-Fuzz: programs and their corpora go to $OUT. Targets and what they do: tests/fuzz.
cd "$SRC/lathe"
python3 -m pip install ".[test,fuzz]"

targets=$(python3 -c "from tests.fuzz.__main__ import TARGETS; print(*(one for one in TARGETS if 'native' not in one))")
readers=$(python3 -c "from tests.fuzz.__main__ import READERS; print(*READERS)")
for target in $targets; do
  program="$SRC/fuzz_$target.py"
  if [[ " $readers " == *" $target "* ]]; then
    printf 'from tests.fuzz.readers import main\nmain("%s")\n' "$target" > "$program"
  else
    printf 'from tests.fuzz.%s import main\nmain()\n' "$target" > "$program"
  fi
  compile_python_fuzzer "$program" --add-data tests:tests --add-data examples:examples
done

cmake -S tests/fuzz/native -B "$WORK/native" -G Ninja
for target in model kmodel max7800x; do
  ninja -C "$WORK/native" "${target}_fuzzer"
  cp "$WORK/native/${target}_fuzzer" "$OUT/fuzz_native_$target"
done

for corpus in fuzz/corpus/*.zip; do
  cp "$corpus" "$OUT/fuzz_$(basename "$corpus" .zip)_seed_corpus.zip"
done
