"""Expected results that frameworks of gigabytes compute: `make oracles` refreshes them, `make test` reads them.

One folder per framework: `requirements.txt` pins what is installed into build/oracles/<framework>, and the module
`refresh` runs there (`python -m tests.oracles.<framework>.refresh`). It may import the framework, NumPy and the
standard library, and writes small files, with the versions that made them, to tests/oracles/<framework>/expected.
"""
