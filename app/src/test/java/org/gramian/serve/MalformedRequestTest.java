package org.gramian.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Malformed requests get an error without internals, and the server keeps working. */
class MalformedRequestTest {
    private static final int BODIES = Boolean.getBoolean("gramian.full") ? 20_000 : 500;
    private static final String FORM = "multipart/form-data; boundary=xyz";

    @TempDir
    private static Path folder;

    private static Served served;

    @BeforeAll
    static void start() throws IOException {
        Limits limits =
                new Limits(new Limits.Upload(1_000_000, 4, 50_000_000, Duration.ofMillis(1_500)), Limits.Load.DEFAULT);
        served = Served.start(folder, new ServeOptions("localhost", 0, Optional.empty(), limits));
    }

    @AfterAll
    static void stop() {
        served.close();
    }

    @AfterEach
    void serverStillWorks() throws Exception {
        HttpResponse<String> response = served.post("/v1/predict", "image/png", Served.png(1));
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(Served.json(response).get("results").get(0).has("class")).isTrue();
    }

    @Test
    void mutatedBodiesGetAResponse() throws Exception {
        SplittableRandom random = new SplittableRandom(20_261_115);
        byte[] form = Served.form(
                "xyz", new UploadedImage("a.png", Served.png(1)), new UploadedImage("b.png", Served.png(2)));
        int answered = 0;
        for (int i = 0; i < BODIES; i++) {
            boolean several = random.nextBoolean();
            byte[] body = mutated(several ? form : Served.png(i % 7), random);
            HttpResponse<String> response = served.post("/v1/predict", several ? FORM : "image/png", body);
            assertThat(response.statusCode())
                    .as("body %d: %s", i, response.body())
                    .isIn(200, 400, 413, 422);
            assertNoInternals(response.body());
            answered += response.statusCode() != 400 ? 1 : 0;
        }
        assertThat(answered).isBetween(BODIES / 4, BODIES - BODIES / 100);
    }

