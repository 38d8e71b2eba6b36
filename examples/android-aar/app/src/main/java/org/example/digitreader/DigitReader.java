package org.example.digitreader;

import lathe.digits.Model;

/** Reads pictures of 8x8 grey values between 0 and 1. Knows nothing of Android, so that it runs on any machine. */
public final class DigitReader implements AutoCloseable {
    private final Model model;

    /** Takes the model over. */
    public DigitReader(Model model) {
        this.model = model;
    }

    /** The digit that a picture shows. */
    public int read(float[] picture) {
        float[] scores = model.run(picture)[0];
        int best = 0;
        for (int digit = 1; digit < scores.length; digit++) {
            if (scores[digit] > scores[best]) {
                best = digit;
            }
        }
        return best;
    }

    @Override
    public void close() {
        model.close();
    }
}
