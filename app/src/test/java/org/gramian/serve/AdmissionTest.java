package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.time.Duration;
import org.gramian.serve.ServeOptions.Limits;
import org.junit.jupiter.api.Test;

/** Limits on memory, queued images and compute time. */
class AdmissionTest {
    private static final long ALL = Runtime.getRuntime().maxMemory() / 8;

    private final Admission admission =
            new Admission(new Limits(new Limits.Upload(1_000, 4, 1_000, Duration.ofSeconds(1)), Limits.Load.DEFAULT));

    @Test
    void requestsWithoutABodyTakeNoMemory() throws HttpError {
        for (int i = 0; i < 1_000; i++) {
            admission.enter();
        }
        admission.enter().bytes(ALL);
    }

    @Test
    void fullMemoryIsRefusedUntilSomeIsFreed() throws HttpError {
        Admission.Ticket large = admission.enter();
        Admission.Ticket small = admission.enter();
        large.bytes(ALL - 10);
        small.bytes(10);
        assertBusy(() -> small.bytes(1));
        assertBusy(admission::enter);
        large.close();
        small.bytes(ALL - 10);
    }

    @Test
    void servesLargeRequestsAlone() throws HttpError {
        Admission.Ticket huge = admission.enter();
        huge.bytes(10);
        huge.bytes(10 * ALL);
        huge.close();
        admission.enter().bytes(1);
        assertBusy(() -> admission.enter().bytes(10 * ALL));
    }

    @Test
    void finishedRequestReservesNothing() throws HttpError {
        Admission.Ticket ended = admission.enter();
        ended.close();
        assertBusy(() -> ended.bytes(10));
        admission.enter().bytes(ALL);
        assertThat(admission.drain(Duration.ofMillis(1))).isFalse();
    }

    @Test
    void explanationsAreLimitedByTheirComputeTime() throws HttpError {
        Admission admission30 = new Admission(Limits.DEFAULT);
        measure(admission30);
        Admission.Ticket first = admission30.enter();
        first.images(32, 32, 0);
        Admission.Ticket second = admission30.enter();
        assertThatThrownBy(() -> second.images(32, 32, 0)).isInstanceOfSatisfying(HttpError.class, it -> {
            assertThat(it.code()).isEqualTo("busy");
            // 64 explanations of 0.4 s are to be done within half of 30 s.
            assertThat(it.retryAfter()).hasValue(11);
        });
        second.images(32, 0, 0);
        for (int i = 0; i < 30; i++) {
            first.explained(Duration.ofMillis(400));
        }
        admission30.enter().images(32, 32, 0);
    }

    /** A prediction takes 10 ms, an explanation 400 ms. */
    private static void measure(Admission admission) throws HttpError {
        try (Admission.Ticket ticket = admission.enter()) {
            ticket.images(1, 1, 0);
            for (int i = 0; i < 9; i++) { // the first ones do not count
                admission.computed(1, Duration.ofMillis(i < 8 ? 5_000 : 10));
            }
            ticket.explained(Duration.ofMillis(400));
        }
    }

    @Test
    void refusesRequestsBeyondTheTimeLimit() throws HttpError {
        Duration five = Duration.ofSeconds(5);
        Limits limits = new Limits(Limits.Upload.DEFAULT, new Limits.Load(256, 16, five, five));
        new Admission(limits).enter().images(32, 32, 0); // no measurement yet
        Admission known = new Admission(limits);
        measure(known);
        assertThatThrownBy(() -> known.enter().images(32, 32, 0))
                .isInstanceOfSatisfying(
                        HttpError.class, it -> assertThat(it.status()).isEqualTo(413))
                .has(facts("12"));
        known.enter().images(12, 12, 0);
    }

    /** 58 bytes of WebP can code 49 megapixels, which take seconds to decode. */
    @Test
    void imagesAreAdmittedByTheirPixels() throws HttpError {
        Admission two = new Admission(Limits.DEFAULT, 2);
        int large = 49_000_000;
        for (int i = 0; i < 16; i++) {
            two.enter().images(1, 0, large);
        }
        Admission.Ticket small = two.enter();
        small.images(100, 0, 100 * 100_000);
        assertThatThrownBy(() -> two.enter().images(1, 0, large)).isInstanceOfSatisfying(HttpError.class, it -> {
            assertThat(it.code()).isEqualTo("busy");
            assertThat(it.retryAfter()).hasValue(2);
        });
        two.enter().images(10, 0, 10 * 100_000);
    }

    @Test
    void refusesTooManyPixels() throws HttpError {
        Admission two = new Admission(Limits.DEFAULT, 2);
        assertThatThrownBy(() -> two.enter().images(32, 0, 32 * 49_000_000L))
                .isInstanceOfSatisfying(
                        HttpError.class, it -> assertThat(it.status()).isEqualTo(413))
                .has(facts("20", "32", "1568"));
        two.enter().images(20, 0, 20 * 49_000_000L);
    }

    @Test
    void measuresTimePerPixel() throws HttpError {
        Admission one = new Admission(Limits.DEFAULT, 1);
        for (int i = 0; i < 100; i++) {
            one.decoded(10_000, Duration.ofSeconds(1)); // too small to tell
            one.decoded(50_000_000, Duration.ofMillis(100)); // faster than the least estimate, 1 s
        }
        Admission.Ticket ticket = one.enter();
        ticket.images(24, 0, 24 * 49_000_000L);
        assertBusy(() -> one.enter().images(1, 0, 49_000_000));
        ticket.close();
        one.enter().images(1, 0, 49_000_000);
    }

    /** The first batch of a server took 3 s, and the next requests got 429 until more were measured. */
    @Test
    void firstMeasurementsDoNotCount() throws HttpError {
        Admission cold = new Admission(Limits.DEFAULT, 1);
        cold.computed(1, Duration.ofSeconds(3));
        cold.decoded(1_000_000, Duration.ofSeconds(3));
        for (int i = 0; i < 16; i++) {
            cold.enter().images(1, 0, 10_000_000);
        }
    }

    private interface Call {
        void run() throws HttpError;
    }

    private static void assertBusy(Call call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        HttpError.class, it -> assertThat(it.code()).isEqualTo("busy"));
    }
}
