"""The handlers of TensorFlow's operators, by kind. Every module registers its own."""
