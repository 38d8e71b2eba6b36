import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import lathe.trio.DataType;
import lathe.trio.LatheException;
import lathe.trio.Model;
import lathe.trio.TensorInfo;

/** What an app may do with a model, sensible or not. Arguments: the folder of the models, a file with 64 floats. */
public final class Checks {
    private static String models;

    private interface Act {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        models = arguments[0];
        ByteBuffer raw = ByteBuffer.wrap(Files.readAllBytes(Paths.get(arguments[1]))).order(ByteOrder.LITTLE_ENDIAN);
        float[] picture = new float[64];
        raw.asFloatBuffer().get(picture);
        ways(picture);
        shapes();
        types();
        refusals(picture);
        closing(picture);
        threads(picture);
        System.out.println("done");
    }

    // --- what works -------------------------------------------------------------------------------------------------

    private static Model digits() {
        return Model.fromFiles(models + "/digits.pb", models + "/digits.data");
    }

    /** Every way to open a model and to run it; each prints the same line. */
    private static void ways(float[] picture) throws IOException {
        byte[] graph = Files.readAllBytes(Paths.get(models, "digits.pb"));
        byte[] data = Files.readAllBytes(Paths.get(models, "digits.data"));
        ByteBuffer apart = ByteBuffer.allocateDirect(data.length + 3);
        apart.position(3);
        apart.put(data).flip().position(3);
        try (Model files = digits();
                Model portable = Model.fromFiles(models + "/../digits.pb", models + "/../digits.data");
                Model one = Model.fromFiles(models + "/digits.pb", models + "/digits.data", 1);
                Model bytes = Model.fromBytes(graph, data);
                Model streams =
                        Model.fromStreams(new FileInputStream(models + "/digits.pb"), new ByteArrayInputStream(data));
                Model mapped = Model.fromBuffers(map("digits.pb"), map("digits.data"));
                Model crooked = Model.fromBuffers(ByteBuffer.wrap(graph), apart.asReadOnlyBuffer());
                Model copied = Model.fromBuffers(ByteBuffer.wrap(graph), apart)) {
            Arrays.fill(graph, (byte) 0);
            Arrays.fill(data, (byte) 0);
            for (Model model : new Model[] {files, portable, one, bytes, streams, mapped, crooked, copied}) {
                System.out.println("digits " + bits(model.run(picture)[0]));
            }
            System.out.println("digits " + bits(direct(files, picture)));
            System.out.println("info " + files.inputs() + files.outputs() + files.inputs().get(0).format());
        }
        check(Model.embeddedNames().isEmpty(), "nothing is embedded");
    }

    private static ByteBuffer map(String name) throws IOException {
        try (FileChannel channel = FileChannel.open(Paths.get(models, name))) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
        }
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** With buffers whose contents stand in the middle of them, and an output that has room to spare. */
    private static float[] direct(Model model, float[] picture) {
        ByteBuffer in = buffer(8 + 256 + 8);
        ByteBuffer out = buffer(4 + 40 + 100);
        in.position(8);
        in.limit(8 + 256);
        FloatBuffer floats = in.asFloatBuffer();
        floats.put(picture);
        out.position(4);
        model.run(new ByteBuffer[] {in}, new ByteBuffer[] {out});
        check(out.position() == 4 && out.limit() == 44, "the limit tells the end");
        check(out.getInt(0) == 0, "nothing is written in front of it");
        float[] result = new float[10];
        out.asFloatBuffer().get(result);
        out.clear();
        while (out.position() < 44) {
            out.get();
        }
        while (out.hasRemaining()) {
            check(out.get() == 0, "nothing is written behind it");
        }
        return result;
    }

    private static String bits(float[] values) {
        StringBuilder text = new StringBuilder();
        for (float value : values) {
            text.append(String.format("%08x ", Float.floatToRawIntBits(value)));
        }
        return text.toString().trim();
    }

