package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.args.AxeRunOptions;
import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.gramian.cli.Chromium;

/**
 * One person's visit to a page, who notes what must never happen: a request that leaves this machine, a script that fails, a word of
 * complaint on the browser's console.
 */
public final class Visit implements AutoCloseable {
    private static final Set<String> HERE = Set.of("127.0.0.1", "localhost");
    private static final Set<String> HARMLESS = Set.of("data", "blob", "about", "file");
    /** What Chromium says by itself of every answer that is an error: the tests of refusals ask for it. */
    private static final String REFUSED = "Failed to load resource";

    private final BrowserContext context;
    private final Page page;
    private final List<String> complaints = new ArrayList<>();
    private final List<String> strangers = new ArrayList<>();
    private final List<String> requests = new ArrayList<>();
    private boolean refusals;

    private Visit(BrowserContext context) {
        this.context = context;
        this.page = context.newPage();
        page.setDefaultTimeout(Chromium.PATIENCE_MILLIS);
        page.onConsoleMessage(message -> {
            if (Set.of("error", "warning").contains(message.type())) {
                complaints.add(message.text());
            }
        });
        page.onPageError(complaints::add);
        page.onRequest(request -> {
            URI address = URI.create(request.url().replaceFirst("^(data|blob):.*", "$1:it"));
            requests.add(
                    request.method() + " " + (address.getPath() == null ? address.getScheme() : address.getPath()));
            if (!HARMLESS.contains(address.getScheme()) && !HERE.contains(address.getHost())) {
                strangers.add(request.url());
            }
        });
    }

    /** By a screen of 1,280 x 800 points. */
    public static Visit desktop() {
        return new Visit(Chromium.browser().newContext(options(1280, 800)));
    }

    /** The same at night. */
    public static Visit dark() {
        return new Visit(Chromium.browser().newContext(options(1280, 800).setColorScheme(ColorScheme.DARK)));
    }

    /** By a telephone. */
    public static Visit phone() {
        return phone(ColorScheme.LIGHT);
    }

    public static Visit phone(ColorScheme scheme) {
        return new Visit(Chromium.browser()
                .newContext(options(390, 844)
                        .setColorScheme(scheme)
                        .setIsMobile(true)
                        .setHasTouch(true)
                        .setDeviceScaleFactor(2)));
    }

    private static Browser.NewContextOptions options(int width, int height) {
        return new Browser.NewContextOptions()
                .setViewportSize(width, height)
                .setPermissions(List.of("clipboard-read", "clipboard-write"));
    }

    /** Says that the test asks for answers that are errors, which the browser notes on its console. */
    Visit expectingRefusals() {
        refusals = true;
        return this;
    }

    public Page page() {
        return page;
    }

    /** Requests so far, as "GET /v1/model". */
    List<String> requests() {
        return requests;
    }

    /** No serious or critical fault for people who see, hear or move otherwise; nothing sticks out of the screen's side. */
    void assertAccessible() {
        assertAccessible("html");
    }

    /** Checks the part of the page that a CSS selector names. */
    void assertAccessible(String part) {
        AxeRunOptions options = new AxeRunOptions();
        options.setResultTypes(List.of("violations")); // a report passes thousands of checks, each with its markup
        List<Rule> grave = new AxeBuilder(page)
                .include(part).options(options).analyze().getViolations().stream()
                        .filter(rule -> Set.of("serious", "critical").contains(rule.getImpact()))
                        .toList();
        assertThat(grave)
                .as(() -> grave.stream()
                        .map(rule -> rule.getId() + ": " + rule.getNodes())
                        .toList()
                        .toString())
                .isEmpty();
        assertThat(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
                .as("points that the page is wider than the screen")
                .isEqualTo(0);
    }

    /** Ends the visit; fails if something happened that must not. */
    @Override
    public void close() {
        context.close();
        assertThat(strangers).as("requests that leave this machine").isEmpty();
        assertThat(complaints)
                .as("the browser's console")
                .filteredOn(text -> !(refusals && text.startsWith(REFUSED)))
                .isEmpty();
    }
}
