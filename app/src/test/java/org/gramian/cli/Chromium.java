package org.gramian.cli;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/**
 * The browser of this machine, started once for all tests that need it.
 *
 * <p>It is looked for on the PATH and never downloaded. Where there is none the tests are skipped, unless {@value #WISH} is
 * {@code required}, as {@code .ci/run} says: then they fail.
 */
public final class Chromium implements BeforeAllCallback {
    static final String WISH = "GRAMIAN_BROWSER";
    /** For anything that is waited for: a machine that does other things as well is no failure. */
    public static final int PATIENCE_MILLIS = 30_000;

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");
    private static final Namespace PLACE = Namespace.create(Chromium.class);

    /** Whom JUnit closes after the last test. */
    private record Running(Playwright playwright, Browser browser) implements AutoCloseable {
        @Override
        public void close() {
            browser.close();
            playwright.close();
        }
    }

    private static Optional<Running> running = Optional.empty();

    /** The browser, which every test class that is extended by this one may use. */
    public static Browser browser() {
        return running.orElseThrow(() -> new IllegalStateException("expected @ExtendWith(Chromium.class)"))
                .browser();
    }

    /** Starts it before the first class, and never twice. */
    @Override
    public void beforeAll(ExtensionContext context) {
        Optional<Path> program = find(Objects.toString(System.getenv("PATH"), ""));
        if (program.isEmpty()) {
            String found = "expected one of " + NAMES + " on the PATH, found none";
            if (required(Objects.toString(System.getenv(WISH), ""))) {
                throw new IllegalStateException(found + ", and " + WISH + " says that browser tests must run");
            }
            Assumptions.abort(found + ": the tests in a browser are skipped");
        }
        running = Optional.of(context.getStore(StoreScope.LAUNCHER_SESSION, PLACE)
                .computeIfAbsent(Running.class, _ -> start(program.orElseThrow()), Running.class));
    }

    private static Running start(Path program) {
        PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
        Playwright playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        // Chromium has no sandbox for root, whom containers run as; the pages are our own.
        return new Running(
                playwright,
                playwright
                        .chromium()
                        .launch(new BrowserType.LaunchOptions()
                                .setExecutablePath(program)
                                .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage"))));
    }

    static boolean required(String wish) {
        return wish.equals("required");
    }

    static Optional<Path> find(String path) {
        return NAMES.stream()
                .flatMap(name -> List.of(path.split(File.pathSeparator, -1)).stream()
                        .filter(folder -> !folder.isEmpty())
                        .map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