    private static void shapes() {
        try (Model model = Model.fromFiles(models + "/twice.pb", null)) {
            TensorInfo input = model.inputs().get(0);
            check(Arrays.equals(input.shape(), new long[] {4, 3}), "it starts at the bound");
            check(Arrays.equals(input.minShape(), new long[] {1, 3}), "the least");
            check(Arrays.equals(input.maxShape(), new long[] {4, 3}), "the largest");
            model.resize(new long[] {2, 3});
            check(model.outputs().get(0).bytes() == 24, "the output follows");
            float[] doubled = model.run(new float[] {1, 2, 3, 4, 5, 6})[0];
            check(Arrays.equals(doubled, new float[] {2, 4, 6, 8, 10, 12}), "twice");
            refused("LatheException", "", () -> model.resize(new long[] {5, 3}));
            refused("LatheException", "", () -> model.resize(new long[] {-1, 3}));
            refused("LatheException", "", () -> model.resize(new long[] {2, 3, 1}));
            refused("LatheException", "too many dimensions", () -> model.resize(new long[9]));
            refused("LatheException", "shape 0 is null", () -> model.resize(new long[][] {null}));
            refused("LatheException", "2 shapes are given", () -> model.resize(new long[1], new long[1]));
            refused("NullPointerException", "shapes", () -> model.resize((long[][]) null));
            check(model.run(new float[6])[0].length == 6, "a refused shape leaves the model as it was");
        }
    }

    /** Whole numbers, and an output whose size only the data decides. */
    private static void types() {
        try (Model model = Model.fromFiles(models + "/places.pb", null)) {
            TensorInfo output = model.outputs().get(0);
            check(model.inputs().get(0).type() == DataType.INT32 && output.type() == DataType.INT32, "types");
            ByteBuffer in = buffer(5 * 4);
            in.asIntBuffer().put(new int[] {7, 0, 0, -3, 0});
            ByteBuffer out = buffer((int) output.bytes());
            model.run(new ByteBuffer[] {in}, new ByteBuffer[] {out});
            check(out.limit() == 2 * 4 && out.getInt(0) == 0 && out.getInt(4) == 3, "where numbers are not zero");
            check(Arrays.equals(model.outputs().get(0).shape(), new long[] {1, 2}), "the shape tells, too");
            refused("LatheException", "does not hold floats", () -> model.run(new float[5]));
            refused("LatheException", "room for 4", () -> run(model, in, buffer(4)));
        }
    }

    // --- what does not ----------------------------------------------------------------------------------------------

    private static void refusals(float[] picture) throws IOException {
        byte[] graph = Files.readAllBytes(Paths.get(models, "digits.pb"));
        byte[] data = Files.readAllBytes(Paths.get(models, "digits.data"));
        refused("LatheException IO", "none.pb", () -> Model.fromFiles(models + "/none.pb", null));
        refused("LatheException", "zero character", () -> Model.fromFiles(models + "/digits.pb\0", null));
        refused("NullPointerException", "modelPath", () -> Model.fromFiles(null, null));
        refused("LatheException BAD_MODEL", "", () -> Model.fromBytes(data, data));
        refused("LatheException BAD_MODEL", "", () -> Model.fromBytes(graph, Arrays.copyOf(data, 100)));
        refused("LatheException BAD_MODEL", "", () -> Model.fromBytes(new byte[0], new byte[0]));
        refused("LatheException", "", () -> Model.fromBytes(graph, null));
        refused("NullPointerException", "model", () -> Model.fromBytes(null, data));
        refused("NullPointerException", "model", () -> Model.fromStreams(null, null));
        refused("LatheException", "threads", () -> Model.fromBytes(graph, data, -1));
        refused("LatheException", "", Model::embedded);
        refused("LatheException", "\ud83d\ude00", () -> Model.embedded("\ud83d\ude00", 0));
        broken();
        for (int at = 0; at < graph.length; at += 7) {
            byte[] damaged = graph.clone();
            damaged[at] ^= 0x5a;
            try (Model model = Model.fromBytes(damaged, data, 1)) {
                model.inputs();
                model.run(picture);
            } catch (LatheException problem) {
                check(!problem.getMessage().isEmpty(), "a message");
            }
        }
        try (Model model = digits()) {
            refusedRuns(model);
            refusedBuffers(model);
            System.out.println("digits " + bits(model.run(picture)[0]));
        }
    }

    private static void refusedRuns(Model model) {
        refused("LatheException INVALID_ARGUMENT", "'image' takes 64 floats, and 63", () -> model.run(new float[63]));
        refused("LatheException INVALID_ARGUMENT", "takes 64 floats, and 0", () -> model.run(new float[0]));
        refused("LatheException INVALID_ARGUMENT", "is null", () -> model.run(new float[][] {null}));
        refused("LatheException INVALID_ARGUMENT", "0 arrays are given; the model has 1 input", () -> model.run());
        refused("LatheException INVALID_ARGUMENT", "2 arrays are given", () -> model.run(new float[64], new float[64]));
        refused("NullPointerException", "inputs", () -> model.run((float[][]) null));
    }

