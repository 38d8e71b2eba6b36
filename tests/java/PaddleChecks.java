import com.baidu.paddle.lite.CxxConfig;
import com.baidu.paddle.lite.MobileConfig;
import com.baidu.paddle.lite.PaddleLiteInitializer;
import com.baidu.paddle.lite.PaddlePredictor;
import com.baidu.paddle.lite.Place;
import com.baidu.paddle.lite.PowerMode;
import com.baidu.paddle.lite.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** What an app for Paddle-Lite does. Arguments: the folder of the models, a file with 64 floats. */
public final class PaddleChecks {
    public static void main(String[] arguments) throws Exception {
        PaddleLiteInitializer.init();
        Path folder = Paths.get(arguments[0]);
        ByteBuffer raw = ByteBuffer.wrap(Files.readAllBytes(Paths.get(arguments[1]))).order(ByteOrder.LITTLE_ENDIAN);
        float[] picture = new float[64];
        raw.asFloatBuffer().get(picture);

        MobileConfig config = new MobileConfig();
        config.setModelFromFile(folder.resolve("digits.pb").toString());
        config.setPowerMode(PowerMode.LITE_POWER_HIGH);
        config.setThreads(1);
        digits(PaddlePredictor.createPaddlePredictor(config), picture);
        config.setPowerMode(PowerMode.LITE_POWER_NO_BIND);
        config.setModelFromFile(folder.resolve("digits.whole.pb").toString());
        digits(PaddlePredictor.createPaddlePredictor(config), picture);
        config.setModelFromBuffer(Files.readAllBytes(folder.resolve("digits.whole.pb")));
        digits(PaddlePredictor.createPaddlePredictor(config), picture);
        CxxConfig full = new CxxConfig();
        full.setModelFromFile(folder.resolve("digits.pb").toString());
        full.setValidPlaces(new Place[] {new Place(Place.TargetType.ARM, Place.PrecisionType.FLOAT)});
        digits(PaddlePredictor.createPaddlePredictor(full), picture);

        others(folder);
        refused(folder);
        System.out.println("done");
    }

    private static void digits(PaddlePredictor predictor, float[] picture) {
        Tensor input = predictor.getInput(0);
        input.resize(new long[] {1, 1, 8, 8});
        check(input.setData(picture));
        check(predictor.run());
        Tensor output = predictor.getOutput(0);
        check(output.isReadOnly() && !output.setData(picture) && output.shape().length == 2);
        check(predictor.getTensor("probabilities").getFloatData()[3] == output.getFloatData()[3]);
        check(predictor.getTensor("none") == null && predictor.getInput(1) == null && predictor.getOutput(1) == null);
        StringBuilder line = new StringBuilder("digits");
        for (float value : output.getFloatData()) {
            line.append(String.format(" %08x", Float.floatToRawIntBits(value)));
        }
        System.out.println(line);
    }

    /** Sizes that vary, integers, an output whose size the data decides, and images that the model has as NHWC. */
    private static void others(Path folder) {
        MobileConfig config = new MobileConfig();
        config.setModelFromFile(folder.resolve("twice.pb").toString());
        try (PaddlePredictor twice = new PaddlePredictor(config)) {
            for (int rows = 1; rows < 4; rows++) {
                Tensor input = twice.getInput(0);
                input.resize(new long[] {rows, 3});
                int[] data = new int[3 * rows];
                java.util.Arrays.fill(data, 7 * rows);
                input.setData(data); // converted to floats
                twice.run();
                int[] found = twice.getOutput(0).getIntData();
                check(found.length == 3 * rows && found[0] == 14 * rows && twice.getOutput(0).shape()[0] == rows);
            }
        }
        config.setModelFromFile(folder.resolve("places.pb").toString());
        try (PaddlePredictor places = new PaddlePredictor(config)) {
            places.getInput(0).setData(new byte[] {0, 4, 0, 5, 6});
            places.run();
            check(java.util.Arrays.equals(places.getOutput(0).getLongData(), new long[] {1, 3, 4}));
            check(places.getInput(0).getByteData()[4] == 6);
        }
        config.setModelFromFile(folder.resolve("turned.pb").toString());
        try (PaddlePredictor turned = new PaddlePredictor(config)) {
            check(java.util.Arrays.equals(turned.getInput(0).shape(), new long[] {1, 3, 2, 4}));
            float[] data = new float[24];
            for (int i = 0; i < 24; i++) {
                data[i] = i;
            }
            turned.getInput(0).setData(data);
            turned.run();
            float[] found = turned.getOutput(0).getFloatData();
            for (int i = 0; i < 24; i++) {
                check(found[i] == 2 * i);
            }
            check(java.util.Arrays.equals(turned.getOutput(0).shape(), new long[] {1, 3, 2, 4}));
        }
    }

    private static void refused(Path folder) throws Exception {
        Path old = folder.resolve("old.nb");
        byte[] bytes = new byte[80];
        System.arraycopy(new byte[] {2, 0, 'v', '2', '.', '1', '2'}, 0, bytes, 0, 7);
        bytes[18] = 16;
        Files.write(old, bytes);
        says(old.toString(), "this is a model of Paddle-Lite's opt (.nb): a library of Lathe");
        Path program = folder.resolve("__model__");
        Files.write(program, new byte[] {10, 8, 8, 0, 16, 0, 26, 2, 10, 0});
        says(program.toString(), "this is a program of Paddle");
        says(folder.resolve("none.pb").toString(), "there is no model file");
        says("", "the configuration names no model");
        MobileConfig config = new MobileConfig();
        config.setModelFromFile(folder.resolve("digits.pb").toString());
        try (PaddlePredictor predictor = PaddlePredictor.createPaddlePredictor(config)) {
            says(() -> predictor.run(), "input 'image' has no data");
            says(() -> predictor.getOutput(0).getFloatData(), "run the predictor first");
            says(() -> predictor.getInput(0).setData(new float[3]), "takes 64 elements, not 3");
            predictor.getInput(0).resize(new long[] {9, 1, 8, 8});
            predictor.getInput(0).setData(new float[9 * 64]);
            says(() -> predictor.run(), "");
        }
    }

    private static void says(String model, String text) {
        MobileConfig config = new MobileConfig();
        config.setModelFromFile(model);
        says(() -> PaddlePredictor.createPaddlePredictor(config), text);
    }

    private static void says(Runnable act, String text) {
        try {
            act.run();
        } catch (RuntimeException error) {
            if (error.getMessage().contains(text)) {
                return;
            }
            throw error;
        }
        throw new AssertionError("nothing was refused: " + text);
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }
}
