"""Protobuf schemas. The modules `*_pb2` are generated from the `.proto` files when the package is built."""
