import com.sun.management.ThreadMXBean;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import javax.imageio.ImageIO;
import org.gramian.backbone.onnx.HostileGraphs;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.cli.Main;
import org.gramian.image.HostileImages;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.Mutation;
import org.gramian.image.ReadResult;
import org.gramian.model.Classifier;
import org.gramian.model.ModelFileException;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Damages images, models and weight files, kills trainings and loads a server, for a given time; see {@code scripts/attack}. Prints a
 * table and exits with 1 on a crash, a hang or a silent change. The damaged files are made by the mutations of the fuzz tests.
 */
class Attack {
    /** A single case that takes longer counts as a hang. */
    private static final Duration HANG = Duration.ofSeconds(30);

    private static final Pattern NUMBER = Pattern.compile("\\d+\\.\\d+(E-?\\d+)?");
    private static final double ROUNDING = 1e-5;
    private static final Pattern USED_HEAP = Pattern.compile("(?m)^jvm_memory_used_bytes\\{area=\"heap\".*\\} (\\S+)$");

    private static final List<String> TRAIN = List.of(
            "--backbone",
            "filters",
            "--pooling",
            "conv:8/rbf/spd:4/relu/triu/root/l2",
            "--epochs",
            "12",
            "--seed",
            "7",
            "--threads",
            "1",
            "--no-cache",
            "--no-report",
            "--device",
            "cpu",
            "--keep-every",
            "0s",
            "--fine-tune",
            "2");

    final Path home;
    private final String jars;
    final Path work;
    final long seed;
    private final int clients;
    private final List<Row> table = new ArrayList<>();
    private final List<String> details = new ArrayList<>(); // tables of single attacks
    private long slowest; // of the commands of this process
    private long maxMillis = HANG.toMillis();
    private final Map<String, Cost> costs = new TreeMap<>(); // of decoders, by format

    private Attack(Path home, String jars, Path work, long seed, int clients) {
        this.home = home;
        this.jars = jars;
        this.work = work;
        this.seed = seed;
        this.clients = clients;
    }

    /** One line of the result: milliseconds and megabytes of the worst case; the counts of failures come last. */
    record Row(
            String attack,
            long cases,
            String outcome,
            long slowest,
            long megabytes,
            long crashes,
            long hangs,
            long changes) {
        boolean failed() {
            return crashes + hangs + changes > 0;
        }
    }

    /** A damaged file that loads as if it were sound, or an answer that changes. */
    private static final class SilentChange extends Exception {
        SilentChange(String message) {
            super(message);
        }
    }

    /** One damaged file; returns whether it was accepted. */
    private interface Case {
        boolean accepts(SplittableRandom random) throws Exception;
    }

    /** Ends an attack after a time or a number of cases, whichever comes first. */
    record Limit(double seconds, long cases) {
        boolean reached(long began, long done) {
            return done >= cases || System.nanoTime() - began >= seconds * 1e9;
        }

        @Override
        public String toString() {
            return cases < Long.MAX_VALUE ? cases + " cases" : "%.0f s".formatted(seconds);
        }
    }

    /** Arguments: what to attack, checkout, jars, folder, seed, clients of the server, seconds, and the largest number of cases or {@code full}. */
    public static void main(String[] arguments) throws Exception {
        Attack attack = new Attack(
                Path.of(arguments[1]),
                arguments[2],
                Path.of(arguments[3]),
                Long.parseLong(arguments[4]),
                Integer.parseInt(arguments[5]));
        double seconds = Double.parseDouble(arguments[6]);
        if (arguments[0].startsWith("cases-")) {
            String kind = arguments[0].substring(6);
            attack.cases(kind, limit(arguments), attack.test(kind));
        } else {
            attack.run(arguments[0], seconds, arguments[7].equals("full"));
        }
    }

