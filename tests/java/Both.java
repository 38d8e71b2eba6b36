import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/** Two libraries in one program: one that has its models inside, and one whose weights are in files. */
public final class Both {
    public static void main(String[] arguments) throws Exception {
        float[] picture = new float[64];
        Arrays.fill(picture, 0.5f);
        System.out.println(lathe.inside.Model.embeddedNames() + " " + lathe.halfway.Model.embeddedNames());
        ByteBuffer weights;
        try (RandomAccessFile file = new RandomAccessFile(arguments[0], "r")) {
            weights = file.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length());
        }
        try (lathe.inside.Model inside = lathe.inside.Model.embedded("digits", 1);
                lathe.inside.Model twice = lathe.inside.Model.embedded("twice", 0);
                lathe.halfway.Model halfway = lathe.halfway.Model.embedded("digits", weights, 1)) {
            System.out.println(Arrays.equals(inside.run(picture)[0], halfway.run(picture)[0]));
            System.out.println(Arrays.toString(twice.run(new float[12])[0]).length());
        }
        try {
            lathe.inside.Model.embedded();
        } catch (lathe.inside.LatheException problem) {
            System.out.println(problem.getMessage());
        }
        try {
            lathe.halfway.Model.embedded("digits", ByteBuffer.allocateDirect(8), 1);
        } catch (lathe.halfway.LatheException problem) {
            System.out.println(problem.code());
        }
    }
}
