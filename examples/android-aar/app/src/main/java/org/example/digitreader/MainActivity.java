package org.example.digitreader;

import android.app.Activity;
import android.content.res.AssetFileDescriptor;
import android.os.Bundle;
import android.widget.TextView;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import lathe.digits.Model;

/** Shows what the model reads in a picture, and what native code says of the same library. */
public final class MainActivity extends Activity {
    static {
        System.loadLibrary("app");
    }

    private static native String describeLibrary();

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TextView view = new TextView(this);
        setContentView(view);
        try (DigitReader reader = new DigitReader(Model.fromBuffers(map("digits.pb"), map("digits.data")))) {
            view.setText("a seven: " + reader.read(Pictures.SEVEN) + "\n" + describeLibrary());
        } catch (IOException problem) {
            view.setText(problem.toString());
        }
    }

    /** A file of the archive's assets, where it stands in the installed app: build.gradle.kts keeps it uncompressed. */
    private ByteBuffer map(String name) throws IOException {
        try (AssetFileDescriptor asset = getAssets().openFd("digits/" + name);
                FileInputStream file = asset.createInputStream()) {
            long start = asset.getStartOffset();
            return file.getChannel().map(FileChannel.MapMode.READ_ONLY, start, asset.getLength());
        }
    }
}
