#!/bin/sh
# Builds every demo of this folder: deployments, and descriptions of networks with their checkpoints.
# Usage: ./generate.sh [FOLDER]   (build/demos without one)
set -e
here=$(dirname "$0")
to=${1:-build/demos}
lathe=${LATHE:-lathe}
for file in "$here"/*.yml; do
  "$lathe" build "$file" --output "$to"
done
for network in "$here"/*/network.yaml; do
  folder=$(dirname "$network")
  "$lathe" build "$network" --library-name "$(basename "$folder")" --output "$to" \
    --checkpoint-file "$folder/weights.pth.tar" --sample-input "$folder/sample.npy"
done