    private static void refusedBuffers(Model model) {
        ByteBuffer in = buffer(256);
        ByteBuffer out = buffer(40);
        ByteBuffer foreign = in.duplicate().order(ByteOrder.BIG_ENDIAN);
        ByteBuffer shorter = buffer(256);
        shorter.position(4);
        refused("LatheException", "not a direct one", () -> run(model, ByteBuffer.allocate(256), out));
        refused("LatheException", "nativeOrder", () -> run(model, foreign, out));
        refused("LatheException", "takes 256 bytes, and 252", () -> run(model, shorter, out));
        refused("LatheException", "room for 36", () -> run(model, in, buffer(36)));
        ByteBuffer readOnly = out.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
        refused("LatheException", "read-only", () -> run(model, in, readOnly));
        refused("NullPointerException", "buffer", () -> run(model, null, out));
        refused("NullPointerException", "buffer", () -> run(model, in, null));
        refused("NullPointerException", "inputs", () -> model.run(null, new ByteBuffer[0]));
        refused("LatheException", "0 buffers are given", () -> model.run(new ByteBuffer[0], new ByteBuffer[] {out}));
        ByteBuffer[] both = {out, out};
        refused("LatheException", "2 buffers are given", () -> model.run(new ByteBuffer[] {in}, both));
        run(model, in.asReadOnlyBuffer().order(ByteOrder.nativeOrder()), out);
    }

    private static void run(Model model, ByteBuffer in, ByteBuffer out) {
        model.run(new ByteBuffer[] {in}, new ByteBuffer[] {out});
    }

    /** A stream that fails is closed, and so is the other one. */
    private static void broken() {
        boolean[] closed = new boolean[1];
        InputStream failing =
                new InputStream() {
                    @Override
                    public int read() throws IOException {
                        throw new IOException("broken");
                    }

                    @Override
                    public void close() {
                        closed[0] = true;
                    }
                };
        refused("IOException", "broken", () -> Model.fromStreams(new ByteArrayInputStream(new byte[9]), failing));
        check(closed[0], "the stream is closed");
    }

    private static void closing(float[] picture) {
        Model model = digits();
        model.close();
        model.close();
        refused("IllegalStateException", "closed", () -> model.run(picture));
        refused("IllegalStateException", "closed", () -> model.run(new ByteBuffer[0], new ByteBuffer[0]));
        refused("IllegalStateException", "closed", () -> model.resize(new long[4]));
        refused("IllegalStateException", "closed", model::inputs);
        refused("IllegalStateException", "closed", model::outputs);
        for (int i = 0; i < 200; i++) {
            digits().close();
        }
    }

    /** Two threads with a model each, two that share one, and one that closes it under them. */
    private static void threads(float[] picture) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        Model shared = digits();
        Callable<String> own =
                () -> {
                    String last = "";
                    try (Model model = digits()) {
                        for (int i = 0; i < 200; i++) {
                            last = bits(model.run(picture)[0]);
                        }
                    }
                    return last;
                };
        Callable<String> common =
                () -> {
                    String last = "";
                    try {
                        for (int i = 0; i < 1000000; i++) {
                            last = bits(shared.run(picture)[0]);
                        }
                    } catch (IllegalStateException problem) {
                        check(problem.getMessage().equals("the model is closed"), problem.getMessage());
                    }
                    return last;
                };
        Future<String> third = pool.submit(common);
        Future<String> fourth = pool.submit(common);
        Future<String> first = pool.submit(own);
        Future<String> second = pool.submit(own);
        System.out.println("digits " + first.get());
        System.out.println("digits " + second.get());
        shared.close();
        System.out.println("digits " + third.get());
        System.out.println("digits " + fourth.get());
        pool.shutdown();
    }

    private static void refused(String kind, String part, Act act) {
        try {
            act.run();
        } catch (Exception problem) {
            String code = problem instanceof LatheException ? " " + ((LatheException) problem).code() : "";
            String found = problem.getClass().getSimpleName() + code + ": " + problem.getMessage();
            check(found.startsWith(kind) && found.contains(part), found + " instead of " + kind + ": " + part);
            return;
        }
        throw new AssertionError("not refused: " + kind + ": " + part);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