    private Case test(String kind) throws Exception {
        return switch (kind) {
            case "images" -> images();
            case "decoders" -> decoders();
            case "models" -> models();
            case "weights" -> weights();
            case "graphs" -> graphs();
            case "resume" -> resume();
            case "files" -> files();
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static Limit limit(String[] arguments) {
        return new Limit(Double.parseDouble(arguments[6]), Long.parseLong(arguments[7]));
    }

    /** Runs one part or {@code all}: each for its share of the time, or in the full form for its number of cases. */
    private void run(String part, double seconds, boolean full) throws Exception {
        System.err.println("attack: training the model; seed " + seed);
        delete(work.resolve("model"));
        long began = System.nanoTime();
        byte[] reference = trained(work.resolve("model"));
        double training = (System.nanoTime() - began) / 1e9;
        Predicate<String> runs = part.equals("all") ? name -> full || !name.equals("spark") : part::equals;
        if (runs.test("images")) {
            inChild("images", "mutated images through predict", limit(full, 10_000, 0.1 * seconds));
            commandLine();
        }
        if (runs.test("decoders")) {
            inChild("decoders", "mutated and crafted images, one decoder", limit(full, 10_200, 0.1 * seconds));
        }
        if (runs.test("models")) {
            inChild("models", "mutated models through load", limit(full, 5_000, 0.08 * seconds));
        }
        if (runs.test("weights")) {
            inChild("weights", "mutated weight files through load", limit(full, 2_000, 0.05 * seconds));
        }
        if (runs.test("graphs")) {
            inChild("graphs", "hostile ONNX graphs", limit(full, 2_000, 0.12 * seconds));
        }
        if (runs.test("resume")) {
            inChild("resume", "hostile run folders through --resume", limit(full, 500, 0.1 * seconds));
        }
        if (runs.test("files")) {
            inChild("files", "pipes, devices and links as files", new Limit(600, specials().size() * LINES.size()));
        }
        AttackCommands commands = new AttackCommands(this);
        if (runs.test("folders")) {
            table.add(commands.readOnly());
            table.add(commands.emptyFiles());
        }
        if (runs.test("memory")) {
            table.add(commands.littleMemory());
            table.add(commands.littleMemoryOfServer());
        }
        if (runs.test("names")) {
            table.add(commands.names());
        }
        if (runs.test("slow")) {
            table.add(commands.slowClients());
        }
        if (runs.test("reload")) {
            table.add(commands.reload(limit(full, 2_000, 0.06 * seconds)));
        }
        if (runs.test("spark")) {
            table.add(commands.spark());
        }
        if (runs.test("kills")) {
            kills(reference, training, limit(full, 100, 0.15 * seconds));
        }
        if (runs.test("load")) {
            server(full ? 3600 : 0.15 * seconds);
        }
        System.out.println("| attack | cases | outcome | slowest | memory | crashes | hangs | silent changes |");
        System.out.println("|---|---:|---|---:|---:|---:|---:|---:|");
        for (Row row : table) {
            System.out.printf(
                    "| %s | %d | %s | %d ms | %d MB | %d | %d | %d |%n",
                    row.attack,
                    row.cases,
                    row.outcome,
                    row.slowest,
                    row.megabytes,
                    row.crashes,
                    row.hangs,
                    row.changes);
        }
        details.forEach(System.out::println);
        System.exit(table.stream().anyMatch(Row::failed) ? 1 : 0);
    }

    private static Limit limit(boolean full, long cases, double seconds) {
        return full ? new Limit(7200, cases) : new Limit(seconds, Long.MAX_VALUE);
    }

    // Damaged files, each kind in a virtual machine of its own: native code may end it.

    private void inChild(String kind, String name, Limit limit) throws IOException, InterruptedException {
        System.err.println("attack: " + name + ", " + limit);
        Path log = work.resolve(kind + ".log");
        List<String> line = java("Attack", "cases-" + kind, home, jars, work, seed, clients, limit.seconds, limit.cases);
        if (kind.equals("decoders")) { // growth of the process is then that of native memory
            line.addAll(1, List.of("-Xms1g", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"));
        }
        Process child = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = child.waitFor((long) (1000 * (limit.seconds + HANG.toSeconds() + 60)), TimeUnit.MILLISECONDS);
        child.destroyForcibly().waitFor();
        List<String> lines = Files.readAllLines(log);
        String last = lines.isEmpty() ? "" : lines.getLast();
        if (ended && last.startsWith("result ")) {
            long[] n = Arrays.stream(last.substring(7).split(" "))
                    .mapToLong(Long::parseLong)
                    .toArray();
            table.add(
                    new Row(name, n[0], n[1] + " accepted, " + (n[0] - n[1]) + " refused", n[2], n[6], n[3], n[4], n[5]));
            lines.stream().filter(text -> text.startsWith("| ")).forEach(details::add);
        } else {
            String outcome = ended ? "exit code " + child.exitValue() : "no end";
            table.add(new Row(name, 0, outcome, 0, 0, ended ? 1 : 0, ended ? 0 : 1, 0));
        }
        if (table.getLast().failed()) {
            lines.forEach(System.err::println);
        }
    }

    /** Runs cases up to the limit; a watching thread ends the process if one of them hangs. */
    private void cases(String kind, Limit limit, Case test) {
        AtomicLong started = new AtomicLong(System.nanoTime());
        AtomicLong number = new AtomicLong();
        long[] counts = new long[7]; // cases, accepted, slowest, crashes, hangs, silent changes, megabytes
        Thread.ofPlatform().daemon().start(() -> {
            while (System.nanoTime() - started.get() < HANG.toNanos()) {
                try {
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    return;
                }
            }
            System.out.println("hang: case " + number + ", file " + work.resolve(kind + ".case"));
            for (var stack : Thread.getAllStackTraces().entrySet()) {
                System.out.println(stack.getKey());
                Arrays.stream(stack.getValue()).forEach(frame -> System.out.println("    " + frame));
            }
            counts[2] = HANG.toMillis();
            counts[4]++;
            end(counts);
        });
        long began = System.nanoTime();
        slowest = 0;
        for (long i = 0; !limit.reached(began, i) && counts[3] + counts[5] < 5; i++) {
            number.set(i);
            long before = Memory.reset();
            started.set(System.nanoTime());
            try {
                if (test.accepts(new SplittableRandom(seed * 1_000_003 + i))) {
                    counts[1]++;
                }
            } catch (SilentChange change) {
                counts[5]++;
                System.out.println("silent change: case " + i + ": " + change.getMessage());
                keep(kind, i);
            } catch (Throwable crash) {
                counts[3]++;
                System.out.println("crash: case " + i);
                crash.printStackTrace(new PrintWriter(System.out, true));
                keep(kind, i);
            }
            counts[0]++;
            long millis = (System.nanoTime() - started.get()) / 1_000_000;
            long megabytes = (Memory.peak("self") - before) >> 20;
            counts[2] = Math.max(counts[2], slowest > 0 ? slowest : millis);
            counts[6] = Math.max(counts[6], megabytes);
            if (kind.equals("graphs") && megabytes > 1_024) {
                counts[3]++;
                System.out.println("case " + i + " took " + megabytes + " MB");
                keep(kind, i);
            }
        }
        costs.forEach((format, cost) -> System.out.println("| " + format + " | " + cost + " |"));
        end(counts);
    }

    private static void end(long[] counts) {
        System.out.println(
                "result " + Arrays.stream(counts).mapToObj(Long::toString).collect(Collectors.joining(" ")));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Resident memory of a process as Linux tells it; zero elsewhere. */
    static final class Memory {
        private Memory() {}

        /** Lets the peak of this process begin again, and returns it. */
        static long reset() {
            try {
                Files.writeString(Path.of("/proc/self/clear_refs"), "5");
            } catch (IOException e) {
                return peak("self"); // the peak of all cases
            }
            return peak("self");
        }

        static long peak(Object process) {
            try (Stream<String> lines = Files.lines(Path.of("/proc/" + process + "/status"))) {
                return lines.filter(line -> line.startsWith("VmHWM:"))
                        .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                        .sum();
            } catch (IOException | UncheckedIOException e) {
                return 0; // it has ended
            }
        }
    }

    private void keep(String kind, long number) {
        try {
            Files.copy(work.resolve(kind + ".case"), work.resolve(kind + "-" + number + ".failed"));
        } catch (IOException e) {
            System.out.println(e);
        }
    }

    /** Damages one of the files and writes it to {@code kind.case}; headers come from the others. */
    private byte[] mutant(String kind, List<byte[]> originals, List<byte[]> others, SplittableRandom random)
            throws IOException {
        byte[] original = originals.get(random.nextInt(originals.size()));
        byte[] mutant = mutated(original, others, random);
        Files.write(work.resolve(kind + ".case"), mutant);
        return mutant;
    }

    static byte[] mutated(byte[] original, List<byte[]> others, SplittableRandom random) {
        byte[] mutant = original;
        while (Arrays.equals(mutant, original)) {
            mutant = Mutation.values()[random.nextInt(Mutation.values().length)].apply(original, others, random);
        }
        return mutant;
    }

    private Case images() throws IOException {
        List<byte[]> originals = imageFiles();
        Classifier classifier = Classifier.load(model());
        byte[] sound = originals.getFirst();
        String expected = classifier.predict(sound).ranking().toString();
        return random -> {
            byte[] mutant = mutant("images", originals, originals, random);
            boolean accepted;
            try {
                double probability = classifier.predict(mutant).probability();
                if (!(probability >= 0 && probability <= 1.000001)) {
                    throw new SilentChange("probability " + probability);
                }
                accepted = true;
            } catch (UnreadableImageException refused) {
                accepted = false;
            }
            if (random.nextInt(100) == 0
                    && !classifier.predict(sound).ranking().toString().equals(expected)) {
                throw new SilentChange("the prediction of a sound image changed");
            }
            return accepted;
        };
    }

    /** Worst cost of a decoder: of a file of more bytes than declared pixels by bytes, else by pixels. */
    private static final class Cost {
        /** Twice what was measured; a lossless WebP takes 330 bytes per pixel, up to a megapixel. */
        private static final double MAX_SECONDS = 2.5e-6;

        private static final double MAX_BYTES = 400;

        private long cases;
        private double seconds;
        private final double[] worst = new double[4]; // seconds and bytes for a byte, seconds and bytes for a pixel

        void add(long fileBytes, long pixels, double time, long memory) {
            cases++;
            seconds = Math.max(seconds, time);
            int kind = fileBytes >= pixels ? 0 : 2;
            double size = Math.max(100_000, Math.max(fileBytes, pixels)); // constant costs count as those of 100 kB
            worst[kind] = Math.max(worst[kind], time / size);
            worst[kind + 1] = Math.max(worst[kind + 1], memory / size);
        }

        boolean isOver() {
            return worst[0] > MAX_SECONDS || worst[2] > MAX_SECONDS || worst[1] > MAX_BYTES || worst[3] > MAX_BYTES;
        }

        @Override
        public String toString() {
            return "%d | %.2f s | %.2f s | %.0f MB | %.2f s | %.0f MB"
                    .formatted(cases, seconds, 1e6 * worst[0], worst[1], 1e6 * worst[2], worst[3]);
        }
    }

    /** Measures the processor time of this thread, all that it allocates, and growth of native memory. */
    private Case decoders() throws IOException {
        List<byte[]> originals = imageFiles();
        Iterator<byte[]> crafted = HostileImages.crafted().iterator();
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return random -> {
            byte[] file = crafted.hasNext() ? crafted.next() : mutant("decoders", originals, originals, random);
            long pixels = reader.pixels(file);
            long native0 = Memory.reset();
            long allocated = thread.getCurrentThreadAllocatedBytes();
            long began = thread.getCurrentThreadCpuTime();
            boolean accepted = reader.read(file) instanceof ReadResult.Readable;
            double time = 1e-9 * (thread.getCurrentThreadCpuTime() - began);
            long memory = thread.getCurrentThreadAllocatedBytes() - allocated + Memory.peak("self") - native0;
            String format = HostileImages.format(file).map(Enum::name).orElse("other");
            Cost cost = costs.computeIfAbsent(format, _ -> new Cost());
            cost.add(file.length, pixels, time, memory);
            if (cost.isOver()) {
                Files.write(work.resolve("decoders.case"), file);
                costs.put(format, new Cost());
                throw new AssertionError(
                        format + " of " + file.length + " bytes and " + pixels + " pixels is over the bound: " + cost);
            }
            return accepted;
        };
    }

    /** Half of the models have valid checksums: these may load. */
    private Case models() throws IOException {
        List<byte[]> sound = List.of(Files.readAllBytes(model()));
        List<byte[]> others = imageFiles();
        Path path = work.resolve("models.case");
        return random -> {
            boolean sealed = random.nextBoolean();
            if (sealed) {
                seal(model(), path, Map.of(), random);
            } else {
                mutant("models", sound, others, random);
            }
            try (Classifier classifier = Classifier.load(path)) {
                if (!sealed) {
                    throw new SilentChange("a damaged model was loaded: " + classifier.classes());
                }
                double probability = classifier.predict(others.getFirst()).probability();
                if (!(probability >= 0 && probability <= 1.000001)) {
                    throw new SilentChange("probability " + probability);
                }
                return true;
            } catch (IllegalArgumentException overflow) { // of large weights
                if (!sealed || !overflow.getMessage().contains("expected a finite score")) {
                    throw overflow;
                }
                return true;
            } catch (ModelFileException refused) {
                if (!refused.getMessage().startsWith(path + ": ")) {
                    throw new AssertionError("expected the name of the file", refused);
                }
                return false;
            }
        };
    }

    /** Writes a file of tensors with a part of it changed and checksums that fit. */
    static void seal(Path from, Path to, Map<String, String> more, SplittableRandom random) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(from, arena);
            Map<String, String> metadata = new LinkedHashMap<>(file.metadata());
            Map<String, StoredTensor> tensors = new LinkedHashMap<>(file.tensors());
            String key = List.copyOf(metadata.keySet()).get(random.nextInt(metadata.size()));
            String name = List.copyOf(tensors.keySet()).get(random.nextInt(tensors.size()));
            StoredTensor tensor = tensors.get(name);
            switch (more.isEmpty() ? random.nextInt(6) : 6) {
                case 0 -> metadata.remove(key);
                case 1 -> {
                    byte[] text = (metadata.get(key) + " ").getBytes(StandardCharsets.UTF_8);
                    metadata.put(key, new String(mutated(text, List.of(text), random), StandardCharsets.UTF_8));
                }
                case 2 -> {
                    String extreme = List.of("0", "-1", "1e308", "99999999999", "NaN").get(random.nextInt(5));
                    int skipped = random.nextInt(8);
                    AtomicLong found = new AtomicLong();
                    metadata.put(
                            key,
                            Pattern.compile("-?\\d+(\\.\\d+)?(E-?\\d+)?")
                                    .matcher(metadata.get(key))
                                    .replaceAll(number -> found.getAndIncrement() == skipped ? extreme : number.group()));
                }
                case 3 -> tensors.put(random.nextBoolean() ? name + "2" : name, tensors.remove(name));
                case 4 -> tensors.put(
                        name,
                        new StoredTensor(tensor.type(), Shape.of(tensor.shape().elements()), tensor.data()));
                case 5 -> {
                    MemorySegment data = arena.allocate(Math.max(8, tensor.data().byteSize()), 8)
                            .asSlice(0, tensor.data().byteSize());
                    data.copyFrom(tensor.data());
                    for (int i = random.nextInt(4); i >= 0 && data.byteSize() > 0; i--) {
                        data.set(ValueLayout.JAVA_BYTE, random.nextLong(data.byteSize()), (byte) random.nextInt());
                    }
                    tensors.put(name, new StoredTensor(tensor.type(), tensor.shape(), data));
                }
                default -> metadata.putAll(more);
            }
            Safetensors.writeChecked(to, tensors, metadata);
        }
    }

    /** Weight files of others have no checksum that covers every bit: they must end in tensors or in a reason. */
    private Case weights() throws IOException {
        List<byte[]> originals = new ArrayList<>();
        Path archive = home.resolve("core/src/test/resources/weights/zip.pth");
        originals.add(Files.readAllBytes(archive));
        originals.add(Files.readAllBytes(model()));
        Path path = work.resolve("weights.case");
        return random -> {
            if (random.nextBoolean()) {
                Files.write(path, pickled(archive, random));
            } else {
                mutant("weights", originals, originals, random);
            }
            try (Arena arena = Arena.ofConfined()) {
                for (StoredTensor tensor :
                        WeightFile.read(path, arena, _ -> {}).tensors().values()) {
                    tensor.data().toArray(ValueLayout.JAVA_BYTE);
                }
                return true;
            } catch (TensorFileException refused) {
                return false;
            }
        };
    }

    /** A sound archive of PyTorch whose pickle, or another entry, is damaged or random: the checksum of the entry fits. */
    private static byte[] pickled(Path archive, SplittableRandom random) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        boolean every = random.nextInt(4) == 0;
        try (ZipFile in = new ZipFile(archive.toFile());
                ZipOutputStream out = new ZipOutputStream(bytes)) {
            for (ZipEntry entry : Collections.list(in.entries())) {
                byte[] content = in.getInputStream(entry).readAllBytes();
                if (entry.getName().endsWith("/data.pkl") && random.nextInt(4) == 0) { // operations and small arguments
                    content = new byte[1 << random.nextInt(16)];
                    byte[] operations = "(.0KJMXB}]ebaqrhjRQtlsuNGI\u0080\u0085\u0086\u0087\u0088\u0089\u008ac".getBytes(StandardCharsets.ISO_8859_1);
                    for (int i = 0; i < content.length; i++) {
                        content[i] = random.nextInt(4) == 0 ? (byte) random.nextInt(4) : operations[random.nextInt(operations.length)];
                    }
                } else if (content.length > 0 && (every || entry.getName().endsWith("/data.pkl"))) {
                    content = mutated(content, List.of(content), random);
                }
                CRC32 checksum = new CRC32();
                checksum.update(content);
                ZipEntry stored = new ZipEntry(entry.getName());
                stored.setMethod(ZipEntry.STORED);
                stored.setSize(content.length);
                stored.setCrc(checksum.getValue());
                out.putNextEntry(stored);
                out.write(content);
            }
        }
        return bytes.toByteArray();
    }

    /** Graphs through the command line as backbones, and within models whose checksums fit. */
    private Case graphs() throws IOException {
        List<byte[]> crafted = List.copyOf(HostileGraphs.crafted().values());
        Iterator<byte[]> first = crafted.iterator();
        Path exported = work.resolve("exported.onnx");
        command("export", model(), exported);
        maxMillis = 5_000;
        List<byte[]> sound = List.of(
                Files.readAllBytes(exported),
                Files.readAllBytes(home.resolve("core/src/test/resources/models/small-backbone.onnx")));
        Path path = work.resolve("graphs.case");
        Path named = work.resolve("graph.onnx");
        return random -> {
            if (first.hasNext()) {
                Files.write(path, first.next());
            } else if (random.nextBoolean()) {
                Files.write(path, HostileGraphs.random(random));
            } else {
                mutant("graphs", random.nextInt(4) == 0 ? crafted : sound, crafted, random);
            }
            Files.copy(path, named, StandardCopyOption.REPLACE_EXISTING);
            String text = Base64.getEncoder().encodeToString(Files.readAllBytes(path));
            Path model = work.resolve("graph.safetensors");
            seal(model(), model, Map.of("network", text, "backbone", "hostile"), random);
            if (command("show", model) == 0) {
                throw new SilentChange("a model with another graph was read");
            }
            command("predict", named, textures().resolve("dotted/dotted_01.jpg"));
            return command("backbones", named) == 0
                    && command("weights", "import", "hostile", named, "--weights-dir", work.resolve("hostile")) == 0;
        };
    }

    /** Runs a command in this process; fails unless it ends in time with a code and a sentence for users. */
    private int command(Object... arguments) {
        long began = System.nanoTime();
        StringWriter text = new StringWriter();
        PrintWriter writer = new PrintWriter(text, true);
        int code = Main.commandLine()
                .setOut(writer)
                .setErr(writer)
                .execute(Stream.of(arguments).map(Object::toString).toArray(String[]::new));
        requireSentence(code, text.toString(), List.of(arguments));
        long millis = (System.nanoTime() - began) / 1_000_000;
        slowest = Math.max(slowest, millis);
        if (millis > maxMillis) {
            throw new AssertionError(millis + " ms for " + List.of(arguments));
        }
        return code;
    }

    static void requireSentence(int code, String output, List<?> line) {
        boolean known = Set.of(0, 2, 3, 4, 5).contains(code) || code == 1 && output.contains("out of memory");
        if (!known || output.contains("\tat ") || output.contains("internal error") || output.contains("Exception")) {
            throw new AssertionError("exit code " + code + " of " + line + ": " + output);
        }
    }

    /** Damages a file of an interrupted run, or replaces it, and resumes: a model may change only by its configuration. */
    private Case resume() throws IOException, InterruptedException {
        Path sound = work.resolve("interrupted");
        delete(sound);
        List<Object> line = new ArrayList<>(List.of("train", textures(), "--out", sound, "--crops", "center:32"));
        line.addAll(TRAIN);
        line.set(line.indexOf("12"), "2");
        line.set(line.lastIndexOf("2"), "5"); // epochs of fine-tuning
        Process training = start(work.resolve("train.log"), line.toArray());
        while (training.isAlive() && !Files.exists(sound.resolve("stage1.json"))) { // while it fine-tunes
            Thread.sleep(2);
        }
        training.destroyForcibly().waitFor();
        Path whole = work.resolve("uninterrupted");
        delete(whole);
        line.set(line.indexOf(sound), whole);
        command(line.toArray());
        byte[] reference = Files.readAllBytes(whole.resolve("model.safetensors"));
        Path out = work.resolve("resumed");
        Path outside = Files.createDirectories(work.resolve("outside"));
        List<Path> specials = specials();
        return random -> {
            delete(out);
            copy(sound, out);
            delete(outside);
            copy(sound, outside);
            List<Path> files;
            try (Stream<Path> all = Files.list(out)) {
                files = all.filter(Files::isRegularFile).sorted().toList();
            }
            Path file = files.get(random.nextInt(files.size()));
            String name = file.getFileName().toString();
            boolean sealed = name.endsWith(".safetensors") && random.nextBoolean();
            if (sealed) {
                seal(outside.resolve(name), file, Map.of(), random);
            } else if (random.nextInt(4) == 0) {
                Files.delete(file);
                Path special = random.nextBoolean()
                        ? outside.resolve(name)
                        : specials.get(random.nextInt(specials.size()));
                Files.createSymbolicLink(file, special);
            } else if (Files.size(file) > 0) {
                byte[] content = Files.readAllBytes(file);
                Files.write(file, mutated(content, List.of(content), random));
            }
            Files.writeString(work.resolve("resume.case"), file + (sealed ? " with valid checksums" : ""));
            Map<Path, byte[]> before = contents(outside);
            boolean done = command("train", "--resume", out, "--threads", "1", "--device", "cpu") == 0;
            Map<Path, byte[]> after = contents(outside);
            if (!before.keySet().equals(after.keySet())
                    || before.keySet().stream().anyMatch(one -> !Arrays.equals(before.get(one), after.get(one)))) {
                throw new SilentChange("a file outside changed through a link in place of " + name);
            }
            if (done
                    && !sealed
                    && !Set.of("config.yaml", "images.txt", "audit.json").contains(name)
                    && !Arrays.equals(Files.readAllBytes(out.resolve("model.safetensors")), reference)) {
                throw new SilentChange("the model of a run with a damaged " + name + " differs");
            }
            return done;
        };
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        for (Map.Entry<Path, byte[]> file : contents(from).entrySet()) {
            Files.write(to.resolve(file.getKey().getFileName()), file.getValue());
        }
    }

    private static Map<Path, byte[]> contents(Path folder) throws IOException {
        Map<Path, byte[]> contents = new TreeMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                contents.put(file, Files.readAllBytes(file));
            }
        }
        return contents;
    }

