package org.gramian.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Slow headers and many connections of one client do not lock out others. */
class ConnectionGuardTest {
    private static final int PER_CLIENT = 8;
    private static final String REQUEST = "GET /health HTTP/1.1\r\nHost: localhost\r\n";

    @TempDir
    private static Path folder;

    private static Served served;

    @BeforeAll
    static void start() throws IOException {
        Limits limits = new Limits(
                Limits.Upload.DEFAULT, Limits.Load.DEFAULT, new Limits.Connections(PER_CLIENT, Duration.ofMillis(400)));
        served = Served.start(folder, new ServeOptions("127.0.0.1", 0, Optional.empty(), limits));
    }

    @AfterAll
    static void stop() {
        served.close();
    }

    private static Socket connect(String from) throws IOException {
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.connect(new InetSocketAddress(
                InetAddress.getLoopbackAddress(), served.server().port()));
        socket.setSoTimeout(2_000);
        return socket;
    }

    /** Writes a byte every 20 ms until the server closes the connection; empty if it does not. */
    private static Optional<Duration> closedAfter(Socket socket, String header) throws Exception {
        long start = System.nanoTime();
        socket.setSoTimeout(20);
        for (int i = 0; i < 100; i++) {
            try {
                socket.getOutputStream().write(header.charAt(i % header.length()));
                if (socket.getInputStream().read() < 0) {
                    return Optional.of(Duration.ofNanos(System.nanoTime() - start));
                }
            } catch (SocketTimeoutException _) {
                // still open
            } catch (IOException _) {
                return Optional.of(Duration.ofNanos(System.nanoTime() - start));
            }
        }
        return Optional.empty();
    }

    @Test
    void closesSlowHeaders() throws Exception {
        try (Socket socket = connect("127.0.0.1")) {
            assertThat(closedAfter(socket, "GET /health HTTP/1.1\r\nX: " + "a".repeat(1000)))
                    .hasValueSatisfying(
                            time -> assertThat(time).isBetween(Duration.ofMillis(200), Duration.ofSeconds(2)));
        }
    }

    @Test
    void closesSlowSecondHeaders() throws Exception {
        try (Socket socket = connect("127.0.0.1")) {
            socket.getOutputStream().write((REQUEST + "\r\n").getBytes(ISO_8859_1));
            assertThat(read(socket)).startsWith("HTTP/1.1 200");
            assertThat(closedAfter(socket, "GET /health HTTP/1.1\r\nX: " + "a".repeat(1000)))
                    .isPresent();
        }
    }

    /** Reads once. */
    private static String read(Socket socket) throws IOException {
        byte[] bytes = new byte[10_000];
        int count = socket.getInputStream().read(bytes);
        return new String(bytes, 0, Math.max(0, count), ISO_8859_1);
    }

    @Test
    void acceptsSlowBodies() throws Exception {
        byte[] image = Served.png(1);
        try (Socket socket = connect("127.0.0.1")) {
            socket.getOutputStream()
                    .write(("POST /v1/predict HTTP/1.1\r\n"
                                    + "Host: localhost\r\n"
                                    + "Content-Type: image/png\r\n"
                                    + "Content-Length: "
                                    + image.length + "\r\n\r\n")
                            .getBytes(ISO_8859_1));
            for (int part = 0; part < 8; part++) {
                Thread.sleep(100);
                int from = image.length * part / 8;
                socket.getOutputStream().write(image, from, image.length * (part + 1) / 8 - from);
            }
            socket.setSoTimeout(10_000);
            assertThat(read(socket)).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX) // other systems have no second local address
    void limitsConnectionsPerClient() throws Exception {
        List<Socket> many = new ArrayList<>();
        try {
            int open = 0;
            for (int i = 0; i < PER_CLIENT + 4; i++) {
                many.add(connect("127.0.0.2"));
                many.getLast().getOutputStream().write('G');
            }
            for (Socket socket : many) {
                socket.setSoTimeout(30);
                try {
                    open += socket.getInputStream().read() >= 0 ? 1 : 0;
                } catch (SocketTimeoutException _) {
                    open++;
                } catch (IOException _) {
                    // reset
                }
            }
            assertThat(open).isLessThanOrEqualTo(PER_CLIENT);
            try (Socket other = connect("127.0.0.1")) {
                other.getOutputStream().write((REQUEST + "\r\n").getBytes(ISO_8859_1));
                assertThat(read(other)).startsWith("HTTP/1.1 200");
            }
        } finally {
            for (Socket socket : many) {
                socket.close();
            }
        }
    }
}
