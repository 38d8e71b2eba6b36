"""What OpenCV computes for networks of Caffe."""
