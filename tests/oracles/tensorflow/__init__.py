"""What TensorFlow computes: single operators, small networks, and SavedModels with variables and functions."""
