package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.cli.TinyModel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that change while they are loaded, and models that cannot be loaded. */
class ModelSlotTest {
    @TempDir
    private Path folder;

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private Path file = Path.of("");

    @BeforeEach
    void write() throws IOException {
        file = TinyModel.write(folder.resolve("model.safetensors"), "center:32");
    }

    private interface LoadHook {
        void at(int load) throws IOException;
    }

    /** Starts a server with a hook after each load. */
    private Server start(LoadHook hook) throws IOException {
        LoadedModel.Source plain = Served.source(file);
        AtomicInteger loads = new AtomicInteger();
        LoadedModel.Source source = new LoadedModel.Source(plain.files(), say -> {
            ServedModel model = plain.loader().load(say);
            hook.at(loads.incrementAndGet());
            return model;
        });
        return Server.start(ServeOptions.local(0), source, new Server.Listener(events::add, _ -> {}));
    }

    @Test
    void changeDuringLoadCausesReload() throws Exception {
        try (Server _ = start(load -> {
            if (load == 1) {
                TinyModel.write(file, "resize:40");
            }
        })) {
            assertThat(events.poll(20, TimeUnit.SECONDS)).isNotBlank();
        }
    }

    @Test
    void reloadingContinuesAfterAnError() throws Exception {
        try (Server _ = start(load -> {
            if (load == 2) {
                throw new UnsatisfiedLinkError("simulated");
            }
        })) {
            TinyModel.write(file, "resize:40");
            assertThat(events.poll(20, TimeUnit.SECONDS)).contains("simulated");
            TinyModel.write(file, "center:32");
            assertThat(events.poll(20, TimeUnit.SECONDS)).isNotBlank();
        }
    }

    @Test
    void abandonsAStuckLoad() throws Exception {
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch never = new CountDownLatch(1);
        LoadedModel.Source plain = Served.source(file);
        LoadedModel.Source source = new LoadedModel.Source(plain.files(), say -> {
            if (loads.incrementAndGet() == 2) {
                await(never);
            }
            return plain.loader().load(say);
        });
        Meters meters = new Meters(new Admission(ServeOptions.Limits.DEFAULT));
        try (ModelSlot slot = new ModelSlot(source, meters, events::add, Duration.ofSeconds(3))) {
            TinyModel.write(file, "resize:40");
            assertThat(events.poll(20, TimeUnit.SECONDS)).contains("abandoned");
            slot.lease().close();
            TinyModel.write(file, "center:32");
            assertThat(events.poll(20, TimeUnit.SECONDS)).contains("reloaded");
            never.countDown();
            assertThat(loads.get()).isEqualTo(3);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
