package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;

/** Slow bodies, simulated. */
class RequestBodyTest {
    /** What a socket gives: a byte at a time, or Jetty's word that nothing came for long. */
    @FunctionalInterface
    private interface Wire {
        int read() throws IOException;
    }

    private static HttpServletRequest request(Wire wire) {
        ServletInputStream in = new ServletInputStream() {
            @Override
            public int read() throws IOException {
                return wire.read();
            }

            @Override
            public int read(byte[] bytes, int from, int most) throws IOException {
                bytes[from] = (byte) read();
                return 1;
            }

            @Override
            public boolean isFinished() {
                return false;
            }

            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void setReadListener(ReadListener listener) {
                throw new UnsupportedOperationException();
            }
        };
        return (HttpServletRequest) Proxy.newProxyInstance(
                RequestBodyTest.class.getClassLoader(), new Class<?>[] {HttpServletRequest.class}, (_, method, _) -> {
                    assertThat(method.getName()).isEqualTo("getInputStream");
                    return in;
                });
    }

    private static void assertRefused(Wire wire, Duration time, Facts message) throws Exception {
        Limits.Upload limits = new Limits.Upload(1_000_000, 1, 1_000, time);
        try (Admission.Ticket ticket = new Admission(Limits.DEFAULT).enter()) {
            assertThatThrownBy(() -> RequestBody.read(request(wire), limits, ticket))
                    .isInstanceOfSatisfying(HttpError.class, refusal -> {
                        assertThat(refusal.status()).isEqualTo(408);
                        assertThat(refusal.code()).isEqualTo("too-slow");
                        assertThat(refusal.message()).has(message);
                    });
        }
    }

    @Test
    void aPauseAndASlowBodyHaveDifferentMessages() throws Exception {
        assertRefused(
                () -> {
                    throw new IOException(new TimeoutException("idle"));
                },
                Duration.ofSeconds(30),
                facts("10 s"));
        assertRefused(() -> 'x', Duration.ofMillis(1), facts("0 s"));
    }
}
