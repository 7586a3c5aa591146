import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.backbone.onnx.HostileGraphs;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The attacks that need a process of their own: rights, memory, servers, a browser and Spark. */
final class AttackCommands {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Attack attack;
    private final Path log;

    AttackCommands(Attack attack) {
        this.attack = attack;
        log = attack.work.resolve("command.log");
    }

    /** Counts of one row. */
    private static final class Tally {
        private long cases;
        private long slowest;
        private long megabytes;
        private long crashes;
        private long hangs;
        private long changes;

        synchronized void crash(String text) {
            crashes++;
            System.err.println("attack: " + text);
        }

        synchronized void time(long began) {
            slowest = Math.max(slowest, (System.nanoTime() - began) / 1_000_000);
        }

        synchronized void memory(Process process) {
            megabytes = Math.max(megabytes, Attack.Memory.peak(process.pid()) >> 20);
        }

        Attack.Row row(String name, String outcome) {
            return new Attack.Row(name, cases, outcome, slowest, megabytes, crashes, hangs, changes);
        }
    }

    /** Runs a process to its end and checks its exit code and output; returns the code, or -1 after {@link #LIMIT}. */
    private int end(Process process, List<?> line, Tally tally) throws IOException, InterruptedException {
        long began = System.nanoTime();
        while (!process.waitFor(50, TimeUnit.MILLISECONDS) && System.nanoTime() - began < LIMIT.toNanos()) {
            tally.memory(process);
        }
        tally.cases++;
        tally.time(began);
        if (process.isAlive()) {
            String jstack = Path.of(System.getProperty("java.home"), "bin/jstack").toString();
            new ProcessBuilder(jstack, Long.toString(process.pid()))
                    .redirectOutput(attack.work.resolve("hang.txt").toFile())
                    .start()
                    .waitFor(20, TimeUnit.SECONDS);
            process.destroyForcibly().waitFor();
            tally.hangs++;
            System.err.println("attack: no end of " + line);
            return -1;
        }
        try {
            Attack.requireSentence(process.exitValue(), Files.readString(log), line);
        } catch (AssertionError wrong) {
            tally.crash(wrong.getMessage());
        }
        return process.exitValue();
    }

