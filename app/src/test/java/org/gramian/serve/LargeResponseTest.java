package org.gramian.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.gramian.model.Engine;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Responses larger than the socket buffers. */
class LargeResponseTest {
    private static final int NUMBERS = 800_000;

    /** Each number has more signs, and a comma. */
    private static final int LEAST_BYTES = 8 * NUMBERS;

    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    private Path folder;

    private Served start(Duration time) throws IOException {
        Limits limits = new Limits(new Limits.Upload(1_000_000, 4, 50_000_000, time), Limits.Load.DEFAULT);
        return Served.start(
                Served.computedBy(
                        Served.withGallery(folder), _ -> (_, _, _) -> Map.of(Engine.Rows.DESCRIPTORS, descriptor())),
                new ServeOptions("localhost", 0, Optional.empty(), limits));
    }

    private static float[][] descriptor() {
        float[] row = new float[NUMBERS];
        for (int i = 0; i < row.length; i++) {
            row[i] = 1f / (i + 1);
        }
        return new float[][] {row};
    }

    @Test
    void largeResponseIsComplete() throws Exception {
        try (Served served = start(LONG)) {
            JsonNode numbers = Served.json(served.post("/v1/embed", "image/png", Served.png(1)))
                    .get("results")
                    .get(0)
                    .get("descriptor");
            assertThat(numbers.size()).isEqualTo(NUMBERS);
            assertThat(numbers.get(NUMBERS - 1).floatValue()).isEqualTo(1f / NUMBERS);
        }
    }

    @Test
    void requestEndsWhenItsResponseIsRead() throws Exception {
        try (Served served = start(LONG)) {
            try (Socket socket = ask(served)) {
                assertThat(socket.getInputStream().read()).isEqualTo('H');
                Thread.sleep(200); // the client does not read
                assertThat(waiting(served)).isEqualTo("1.0");
            }
            Served.await(() -> waiting(served).equals("0.0"));
        }
    }

    @Test
    void disconnectsSlowReaders() throws Exception {
        try (Served served = start(Duration.ofSeconds(1));
                Socket socket = ask(served)) {
            InputStream in = socket.getInputStream();
            long taken = in.readNBytes(1).length;
            assertThat(waiting(served)).isEqualTo("1.0");
            while (!waiting(served).equals("0.0") && taken < LEAST_BYTES) {
                taken += in.readNBytes(16_384).length; // never silent for long
                Thread.sleep(20);
            }
            assertThat(taken).isLessThan(LEAST_BYTES);
        }
    }

    private static Socket ask(Served served) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(8_192);
        socket.setSoTimeout(15_000);
        socket.connect(new InetSocketAddress("localhost", served.server().port()));
        byte[] body = Served.png(1);
        OutputStream out = socket.getOutputStream();
        out.write(("POST /v1/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: "
                        + body.length + "\r\n\r\n")
                .getBytes(ISO_8859_1));
        out.write(body);
        return socket;
    }

    private static String waiting(Served served) throws Exception {
        return served.get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("gramian_images_waiting "))
                .findFirst()
                .orElseThrow()
                .split(" ", -1)[1];
    }
}
