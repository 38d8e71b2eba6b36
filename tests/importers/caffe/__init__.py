"""The importer of Caffe's networks."""
