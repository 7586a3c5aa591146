import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.image.Mutation;
import org.gramian.model.Classifier;
import org.gramian.model.ModelFileException;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.file.StoredTensor;
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

    private final Path home;
    private final String jars;
    private final Path work;
    private final long seed;
    private final int clients;
    private final List<Row> table = new ArrayList<>();

    private Attack(Path home, String jars, Path work, long seed, int clients) {
        this.home = home;
        this.jars = jars;
        this.work = work;
        this.seed = seed;
        this.clients = clients;
    }

    /** One line of the result; the counts of failures come last. */
    private record Row(
            String attack, long cases, String outcome, long slowest, long crashes, long hangs, long changes) {
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
    private record Limit(double seconds, long cases) {
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
        switch (arguments[0]) {
            case "cases-images" -> attack.cases("images", limit(arguments), attack.images());
            case "cases-models" -> attack.cases("models", limit(arguments), attack.models());
            case "cases-weights" -> attack.cases("weights", limit(arguments), attack.weights());
            default -> attack.run(arguments[0], seconds, arguments[7].equals("full"));
        }
    }

    private static Limit limit(String[] arguments) {
        return new Limit(Double.parseDouble(arguments[6]), Long.parseLong(arguments[7]));
    }

    /** Runs one part or {@code all}: each for its share of the time, or in the full form for its number of cases. */
    private void run(String part, double seconds, boolean full) throws Exception {
        System.err.println("attack: training the model; seed " + seed);
        long began = System.nanoTime();
        byte[] reference = trained(work.resolve("model"));
        double training = (System.nanoTime() - began) / 1e9;
        boolean all = part.equals("all");
        if (all || part.equals("images")) {
            inChild("images", "mutated images through predict", limit(full, 10_000, 0.22 * seconds));
            commandLine();
        }
        if (all || part.equals("models")) {
            inChild("models", "mutated models through load", limit(full, 5_000, 0.16 * seconds));
        }
        if (all || part.equals("weights")) {
            inChild("weights", "mutated weight files through load", limit(full, 2_000, 0.1 * seconds));
        }
        if (all || part.equals("kills")) {
            kills(reference, training, limit(full, 100, 0.26 * seconds));
        }
        if (all || part.equals("load")) {
            server(full ? 3600 : 0.26 * seconds);
        }
        System.out.println("| attack | cases | outcome | slowest | crashes | hangs | silent changes |");
        System.out.println("|---|---:|---|---:|---:|---:|---:|");
        for (Row row : table) {
            System.out.printf(
                    "| %s | %d | %s | %d ms | %d | %d | %d |%n",
                    row.attack, row.cases, row.outcome, row.slowest, row.crashes, row.hangs, row.changes);
        }
        System.exit(table.stream().anyMatch(Row::failed) ? 1 : 0);
    }

    private static Limit limit(boolean full, long cases, double seconds) {
        return full ? new Limit(7200, cases) : new Limit(seconds, Long.MAX_VALUE);
    }

    // Damaged files, each kind in a virtual machine of its own: native code may end it.

    private void inChild(String kind, String name, Limit limit) throws IOException, InterruptedException {
        System.err.println("attack: " + name + ", " + limit);
        Path log = work.resolve(kind + ".log");
        Process child = new ProcessBuilder(
                        java("Attack", "cases-" + kind, home, jars, work, seed, clients, limit.seconds, limit.cases))
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
            table.add(new Row(name, n[0], n[1] + " accepted, " + (n[0] - n[1]) + " refused", n[2], n[3], n[4], n[5]));
        } else {
            table.add(new Row(
                    name, 0, ended ? "exit code " + child.exitValue() : "no end", 0, ended ? 1 : 0, ended ? 0 : 1, 0));
        }
        if (table.getLast().failed()) {
            lines.forEach(System.err::println);
        }
    }

    /** Runs cases up to the limit; a watching thread ends the process if one of them hangs. */
    private void cases(String kind, Limit limit, Case test) {
        AtomicLong started = new AtomicLong(System.nanoTime());
        AtomicLong number = new AtomicLong();
        long[] counts = new long[6]; // cases, accepted, slowest, crashes, hangs, silent changes
        Thread.ofPlatform().daemon().start(() -> {
            while (System.nanoTime() - started.get() < HANG.toNanos()) {
                try {
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    return;
                }
            }
            System.out.println("hang: case " + number + ", file " + work.resolve(kind + ".case"));
            System.out.printf(
                    "result %d %d %d %d 1 %d%n", number.get(), counts[1], HANG.toMillis(), counts[3], counts[5]);
            System.out.flush();
            Runtime.getRuntime().halt(0);
        });
        long began = System.nanoTime();
        for (long i = 0; !limit.reached(began, i) && counts[3] + counts[5] < 5; i++) {
            number.set(i);
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
            counts[2] = Math.max(counts[2], (System.nanoTime() - started.get()) / 1_000_000);
        }
        System.out.printf(
                "result %d %d %d %d %d %d%n", counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
        System.out.flush();
        Runtime.getRuntime().halt(0);
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
        byte[] mutant = original;
        while (Arrays.equals(mutant, original)) {
            mutant = Mutation.values()[random.nextInt(Mutation.values().length)].apply(original, others, random);
        }
        Files.write(work.resolve(kind + ".case"), mutant);
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

    private Case models() throws IOException {
        List<byte[]> sound = List.of(Files.readAllBytes(model()));
        List<byte[]> others = imageFiles();
        Path path = work.resolve("models.case");
        return random -> {
            mutant("models", sound, others, random);
            try (Classifier classifier = Classifier.load(path)) {
                throw new SilentChange("a damaged model was loaded: " + classifier.classes());
            } catch (ModelFileException refused) {
                if (!refused.getMessage().startsWith(path + ": ")) {
                    throw new AssertionError("expected the name of the file", refused);
                }
                return false;
            }
        };
    }

    /** Weight files of others have no checksum that covers every bit: they must end in tensors or in a reason. */
    private Case weights() throws IOException {
        List<byte[]> originals = new ArrayList<>();
        originals.add(Files.readAllBytes(home.resolve("core/src/test/resources/weights/zip.pth")));
        originals.add(Files.readAllBytes(model()));
        Path path = work.resolve("weights.case");
        return random -> {
            mutant("weights", originals, originals, random);
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

    private List<byte[]> imageFiles() throws IOException {
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

    private Path model() {
        return work.resolve("model/model.safetensors");
    }

    private Path textures() {
        return home.resolve("docs/examples/textures");
    }

    private List<String> java(Object... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx1g",
                "-cp",
                System.getProperty("java.class.path")));
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        return command;
    }

    private Process start(Path log, Object... arguments) throws IOException {
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
                "kills with resume", kills, finished + " trainings ended the same", slowest, crashes, hangs, changes));
    }

    private Process again(Path out) throws IOException {
        delete(out);
        return train(out);
    }

    private static void delete(Path folder) throws IOException {
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
                    load.failed.get() + (alive ? 0 : 1) + (grows ? 1 : 0),
                    load.hangs.get(),
                    load.changes.get()));
        } finally {
            process.destroy();
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                table.add(new Row("end of the server", 1, "no end after SIGTERM", 60_000, 0, 1, 0));
            }
        }
    }

    private static HttpRequest post(URI uri, byte[] body) {
        return HttpRequest.newBuilder(uri)
                .timeout(HANG)
                .header("Content-Type", "image/jpeg")
                .POST(BodyPublishers.ofByteArray(body))
                .build();
    }

    /** Compares answers but for rounding: the last bits of the head's float32 sums depend on the size of the batch. */
    private static boolean same(String answer, String other) {
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

    private static String firstAnswer(HttpClient client, URI uri, byte[] sound, Process process, Path log)
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