    /** What is no file: pipe, devices, socket, folder, links to nothing and to themselves. */
    List<Path> specials() throws IOException, InterruptedException {
        Path folder = work.resolve("specials");
        List<Path> specials = new ArrayList<>(Stream.of("pipe", "socket", "folder", "lost", "loop")
                .map(folder::resolve)
                .toList());
        if (Files.notExists(folder)) {
            Files.createDirectories(folder);
            new ProcessBuilder("mkfifo", specials.get(0).toString()).start().waitFor();
            ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                    .bind(UnixDomainSocketAddress.of(specials.get(1)));
            Files.createDirectory(specials.get(2));
            Files.createSymbolicLink(specials.get(3), folder.resolve("nothing"));
            Files.createSymbolicLink(specials.get(4), specials.get(4));
        }
        for (String device : List.of("zero", "full", "random", "null")) {
            specials.add(Path.of("/dev", device));
        }
        return specials;
    }

    /** Command lines with a link {@code SPECIAL.onnx} and the like to what is no file. */
    private static final List<String> LINES = List.of(
            "predict MODEL SPECIAL.jpg",
            "predict MODEL ODD --format jsonl",
            "predict SPECIAL.safetensors IMAGE",
            "predict SPECIAL.onnx IMAGE",
            "predict MODEL IMAGE --out SPECIAL.txt",
            "show SPECIAL.safetensors",
            "backbones SPECIAL.onnx",
            "weights import mine SPECIAL.onnx --weights-dir HOSTILE",
            "weights import squeezenet SPECIAL.pth --weights-dir HOSTILE",
            "train ODD --dry-run --backbone SPECIAL.onnx",
            "train ODD --dry-run --backbone filters",
            "train TEXTURES --dry-run --config SPECIAL.yaml",
            "train TEXTURES --dry-run --labels SPECIAL.csv",
            "train SPECIAL.csv --dry-run",
            "train TEXTURES --backbone filters --epochs 1 --fine-tune 0 --no-report --out SPECIAL.run",
            "train --resume SPECIAL.run",
            "extend SPECIAL.run TEXTURES",
            "evaluate MODEL SPECIAL.csv",
            "evaluate MODEL ODD",
            "audit ODD",
            "audit TEXTURES --json SPECIAL.json",
            "explain MODEL SPECIAL.jpg HOSTILE.png",
            "explain MODEL IMAGE SPECIAL.png",
            "export MODEL SPECIAL.onnx",
            "report SPECIAL.run",
            "compare SPECIAL.json SPECIAL.json");

