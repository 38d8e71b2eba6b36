#!/bin/sh
# Runs the app's class on this machine, without Android; then makes digits.aar for the app, where there is an NDK.
# Arguments go to the build of the archive: ./run.sh --abi arm64-v8a
set -eu
cd "$(dirname "$0")"

lathe build deploy.yml --java --abi host --output build/host
app=app/src/main/java/org/example/digitreader
jar=build/host/digits/java/digits.jar
mkdir -p build/classes
javac --release 8 -Xlint:-options -cp "$jar" -d build/classes "$app/DigitReader.java" "$app/Pictures.java" host/ReadDigit.java
java -cp "$jar:build/classes" -Djava.library.path=build/host/digits/lib/host ReadDigit build/host/digits/model

if [ -z "${ANDROID_NDK_HOME:-}" ]; then
  echo "ANDROID_NDK_HOME is not set: digits.aar is not built"
  exit
fi
lathe build deploy.yml --aar --output build/android "$@"
mkdir -p app/libs
cp build/android/digits/digits.aar app/libs/digits.aar
