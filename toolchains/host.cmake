# The machine that builds, with its default compiler or the one that CC and CXX name.