    private Case files() throws IOException, InterruptedException {
        List<Path> specials = specials();
        AtomicInteger next = new AtomicInteger();
        Path odd = work.resolve("odd");
        return _ -> {
            int i = next.getAndIncrement();
            Path special = specials.get(i / LINES.size());
            delete(odd);
            for (String name : List.of("dotted", "striped")) {
                copy(textures().resolve(name), odd.resolve(name));
            }
            Files.createSymbolicLink(odd.resolve("dotted/odd.jpg"), special);
            Files.createSymbolicLink(odd.resolve("odd"), special);
            String line = LINES.get(i % LINES.size());
            Files.writeString(work.resolve("files.case"), special + ": " + line);
            List<String> words = new ArrayList<>();
            for (String word : line.split(" ", -1)) {
                if (word.startsWith("SPECIAL")) {
                    Path link = work.resolve(word);
                    Files.deleteIfExists(link);
                    Files.createSymbolicLink(link, special);
                    words.add(link.toString());
                } else {
                    words.add(word.replace("MODEL", model().toString())
                            .replace("ODD", odd.toString())
                            .replace("TEXTURES", textures().toString())
                            .replace("IMAGE", textures().resolve("dotted/dotted_01.jpg").toString())
                            .replace("HOSTILE", work.resolve("hostile").toString()));
                }
            }
            boolean done = command(words.toArray()) == 0;
            if (!Files.readAttributes(Path.of("/dev/null"), BasicFileAttributes.class).isOther()) {
                throw new SilentChange("a device was replaced");
            }
            return done;
        };
    }

