"""What a build writes and keeps: the output tree, its bill of materials, its depfile, and what tuning measured."""
