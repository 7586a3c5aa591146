package org.gramian.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ReducedMotion;
import com.microsoft.playwright.options.ScreenshotScale;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.gramian.cli.command.TinyService;
import org.gramian.cli.command.Visit;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.Server;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Takes the screenshots of the documentation from a finished demo; {@code docs/screenshots} runs it. Not part of the tests. */
@ExtendWith(Chromium.class)
@EnabledIfEnvironmentVariable(named = Screenshots.DEMO, matches = ".+")
class Screenshots {
    /** The folder of {@code gramian demo}. */
    static final String DEMO = "GRAMIAN_SCREENSHOTS";

    @TempDir
    private Path folder = Path.of("");

    private static final Path IMAGES = Path.of("..", "docs", "images");

    private static Path demo() {
        return Path.of(System.getenv(DEMO));
    }

    private static Path run() {
        return demo().resolve("auto");
    }

    /** An image that the model has not learned from: the last of its test images. */
    private static Path image() throws IOException {
        Gallery gallery = Gallery.read(run().resolve("gallery.safetensors"));
        return gallery.items().stream()
                .filter(item -> item.subset() == Subset.TEST)
                .reduce((_, last) -> last)
                .map(item -> demo().resolve("images").resolve(item.name()))
                .orElseThrow();
    }

    private static void take(Page page, String name, Screen screen) throws IOException {
        Files.createDirectories(IMAGES);
        page.screenshot(new Page.ScreenshotOptions()
                .setScale(
                        ScreenshotScale
                                .CSS) // a phone has two or more pixels per CSS pixel, and a file four times as large
                .setPath(IMAGES.resolve(name + "-" + screen.name().toLowerCase(Locale.ROOT) + ".png")));
    }

    @ParameterizedTest
    @EnumSource
    void page(Screen screen) throws IOException {
        try (Server server = TinyService.serve(run(), ServeOptions.local(0));
                Visit visit = screen.visit()) {
            Page page = visit.page();
            page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.REDUCE));
            page.navigate("http://localhost:" + server.port() + "/");
            page.locator("#file").setInputFiles(image());
            assertThat(page.locator(".answer")).isVisible();
            page.setViewportSize(page.viewportSize().width, 1160);
            if (screen == Screen.PHONE) {
                page.locator("#results").evaluate("element => element.scrollIntoView()");
            }
            take(page, "page", screen);
        }
    }

    @ParameterizedTest
    @EnumSource
    void report(Screen screen) throws IOException {
        Path file = folder.resolve("report.html");
        Run written = Run.of("report", run(), "--out", file).done();
        try (Visit visit = screen.visit()) {
            Page page = visit.page();
            page.navigate(file.toUri().toString());
            take(page, "report", screen);
            page.locator("#r0-confusion").evaluate("element => element.scrollIntoView()");
            take(page, "confusion", screen);
        }
    }
}