    List<byte[]> imageFiles() throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (Path path : List.of(
                home.resolve("docs/examples/textures/dotted/dotted_01.jpg"),
                home.resolve("docs/examples/textures/striped/striped_01.jpg"))) {
            files.add(Files.readAllBytes(path));
            BufferedImage image = ImageIO.read(path.toFile());
            for (String format : List.of("png", "bmp", "gif", "tiff")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                if (ImageIO.write(image, format, out)) {
                    files.add(out.toByteArray());
                }
            }
        }
        try (Stream<Path> webp = Files.list(home.resolve("core/src/test/resources/images"))) {
            for (Path path : webp.filter(path -> path.toString().endsWith(".webp"))
                    .sorted()
                    .toList()) {
                files.add(Files.readAllBytes(path));
            }
        }
        return files;
    }

    // The command line.

    Path model() {
        return work.resolve("model/model.safetensors");
    }

    Path textures() {
        return home.resolve("docs/examples/textures");
    }

    List<String> java(Object... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path")));
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        return command;
    }

    Process start(Path log, Object... arguments) throws IOException {
        List<Object> all = new ArrayList<>(List.of("org.gramian.cli.Main"));
        all.addAll(List.of(arguments));
        return new ProcessBuilder(java(all.toArray()))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    private Process train(Path out) throws IOException {
        List<Object> line = new ArrayList<>(List.of("train", textures(), "--out", out));
        line.addAll(TRAIN);
        return start(work.resolve("train.log"), line.toArray());
    }

    private byte[] trained(Path out) throws IOException, InterruptedException {
        if (train(out).waitFor() != 0) {
            throw new IOException("training failed: " + Files.readString(work.resolve("train.log")));
        }
        return Files.readAllBytes(out.resolve("model.safetensors"));
    }

    /** A folder of damaged images through the command {@code predict}. */
    private void commandLine() throws IOException, InterruptedException {
        int count = 200;
        List<byte[]> originals = imageFiles();
        Path folder = Files.createDirectories(work.resolve("damaged"));
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            Files.write(folder.resolve("image%03d.jpg".formatted(i)), mutant("images", originals, originals, random));
        }
        Path log = work.resolve("predict.log");
        long began = System.nanoTime();
        Process process = start(log, "predict", model(), folder, "--format", "jsonl");
        boolean ended = process.waitFor(180, TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();
        String output = Files.readString(log);
        boolean crash = ended && (process.exitValue() != 0 && process.exitValue() != 3 || output.contains("\tat "));
        if (crash) {
            System.err.println(output);
        }
        table.add(new Row(
                "mutated images, command predict",
                count,
                "exit code " + process.exitValue(),
                (System.nanoTime() - began) / 1_000_000,
                0,
                crash ? 1 : 0,
                ended ? 0 : 1,
                0));
    }

    /** Kills a training at random times, several times over, and resumes it: the model must be the same to the byte. */
    private void kills(byte[] reference, double training, Limit limit) throws IOException, InterruptedException {
        System.err.println("attack: kills with resume, " + limit);
        Random random = new Random(seed);
        long kills = 0;
        long finished = 0;
        long crashes = 0;
        long hangs = 0;
        long changes = 0;
        long slowest = 0;
        long start = System.nanoTime();
        Path out = work.resolve("killed");
        while (!limit.reached(start, kills)) {
            delete(out);
            Process process = train(out);
            for (int more = random.nextInt(3); more >= 0 && !limit.reached(start, kills); more--) {
                if (!process.waitFor(
                        (long) (1000 * (0.2 * training + random.nextDouble() * training)), TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly().waitFor();
                    kills++;
                    if (kills % 10 == 0) {
                        System.err.println("attack: " + kills + " kills, " + finished + " trainings ended the same");
                    }
                }
                process = Files.exists(out.resolve("checkpoint.safetensors"))
                                || Files.exists(out.resolve("model.safetensors"))
                        ? start(work.resolve("train.log"), "train", "--resume", out, "--threads", "1")
                        : again(out);
            }
            long began = System.nanoTime();
            if (!process.waitFor((long) (20 * training) + HANG.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                hangs++;
                continue;
            }
            slowest = Math.max(slowest, (System.nanoTime() - began) / 1_000_000);
            if (process.exitValue() != 0) {
                crashes++;
                System.err.println(Files.readString(work.resolve("train.log")));
            } else if (!Arrays.equals(Files.readAllBytes(out.resolve("model.safetensors")), reference)) {
                changes++;
                Path kept = work.resolve("killed-differs-" + changes);
                Files.move(out, kept);
                System.err.println("attack: the model of a killed and resumed training differs: " + kept);
            } else {
                finished++;
            }
        }
        table.add(new Row(
                "kills with resume", kills, finished + " trainings ended the same", slowest, 0, crashes, hangs, changes));
    }

    private Process again(Path out) throws IOException {
        delete(out);
        return train(out);
    }

    static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    // The server.

    private static final class Load {
        final AtomicLong requests = new AtomicLong();
        final AtomicLong refused = new AtomicLong();
        final AtomicLong failed = new AtomicLong();
        final AtomicLong busy = new AtomicLong();
        final AtomicLong hangs = new AtomicLong();
        final AtomicLong changes = new AtomicLong();
        final AtomicLong slowest = new AtomicLong();
    }

    private void server(double seconds) throws IOException, InterruptedException {
        System.err.printf("attack: load on the server, %d clients, %.0f s%n", clients, seconds);
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Path log = work.resolve("serve.log");
        Process process = start(log, "serve", model(), "--port", port);
        URI uri = URI.create("http://localhost:" + port + "/v1/predict?top=3");
        Load load = new Load();
        try (HttpClient client = HttpClient.newHttpClient()) {
            byte[] sound = imageFiles().getFirst();
            String expected = firstAnswer(client, uri, sound, process, log);
            List<Long> memory = new ArrayList<>();
            List<Long> heap = new ArrayList<>();
            long end = System.nanoTime() + (long) (seconds * 1e9);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                SplittableRandom random = new SplittableRandom(seed + i);
                threads.add(Thread.ofPlatform().start(() -> requests(client, uri, random, end, expected, load)));
            }
            while (System.nanoTime() < end && process.isAlive()) {
                Thread.sleep(1000);
                memory.add(residentBytes(process));
                heap.add(heapBytes(client, uri.resolve("/metrics")));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            boolean alive = process.isAlive();
            Span resident = Span.of(memory);
            Span used = Span.of(heap);
            boolean grows = resident.grows() || used.grows();
            if (!alive || load.failed.get() > 0) {
                System.err.println(Files.readString(log));
            }
            String outcome = "%d refused, %d busy, memory %s, heap %s%s"
                    .formatted(load.refused.get(), load.busy.get(), resident, used, grows ? " GROWS" : "");
            table.add(new Row(
                    "load on the server",
                    load.requests.get(),
                    outcome,
                    load.slowest.get(),
                    memory.stream().mapToLong(Long::longValue).max().orElse(0) >> 20,
                    load.failed.get() + (alive ? 0 : 1) + (grows ? 1 : 0),
                    load.hangs.get(),
                    load.changes.get()));
        } finally {
            process.destroy();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                table.add(new Row("end of the server", 1, "no end after SIGTERM", 60_000, 0, 0, 1, 0));
            }
        }
    }

    static HttpRequest post(URI uri, byte[] body) {
        return HttpRequest.newBuilder(uri)
                .timeout(HANG)
                .header("Content-Type", "image/jpeg")
                .POST(BodyPublishers.ofByteArray(body))
                .build();
    }

    /** Compares answers but for rounding: the last bits of the head's float32 sums depend on the size of the batch. */
    static boolean same(String answer, String other) {
        if (!NUMBER.matcher(answer).replaceAll("#").equals(NUMBER.matcher(other).replaceAll("#"))) {
            return false;
        }
        double[] found = NUMBER.matcher(answer)
                .results()
                .mapToDouble(m -> Double.parseDouble(m.group()))
                .toArray();
        double[] expected = NUMBER.matcher(other)
                .results()
                .mapToDouble(m -> Double.parseDouble(m.group()))
                .toArray();
        return IntStream.range(0, found.length).allMatch(i -> Math.abs(found[i] - expected[i]) < ROUNDING);
    }

    static String firstAnswer(HttpClient client, URI uri, byte[] sound, Process process, Path log)
            throws IOException, InterruptedException {
        for (int i = 0; i < 120 && process.isAlive(); i++) {
            try {
                HttpResponse<String> response = client.send(post(uri, sound), BodyHandlers.ofString());
                if (response.statusCode() == 200) {
                    return response.body();
                }
            } catch (IOException e) {
                // not listening yet
            }
            Thread.sleep(500);
        }
        throw new IOException("the server did not start: " + Files.readString(log));
    }

    private void requests(HttpClient client, URI uri, SplittableRandom random, long end, String expected, Load load) {
        try {
            List<byte[]> originals = imageFiles();
            while (System.nanoTime() < end) {
                boolean damaged = random.nextInt(3) == 0;
                byte[] body = originals.getFirst();
                if (damaged) {
                    byte[] original = originals.get(random.nextInt(originals.size()));
                    body = Mutation.values()[random.nextInt(Mutation.values().length)].apply(
                            original, originals, random);
                }
                long began = System.nanoTime();
                HttpResponse<String> response = client.send(post(uri, body), BodyHandlers.ofString());
                load.slowest.accumulateAndGet((System.nanoTime() - began) / 1_000_000, Math::max);
                load.requests.incrementAndGet();
                int status = response.statusCode();
                if (status == 429 || status == 503) {
                    load.busy.incrementAndGet();
                } else if (status >= 500 || !damaged && status != 200) {
                    load.failed.incrementAndGet();
                    System.err.println("attack: status " + status + ": " + response.body());
                } else if (status != 200) {
                    load.refused.incrementAndGet();
                } else if (!damaged && !same(response.body(), expected)) {
                    load.changes.incrementAndGet();
                    System.err.println("attack: expected " + expected + ", found " + response.body());
                }
            }
        } catch (java.net.http.HttpTimeoutException e) {
            load.hangs.incrementAndGet();
        } catch (IOException | InterruptedException e) {
            load.failed.incrementAndGet();
            System.err.println("attack: " + e);
        }
    }

    private static long residentBytes(Process process) throws IOException, InterruptedException {
        Process ps = new ProcessBuilder("ps", "-o", "rss=", "-p", Long.toString(process.pid())).start();
        String kilobytes = new String(ps.getInputStream().readAllBytes()).strip();
        ps.waitFor();
        return kilobytes.isEmpty() ? 0 : 1024 * Long.parseLong(kilobytes);
    }

    /** Returns 0 if the server does not answer: the clients count that. */
    private static long heapBytes(HttpClient client, URI metrics) throws InterruptedException {
        try {
            String body = client.send(
                            HttpRequest.newBuilder(metrics).timeout(HANG).build(), BodyHandlers.ofString())
                    .body();
            return (long) USED_HEAP
                    .matcher(body)
                    .results()
                    .mapToDouble(m -> Double.parseDouble(m.group(1)))
                    .sum();
        } catch (IOException e) {
            return 0;
        }
    }

    /** Median of a value, in bytes, in the second third of the time and in its last sixth. */
    private record Span(long before, long after) {
        static Span of(List<Long> values) {
            int n = values.size();
            return new Span(median(values, n / 3, n / 2), median(values, n - n / 6 - 1, n));
        }

        boolean grows() {
            return after > 1.2 * before + (64 << 20);
        }

        @Override
        public String toString() {
            return (before >> 20) + " to " + (after >> 20) + " MB";
        }

        private static long median(List<Long> values, int from, int to) {
            List<Long> sorted = values.subList(Math.max(0, Math.min(from, to - 1)), to).stream()
                    .sorted()
                    .toList();
            return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
        }
    }
}