    private int run(List<String> java, Tally tally, Object... line) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(java);
        Stream.of(line).map(Object::toString).forEach(all::add);
        ProcessBuilder builder =
                new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(log.toFile());
        return end(builder.start(), List.of(line), tally);
    }

    /** Folders and files without rights: root ignores these unless it gives up its capabilities. */
    Attack.Row readOnly() throws IOException, InterruptedException {
        Tally tally = new Tally();
        if (!Files.isExecutable(Path.of("/usr/bin/setpriv"))) {
            return tally.row("read-only folders", "skipped: no setpriv to give up the rights of root");
        }
        Path folder = Files.createDirectories(attack.work.resolve("locked"));
        Path image = attack.textures().resolve("dotted/dotted_01.jpg");
        Path run = folder.resolve("run");
        for (Path path : List.of(folder.resolve("cache"), folder.resolve("images/a"), folder.resolve("images/b"), run)) {
            Files.createDirectories(path);
        }
        for (String name : List.of("a/1.jpg", "b/1.jpg")) {
            Files.copy(image, folder.resolve("images").resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        for (String name : List.of("model.safetensors", "config.yaml", "images.txt")) {
            Files.copy(attack.model().resolveSibling(name), run.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        Path hidden = Files.copy(attack.model(), folder.resolve("hidden.safetensors"), StandardCopyOption.REPLACE_EXISTING);
        shell("chmod 000 " + hidden + " " + folder.resolve("images/a/1.jpg") + " " + folder.resolve("images/b"));
        shell("chmod 500 " + folder + " " + folder.resolve("cache") + " " + run);
        List<String> java = new ArrayList<>(List.of("/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all"));
        java.addAll(List.of("env", "GRAMIAN_WEIGHTS=" + folder.resolve("cache")));
        java.addAll(attack.java("org.gramian.cli.Main"));
        long done = 0;
        for (String line : List.of(
                "predict HIDDEN IMAGE",
                "predict MODEL FOLDER/images",
                "predict MODEL IMAGE --out FOLDER/results.csv",
                "audit FOLDER/images",
                "train TEXTURES --backbone filters --out FOLDER/new",
                "train TEXTURES --backbone filters --epochs 1 --fine-tune 0 --cache-dir FOLDER/cache --out OUT",
                "train FOLDER/images --backbone filters --out OUT2",
                "train --resume FOLDER/run",
                "extend FOLDER/run FOLDER/images",
                "report FOLDER/run",
                "export MODEL FOLDER/model.onnx",
                "explain MODEL IMAGE FOLDER/image.png",
                "weights import squeezenet HIDDEN")) {
            String[] words = line.replace("HIDDEN", hidden.toString())
                    .replace("MODEL", attack.model().toString())
                    .replace("IMAGE", image.toString())
                    .replace("TEXTURES", attack.textures().toString())
                    .replace("FOLDER", folder.toString())
                    .replace("OUT", attack.work.resolve("unlocked").toString())
                    .split(" ", -1);
            done += run(java, tally, (Object[]) words) == 0 ? 1 : 0;
        }
        shell("chmod -R u+rwX " + folder);
        return tally.row("read-only folders", done + " done, " + (tally.cases - done) + " refused");
    }

    private static void shell(String line) throws IOException, InterruptedException {
        new ProcessBuilder("sh", "-c", line).inheritIO().start().waitFor();
    }

    Attack.Row emptyFiles() throws IOException, InterruptedException {
        int count = 100_000;
        Path folder = attack.work.resolve("empty");
        for (String name : List.of("a", "b")) {
            Files.createDirectories(folder.resolve(name));
            for (int i = 0; i < count / 2; i++) {
                Files.write(folder.resolve(name).resolve(i + ".jpg"), new byte[0]);
            }
        }
        Tally tally = new Tally();
        List<String> java = attack.java("org.gramian.cli.Main");
        Path out = attack.work.resolve("empty-run");
        int trained = run(java, tally, "train", folder, "--backbone", "filters", "--out", out);
        long lines = Files.readAllLines(log).size();
        if (trained != 3 || lines > 100) {
            tally.crash("expected exit code 3 and few lines, found " + trained + " and " + lines + " lines");
        }
        int audited = run(java, tally, "audit", folder);
        int predicted = run(java, tally, "predict", attack.model(), folder, "--format", "csv", "--out", out + ".csv");
        shell("rm -rf " + folder);
        return tally.row(count + " empty files", "exit codes " + trained + ", " + audited + " and " + predicted);
    }

    Attack.Row littleMemory() throws IOException, InterruptedException {
        Tally tally = new Tally();
        Path large = attack.work.resolve("large.png");
        javax.imageio.ImageIO.write(new java.awt.image.BufferedImage(9000, 9000, 10), "png", large.toFile());
        Path folder = attack.textures();
        long done = 0;
        for (int heap : new int[] {16, 24, 48}) {
            List<String> java = new ArrayList<>(attack.java("org.gramian.cli.Main"));
            java.set(java.indexOf("-Xmx1g"), "-Xmx" + heap + "m");
            Path out = attack.work.resolve("little-" + heap);
            Attack.delete(out);
            done += run(java, tally, "predict", attack.model(), large) == 0 ? 1 : 0;
            done += run(java, tally, "audit", folder) == 0 ? 1 : 0;
            done += run(java, tally, "train", folder, "--backbone", "filters", "--out", out, "--epochs", 1) == 0 ? 1 : 0;
            done += run(java, tally, "export", attack.model(), out + ".onnx") == 0 ? 1 : 0;
        }
        return tally.row("commands with 16 to 48 MB of heap", done + " done, " + (tally.cases - done) + " refused");
    }

    // Servers.

    /** A server that answers requests for a sound image. */
    private final class Service implements AutoCloseable {
        final Process process;
        final int port;
        final URI uri;
        final HttpClient client = HttpClient.newHttpClient();
        final byte[] sound = attack.imageFiles().getFirst();
        final String expected;

        Service(Path model, String heap, Object... options) throws IOException, InterruptedException {
            try (ServerSocket socket = new ServerSocket(0)) {
                port = socket.getLocalPort();
            }
            List<String> line = new ArrayList<>(attack.java("org.gramian.cli.Main", "serve", model, "--port", port));
            line.set(line.indexOf("-Xmx1g"), heap);
            Stream.of(options).map(Object::toString).forEach(line::add);
            process = new ProcessBuilder(line)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            uri = URI.create("http://localhost:" + port + "/v1/predict?top=3");
            expected = Attack.firstAnswer(client, uri, sound, process, log);
        }

        /** Posts the sound image; anything but the expected answer fails. */
        void ask(Tally tally) throws InterruptedException {
            long began = System.nanoTime();
            tally.cases++;
            try {
                HttpResponse<String> response = client.send(Attack.post(uri, sound), BodyHandlers.ofString());
                if (response.statusCode() != 200) {
                    tally.crash("status " + response.statusCode() + ": " + response.body());
                } else if (!Attack.same(response.body(), expected)) {
                    tally.changes++;
                    System.err.println("attack: expected " + expected + ", found " + response.body());
                }
            } catch (IOException failed) {
                tally.crash(failed.toString());
            }
            tally.time(began);
            tally.memory(process);
        }

        String log() throws IOException {
            return Files.readString(log);
        }

        @Override
        public void close() throws IOException {
            client.close();
            process.destroy();
            try {
                if (!process.waitFor(60, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new IOException("the server did not end");
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Large images in a small heap: 503 or 429 for them, and the server lives on. */
    Attack.Row littleMemoryOfServer() throws IOException, InterruptedException {
        Tally tally = new Tally();
        AtomicLong refused = new AtomicLong();
        byte[] large = Files.readAllBytes(attack.work.resolve("large.png"));
        try (Service service = new Service(attack.model(), "-Xmx48m", "--max-pixels", 100)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                boolean multipart = i % 2 == 0;
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int j = 0; j < 10; j++) {
                        byte[] body = multipart ? large : service.sound;
                        try {
                            int status = service.client
                                    .send(Attack.post(service.uri, body), BodyHandlers.discarding())
                                    .statusCode();
                            refused.addAndGet(status == 200 ? 0 : 1);
                            if (status == 500) {
                                tally.crash("status 500");
                            }
                        } catch (IOException | InterruptedException failed) {
                            tally.crash(failed.toString());
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Thread.sleep(1000);
            service.ask(tally);
            if (tally.crashes > 0) {
                System.err.println(service.log());
            }
        }
        tally.cases += 80;
        return tally.row("server with 48 MB of heap", refused + " refused, then sound images answered");
    }

    /** Connections that send or read a byte per second must be closed, while others are answered. */
    Attack.Row slowClients() throws IOException, InterruptedException {
        Tally tally = new Tally();
        AtomicLong closed = new AtomicLong();
        int each = 25;
        try (Service service = new Service(attack.model(), "-Xmx1g", "--timeout", 10)) {
            byte[] half = ("POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n"
                            + "Content-Length: 100000\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            byte[] many = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(4000).getBytes(StandardCharsets.US_ASCII);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4 * each; i++) {
                byte[] first = List.of(new byte[0], "GET / HTTP/1.1\r\nX: ".getBytes(StandardCharsets.US_ASCII), half, many)
                        .get(i % 4);
                boolean writes = i % 4 == 1 || i % 4 == 2;
                threads.add(Thread.ofVirtual().start(() -> {
                    if (isClosed(service.port, first, writes)) {
                        closed.incrementAndGet();
                    }
                }));
            }
            while (threads.stream().anyMatch(Thread::isAlive)) {
                service.ask(tally);
                Thread.sleep(200);
            }
            for (int i = 0; i < 5; i++) {
                service.ask(tally);
            }
        }
        tally.hangs += 4 * each - closed.get();
        return tally.row("slow readers and writers", closed + " of " + 4 * each + " connections closed within 90 s");
    }

    /** Sends or reads slowly for 60 s, then reads what is left: 6 MB are more than buffers hold, less than the answers. */
    private static boolean isClosed(int port, byte[] first, boolean writes) {
        long slow = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        long end = slow + Duration.ofSeconds(30).toNanos();
        byte[] buffer = new byte[1 << 16];
        long total = 0;
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4096);
            socket.setSoTimeout(1000);
            socket.connect(new InetSocketAddress("localhost", port));
            Thread.ofVirtual().start(() -> {
                try {
                    socket.getOutputStream().write(first); // blocks if the server reads no more
                } catch (IOException e) {
                    // closed
                }
            });
            InputStream in = socket.getInputStream();
            while (System.nanoTime() < end && total < 6_000_000) {
                boolean last = System.nanoTime() > slow;
                try {
                    int count = in.read(buffer, 0, last ? buffer.length : 1);
                    if (count < 0) {
                        return true;
                    }
                    total += count;
                } catch (SocketTimeoutException e) {
                    // nothing to read
                }
                if (writes) {
                    socket.getOutputStream().write('x');
                } else if (!last) {
                    Thread.sleep(500);
                }
            }
            return false;
        } catch (SocketException e) {
            return true;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** Hostile models in place of a served one: the old one answers all the time, and the log has a line for each. */
    Attack.Row reload(Attack.Limit limit) throws IOException, InterruptedException {
        System.err.println("attack: reload of hostile models, " + limit);
        Tally tally = new Tally();
        Path folder = Files.createDirectories(attack.work.resolve("served"));
        Path model = Files.copy(attack.model(), folder.resolve("model.safetensors"), StandardCopyOption.REPLACE_EXISTING);
        List<byte[]> graphs = List.copyOf(HostileGraphs.crafted().values());
        List<byte[]> sound = List.of(Files.readAllBytes(attack.model()));
        // a link to itself is as absent to the server as a link to nothing
        List<Path> specials = attack.specials().stream()
                .filter(path -> !path.endsWith("loop"))
                .toList();
        long began = System.nanoTime();
        long hostile = 0;
        try (Service service = new Service(model, "-Xmx1g")) {
            AtomicBoolean done = new AtomicBoolean();
            Thread client = Thread.ofPlatform().start(() -> {
                try {
                    while (!done.get()) {
                        service.ask(tally);
                        Thread.sleep(100);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            for (; !limit.reached(began, hostile) && tally.hangs == 0; hostile++) {
                SplittableRandom random = new SplittableRandom(attack.seed + hostile);
                Path next = folder.resolve("next");
                Files.deleteIfExists(next);
                switch (random.nextInt(4)) {
                    case 0 -> Files.write(next, Attack.mutated(sound.getFirst(), graphs, random));
                    case 1 -> // another one than before: the server does not read the same file twice
                        Files.createSymbolicLink(next, specials.get((int) (hostile % specials.size())));
                    default -> {
                        byte[] graph = hostile < graphs.size()
                                ? graphs.get((int) hostile)
                                : HostileGraphs.random(random);
                        String text = Base64.getEncoder().encodeToString(graph);
                        Attack.seal(attack.model(), next, Map.of("network", text, "backbone", "hostile"), random);
                    }
                }
                Files.move(next, model, StandardCopyOption.ATOMIC_MOVE);
                long wanted = hostile + 1;
                long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
                while (lines(service, "keeping the current model") < wanted && System.nanoTime() < end) {
                    Thread.sleep(50);
                }
                if (lines(service, "keeping the current model") != wanted || lines(service, "reloaded the model") > 0) {
                    tally.hangs++;
                    System.err.println("attack: expected " + wanted + " refused models, found: " + service.log());
                }
            }
            done.set(true);
            client.join();
        }
        return tally.row("reload of hostile models", hostile + " models refused and logged");
    }

    private static long lines(Service service, String text) throws IOException {
        return service.log().lines().filter(line -> line.contains(text)).count();
    }

    // The browser.

    private static final List<String> NAMES = List.of(
            "<script>ran=1</script>",
            "<img src=x onerror=ran=1>",
            "\"><evil onload=ran=1 x=\"",
            "'><svg onload=ran=1>",
            "</script></style></title></textarea><evil>",
            "--><evil>",
            "&lt;evil&gt;<evil>",
            "${ran=1}{{ran=1}}<%=ran=1%>",
            "javascript:ran=1");

    /** Markup as names of classes and images, on the page of the server and in the files of a run. */
    Attack.Row names() throws IOException, InterruptedException {
        Tally tally = new Tally();
        String title = "markup as names, in a browser";
        Path program = Stream.of(System.getenv("PATH").split(":", -1))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        if (program == null) {
            return tally.row(title, "skipped: no chromium, chromium-browser or google-chrome on the PATH");
        }
        Path folder = attack.work.resolve("names");
        StringBuilder list = new StringBuilder("path,label\n");
        List<byte[]> images = attack.imageFiles();
        for (int i = 0; i < 6 * NAMES.size(); i++) {
            String name = "<img src=x onerror=ran=1>" + i + ".png";
            Files.createDirectories(folder);
            javax.imageio.ImageIO.write(noise(attack.seed + i), "png", folder.resolve(name).toFile());
            String label = NAMES.get(i % NAMES.size());
            list.append('"').append(name).append("\",\"").append(label.replace("\"", "\"\"")).append("\"\n");
        }
        Path csv = Files.writeString(folder.resolve("list.csv"), list);
        Path run = attack.work.resolve("names-run");
        Attack.delete(run);
        List<String> java = attack.java("org.gramian.cli.Main");
        if (run(java, tally, "train", csv, "--backbone", "filters", "--epochs", 1, "--fine-tune", 0, "--out", run) != 0) {
            tally.crash("training failed: " + Files.readString(log));
            return tally.row(title, "no run");
        }
        run(java, tally, "audit", csv, "--html", run.resolve("audit.html"));
        try (Service service = new Service(run.resolve("model.safetensors"), "-Xmx1g");
                Browser browser = new Browser(program, attack.work.resolve("chromium"))) {
            for (String page : List.of("report.html", "review.html", "audit.html")) {
                check(browser, run.resolve(page).toUri().toString(), "true", tally);
            }
            String image = Base64.getEncoder().encodeToString(images.getFirst());
            check(browser, "http://localhost:" + service.port + "/", """
                    (async () => {
                      const wait = async (found) => { for (let i = 0; i < 200 && !found(); i++) await new Promise((r) => setTimeout(r, 100)); };
                      await wait(() => document.querySelector('#summary').textContent.includes('classes'));
                      const files = new DataTransfer();
                      const bytes = Uint8Array.from(atob('%s'), (letter) => letter.charCodeAt(0));
                      files.items.add(new File([bytes], '<img src=x onerror=ran=1>.jpg', { type: 'image/jpeg' }));
                      const input = document.querySelector('#file');
                      input.files = files.files;
                      input.dispatchEvent(new Event('change', { bubbles: true }));
                      await wait(() => document.querySelector('.answer strong') && document.querySelector('.nearest li'));
                      document.querySelectorAll('details').forEach((one) => { one.open = true; });
                      await new Promise((r) => setTimeout(r, 500));
                      const bars = document.querySelector('.bars').textContent;
                      return %s.some((name) => bars.includes(name));
                    })()""".formatted(image, JSON.writeValueAsString(NAMES)), tally);
        }
        return tally.row(title, NAMES.size() + " names on 4 pages, none ran");
    }

    private static java.awt.image.BufferedImage noise(long seed) {
        java.awt.image.BufferedImage image = new java.awt.image.BufferedImage(64, 64, 1);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 64 * 64; i++) {
            image.setRGB(i % 64, i / 64, random.nextInt());
        }
        return image;
    }

    private static void check(Browser browser, String address, String script, Tally tally)
            throws IOException, InterruptedException {
        tally.cases++;
        long began = System.nanoTime();
        browser.open(address);
        if (!browser.value(script).equals("true")) {
            tally.crash(address + " does not show a class name as its text");
        }
        Thread.sleep(300); // scripts of broken images
        String found = browser.value("""
                typeof ran !== 'undefined' || document.querySelectorAll('evil, img[src="x"], [onerror], svg[onload]').length > 0""");
        if (!found.equals("false")) {
            tally.changes++;
            System.err.println("attack: a name became markup on " + address + ": " + found);
        }
        tally.time(began);
    }

    /** A page of a headless Chromium, driven by its DevTools protocol. */
    private static final class Browser implements AutoCloseable, WebSocket.Listener {
        private static final Pattern ADDRESS = Pattern.compile("ws://[^/]+:(\\d+)/");
        private final Process process;
        private final HttpClient client = HttpClient.newHttpClient();
        private final WebSocket socket;
        private final LinkedBlockingQueue<JsonNode> messages = new LinkedBlockingQueue<>();
        private final StringBuilder part = new StringBuilder();
        private int number;

        Browser(Path program, Path folder) throws IOException, InterruptedException {
            Path log = folder.resolveSibling("chromium.log");
            process = new ProcessBuilder(
                            program.toString(),
                            "--headless",
                            "--no-sandbox",
                            "--disable-dev-shm-usage",
                            "--remote-debugging-port=0",
                            "--user-data-dir=" + folder,
                            "about:blank")
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            String page = "";
            for (int i = 0; i < 300 && page.isEmpty(); i++) {
                Thread.sleep(100);
                Matcher found = ADDRESS.matcher(Files.readString(log));
                if (found.find()) {
                    URI list = URI.create("http://localhost:" + found.group(1) + "/json/list");
                    var request = java.net.http.HttpRequest.newBuilder(list).build();
                    for (JsonNode one : JSON.readTree(client.send(request, BodyHandlers.ofString()).body())) {
                        page = one.get("type").asString().equals("page")
                                ? one.get("webSocketDebuggerUrl").asString()
                                : page;
                    }
                }
            }
            if (page.isEmpty()) {
                throw new IOException("the browser did not start: " + Files.readString(log));
            }
            socket = client.newWebSocketBuilder().buildAsync(URI.create(page), this).join();
            call("Page.enable", Map.of());
        }

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            part.append(data);
            if (last) {
                messages.add(JSON.readTree(part.toString()));
                part.setLength(0);
            }
            from.request(1);
            return null;
        }

        private JsonNode next() throws IOException, InterruptedException {
            JsonNode message = messages.poll(60, TimeUnit.SECONDS);
            if (message == null) {
                throw new IOException("no answer of the browser within 60 s");
            }
            return message;
        }

        private JsonNode call(String method, Map<String, ?> parameters) throws IOException, InterruptedException {
            int id = ++number;
            socket.sendText(JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)), true)
                    .join();
            JsonNode message = next();
            while (message.path("id").asInt(0) != id) {
                message = next();
            }
            return message.path("result");
        }

        void open(String address) throws IOException, InterruptedException {
            call("Page.navigate", Map.of("url", address));
            while (!next().path("method").asString("").equals("Page.loadEventFired")) {
                // events of the page
            }
        }

        String value(String script) throws IOException, InterruptedException {
            JsonNode result = call("Runtime.evaluate", Map.of("expression", script, "awaitPromise", true));
            JsonNode value = result.path("result").path("value");
            return value.isMissingNode() ? result.toString() : value.asString();
        }

        @Override
        public void close() throws IOException {
            socket.abort();
            process.destroy();
            client.shutdownNow();
        }
    }

    /** A damaged model, and damaged images and devices among sound ones. */
    Attack.Row spark() throws IOException, InterruptedException {
        Tally tally = new Tally();
        SplittableRandom random = new SplittableRandom(attack.seed);
        Path folder = attack.work.resolve("spark");
        Files.createDirectories(folder);
        List<byte[]> originals = attack.imageFiles();
        for (int i = 0; i < 200; i++) {
            byte[] original = originals.get(random.nextInt(originals.size()));
            byte[] content = i % 4 == 0 ? original : Attack.mutated(original, originals, random);
            Files.write(folder.resolve("image" + i + ".jpg"), content);
        }
        for (Path special : attack.specials()) {
            Path link = folder.resolve(special.getFileName() + ".jpg");
            if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
                Files.createSymbolicLink(link, special);
            }
        }
        Path damaged = attack.work.resolve("damaged.safetensors");
        Files.write(damaged, Attack.mutated(Files.readAllBytes(attack.model()), originals, random));
        Path hostile = attack.work.resolve("hostile.safetensors");
        String graph = Base64.getEncoder().encodeToString(HostileGraphs.random(random));
        Attack.seal(attack.model(), hostile, Map.of("network", graph, "backbone", "hostile"), random);
        List<String> spark = new ArrayList<>(List.of(attack.home.resolve("gramian").toString(), "spark"));
        String codes = "";
        for (List<?> line : List.of(
                List.of("predict", attack.model(), folder),
                List.of("predict", damaged, folder),
                List.of("predict", hostile, folder),
                List.of("predict", attack.specials().getFirst(), folder),
                List.of("audit", folder),
                List.of("train", folder.resolveSibling("damaged"), "--backbone", "filters"))) {
            List<Object> words = new ArrayList<>(line);
            words.addAll(List.of("--out", attack.work.resolve("spark-" + tally.cases), "--master", "local[2]"));
            codes += " " + run(spark, tally, words.toArray());
        }
        return tally.row("Spark with damaged models and images", "exit codes" + codes);
    }
}
