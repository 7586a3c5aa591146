package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.gramian.cli.TinyModel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that change while they are loaded, and models that cannot be loaded. */
class ModelReloaderTest {
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

    /** A source with a hook after each load. */
    private ModelSource source(LoadHook hook) {
        ModelSource plain = Served.source(file);
        AtomicInteger loads = new AtomicInteger();
        return new ModelSource() {
            @Override
            public List<Path> files() {
                return plain.files();
            }

            @Override
            public LoadedModel load(Consumer<String> say) throws IOException {
                LoadedModel model = plain.load(say);
                hook.at(loads.incrementAndGet());
                return model;
            }
        };
    }

    private Server start(ModelSource source) throws IOException {
        return Server.start(ServeOptions.local(0), source, new Server.Listener(events::add, _ -> {}));
    }

    @Test
    void changeDuringLoadCausesReload() throws Exception {
        ModelSource source = source(load -> {
            if (load == 1) {
                TinyModel.write(file, "resize:40");
            }
        });
        try (Server _ = start(source)) {
            assertThat(events.poll(20, TimeUnit.SECONDS)).isNotBlank();
        }
    }

    @Test
    void reloadingContinuesAfterAnError() throws Exception {
        ModelSource source = source(load -> {
            if (load == 2) {
                throw new UnsatisfiedLinkError("simulated");
            }
        });
        try (Server _ = start(source)) {
            TinyModel.write(file, "resize:40");
            assertThat(events.poll(20, TimeUnit.SECONDS)).contains("simulated");
            TinyModel.write(file, "center:32");
            assertThat(events.poll(20, TimeUnit.SECONDS)).isNotBlank();
        }
    }
}