    private static byte[] mutated(byte[] original, SplittableRandom random) {
        byte[] body = original.clone();
        for (int k = random.nextInt(1, 12); k > 0; k--) {
            body[random.nextInt(body.length)] = (byte) random.nextInt();
        }
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(body, random.nextInt(body.length));
            case 1 -> Arrays.copyOf(body, body.length + random.nextInt(100));
            default -> body;
        };
    }

    @Test
    void rejectsHugeImagesByHeader() throws Exception {
        HttpResponse<String> response = served.post("/v1/predict", "image/png", hugePng());
        assertThat(response.statusCode()).isEqualTo(413);
        JsonNode error = Served.json(response).get("results").get(0).get("error");
        assertThat(error.get("problem").asString()).isEqualTo("too-large");
        assertThat(error.get("message").asString()).has(facts("50000000"));
    }

    /** 10,000×10,000 pixels in 60 bytes. */
    private static byte[] hugePng() {
        ByteBuffer header = ByteBuffer.allocate(17).put("IHDR".getBytes(ISO_8859_1));
        header.putInt(10_000).putInt(10_000).put(new byte[] {8, 2, 0, 0, 0});
        CRC32 sum = new CRC32();
        sum.update(header.array());
        return ByteBuffer.allocate(45)
                .put(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})
                .putInt(13)
                .put(header.array())
                .putInt((int) sum.getValue())
                .array();
    }

    /** 48 s for 100,000 segments before they were removed. */
    @Test
    void decodesJpegOfManySegments() throws Exception {
        byte[] jpeg = jpeg();
        ByteBuffer attack = ByteBuffer.allocate(jpeg.length + 4 * 100_000).put(jpeg, 0, 2);
        while (attack.position() < 2 + 4 * 100_000) {
            attack.putInt(0xffe10002);
        }
        attack.put(jpeg, 2, jpeg.length - 2);
        long start = System.nanoTime();
        HttpResponse<String> response = served.post("/v1/predict", "image/jpeg", attack.array());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    }

    private static byte[] jpeg() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(48, 40, BufferedImage.TYPE_3BYTE_BGR), "jpg", out);
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "br", "deflate, gzip"})
    void encodedBodyGets415(String encoding) throws Exception {
        HttpResponse<String> response = served.send(served.to("/v1/predict")
                .header("Content-Type", "image/png")
                .header("Content-Encoding", encoding)
                .POST(HttpRequest.BodyPublishers.ofByteArray(Served.png(1))));
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(Served.json(response).get("error").get("message").asString())
                .has(facts("Content-Encoding", "'" + encoding + "'"));
    }

    @Test
    void slowBodyGets408() throws Exception {
        long start = System.nanoTime();
        try (Socket socket = connect()) {
            OutputStream out = socket.getOutputStream();
            out.write(head("POST /v1/predict", "Content-Type: image/png\r\nContent-Length: 5000\r\n"));
            String answer = "";
            for (int i = 0; i < 100 && answer.isEmpty(); i++) {
                out.write('x');
                out.flush();
                Thread.sleep(100);
                if (socket.getInputStream().available() > 0) {
                    answer = read(socket);
                }
            }
            assertThat(answer).startsWith("HTTP/1.1 408").contains("too-slow");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/../../etc/passwd",
                "/..%2f..%2fetc/passwd",
                "/%2e%2e/%2e%2e/etc/passwd",
                "/..;/WEB-INF/web.xml",
                "//etc/passwd",
                "/etc/passwd",
                "/web/../org/gramian/serve/Server.class",
                "/org/gramian/serve/Server.class",
                "/index.html%00.png",
                "/.%2e/logback.xml",
                "/logback.xml",
                "/\\..\\..\\etc\\passwd",
                "http://localhost/../x",
                "/v1/../metrics/../../x",
                "/META-INF/MANIFEST.MF",
                "/%",
                "/%zz",
                "/?%",
                "*"
            })
    void noPathLeavesTheWebFolder(String address) throws Exception {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(head("GET " + address, ""));
            String answer = read(socket);
            assertThat(answer).matches("(?s)HTTP/1.1 (200|400|404|405) .*");
            assertThat(answer).doesNotContain("root:", "CAFEBABE", "<configuration>", "Manifest-Version");
            assertNoInternals(answer);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", // no Host
                "GET / HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n",
                "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                "\u0000\u0001\u0002\r\n\r\n",
                "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "POST /v1/predict HTTP/1.1\r\n"
                        + "Host: localhost\r\n"
                        + "Content-Length: 3\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n"
                        + "abc",
                "POST /v1/predict HTTP/1.1\r\n"
                        + "Host: localhost\r\n"
                        + "Content-Type: image/png\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n"
                        + "zz\r\n",
                "POST /v1/predict HTTP/1.1\r\n"
                        + "Host: localhost\r\n"
                        + "Content-Type: \u0007;;;=\r\n"
                        + "Content-Length: 1\r\n\r\n"
                        + "a",
                "POST /v1/predict HTTP/1.1\r\n"
                        + "Host: localhost\r\n"
                        + "Content-Type: multipart/form-data; boundary=\r\n"
                        + "Content-Length: 1\r\n\r\n"
                        + "a"
            })
    void invalidHttpIsRefused(String request) throws Exception {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(request.getBytes(ISO_8859_1));
            socket.shutdownOutput();
            String answer = read(socket);
            assertThat(answer).matches("(?s)(HTTP/1.1 (400|405|408|411|413|415|505) .*)?");
            assertNoInternals(answer);
        }
    }

    /** The client sends its body after 100 only, which a body over the limit does not get. */
    @Test
    void expectationOfTooLargeBodyIsNotMet() throws Exception {
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write(head(
                            "POST /v1/predict",
                            "Content-Type: image/png\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n"));
            assertThat(read(socket)).startsWith("HTTP/1.1 413");
        }
    }

    @ParameterizedTest
    @CsvSource({"'secret', 200", "'secret,secret', 401", "'secret,other', 401", "'other,secret', 401"})
    void oneAuthorizationHeaderIsRequired(String tokens, int status) throws Exception {
        ServeOptions options = new ServeOptions("localhost", 0, Optional.of("secret"), Limits.DEFAULT);
        try (Served guarded = Served.start(folder, options)) {
            HttpRequest.Builder request = guarded.to("/v1/model");
            for (String token : tokens.split(",", -1)) {
                request.header("Authorization", "Bearer " + token);
            }
            assertThat(guarded.send(request).statusCode()).isEqualTo(status);
        }
    }

    @Test
    void longHeadersGet431() throws Exception {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(head("GET /health", "X-Long: " + "a".repeat(100_000) + "\r\n"));
            String answer = read(socket);
            assertThat(answer).startsWith("HTTP/1.1 431");
            assertNoInternals(answer);
        }
    }

    @Test
    void rejectsTruncatedForms() throws Exception {
        byte[] form = Served.form("xyz", new UploadedImage("../../a.png", Served.png(1)));
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        long before = files(temporary);
        for (int length = 0; length < form.length - 2; length += 37) {
            HttpResponse<String> response = served.post("/v1/predict", FORM, Arrays.copyOf(form, length));
            assertThat(response.statusCode()).as("%d bytes", length).isEqualTo(400);
            assertNoInternals(response.body());
        }
        byte[] five = Served.form(
                "xyz",
                new UploadedImage("1", NONE),
                new UploadedImage("2", NONE),
                new UploadedImage("3", NONE),
                new UploadedImage("4", NONE),
                new UploadedImage("5", NONE));
        assertThat(served.post("/v1/predict", FORM, five).statusCode()).isEqualTo(400);
        assertThat(files(temporary)).isEqualTo(before);
    }

    private static final byte[] NONE = "none".getBytes(UTF_8);

    private static long files(Path temporary) throws IOException {
        try (var all = Files.list(temporary)) {
            return all.filter(file -> file.getFileName()
                            .toString()
                            .toLowerCase(java.util.Locale.ROOT)
                            .contains("multipart"))
                    .count();
        }
    }

    private static Socket connect() throws IOException {
        Socket socket =
                new Socket(InetAddress.getByName("localhost"), served.server().port());
        socket.setSoTimeout(15_000);
        return socket;
    }

    private static byte[] head(String line, String headers) {
        return (line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n").getBytes(ISO_8859_1);
    }

    private static String read(Socket socket) throws IOException {
        try (InputStream in = socket.getInputStream()) {
            return new String(in.readAllBytes(), ISO_8859_1);
        }
    }

    /** Asserts that there are no class names, stack traces or file names. */
    private static void assertNoInternals(String answer) {
        assertThat(answer)
                .doesNotContain(
                        "Exception", "java.", "org.gramian", "org.eclipse", "\tat ", "io.javalin", "/tmp/", "Jetty");
    }
}
