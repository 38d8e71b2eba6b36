package org.example.digitreader;

/** A picture to try the model with. */
public final class Pictures {
    /** A seven. */
    public static final float[] SEVEN = {
        0f, 0f, 0.4375f, 0.9375f, 1f, 0.9375f, 0f, 0f,
        0f, 0.125f, 0.9375f, 0.125f, 0.3125f, 1f, 0.0625f, 0f,
        0f, 0f, 0f, 0f, 0.625f, 0.8125f, 0f, 0f,
        0f, 0f, 0f, 0.1875f, 0.875f, 0.6875f, 0.125f, 0f,
        0f, 0f, 0.375f, 1f, 1f, 1f, 0.5f, 0f,
        0f, 0f, 0.3125f, 0.8125f, 0.4375f, 0f, 0f, 0f,
        0f, 0f, 0.1875f, 0.9375f, 0.0625f, 0f, 0f, 0f,
        0f, 0f, 0.625f, 0.75f, 0f, 0f, 0f, 0f,
    };

    private Pictures() {}
}
