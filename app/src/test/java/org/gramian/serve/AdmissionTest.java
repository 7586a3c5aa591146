package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is counted against memory, and what is not. */
class AdmissionTest {
    private static final long ALL = Runtime.getRuntime().maxMemory() / 8;

    private final Admission admission =
            new Admission(new Limits(new Limits.Upload(1_000, 4, 1_000, Duration.ofSeconds(1)), Limits.Load.DEFAULT));

    @Test
    void manyWhoHaveSentNothingKeepNobodyOut() throws Refusal {
        for (int i = 0; i < 1_000; i++) {
            admission.enter();
        }
        admission.enter().bytes(ALL);
    }

    @Test
    void onceThereIsNoRoomWhoeverWantsMoreIsRefusedUntilSomeIsGivenBack() throws Refusal {
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
    void aRequestThatIsLargerThanAllTheRoomIsServedWhenItIsAlone() throws Refusal {
        Admission.Ticket huge = admission.enter();
        huge.bytes(10);
        huge.bytes(10 * ALL);
        huge.close();
        admission.enter().bytes(1);
        assertBusy(() -> admission.enter().bytes(10 * ALL));
    }

    @Test
    void aThreadThatAsksForARequestWhichHasEndedTakesNothing() throws Refusal {
        Admission.Ticket ended = admission.enter();
        ended.close();
        assertBusy(() -> ended.bytes(10));
        admission.enter().bytes(ALL);
        assertThat(admission.drain(Duration.ofMillis(1))).isFalse();
    }

    private interface Asking {
        void ask() throws Refusal;
    }

    private static void assertBusy(Asking asking) {
        assertThatThrownBy(asking::ask)
                .isInstanceOfSatisfying(
                        Refusal.class, it -> assertThat(it.code()).isEqualTo("busy"));
    }
}
