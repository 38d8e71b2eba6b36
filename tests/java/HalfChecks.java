package com.baidu.paddle.lite;

import java.io.DataInputStream;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Prints the half of each float of a file (big endian), after all halves have come back as they were. */
public final class HalfChecks {
    private HalfChecks() {}

    public static void main(String[] arguments) throws Exception {
        for (int bits = 0; bits < 1 << 16; bits++) {
            float value = Elements.fromHalf((short) bits);
            if (!Float.isNaN(value) && Elements.toHalf(value) != (short) bits) {
                throw new AssertionError(bits);
            }
        }
        StringBuilder line = new StringBuilder();
        try (DataInputStream floats = new DataInputStream(Files.newInputStream(Paths.get(arguments[0])))) {
            while (floats.available() > 0) {
                line.append(Elements.toHalf(floats.readFloat()) & 0xffff).append(' ');
            }
        }
        System.out.println(line);
    }
}
