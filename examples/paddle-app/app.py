"""A program for Paddle-Lite's Python interface: reads digits, and prints what it recognises.

    app.py MODEL [PICTURES]

It imports what Paddle-Lite's users import; `python -m lathe_runtime.paddle` gives it Lathe's module under that name.
"""

import sys

import numpy as np
from paddlelite.lite import MobileConfig, create_paddle_predictor


def main() -> None:
    config = MobileConfig()
    config.set_model_from_file(sys.argv[1])
    config.set_threads(1)
    predictor = create_paddle_predictor(config)
    pictures = np.load(sys.argv[2]) if len(sys.argv) > 2 else np.eye(8)[None]
    image = predictor.get_input(0)
    for picture in pictures[:10]:
        image.from_numpy(picture.reshape(1, 1, 8, 8).astype(np.float32))
        predictor.run()
        probabilities = predictor.get_output(0).numpy()[0]
        print(int(probabilities.argmax()), float(probabilities.max()))


if __name__ == "__main__":
    main()
