package org.gramian.cli.model;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.FilePayload;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.cli.Chromium;
import org.gramian.cli.Images;
import org.gramian.serve.Limits;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the page says when the server says no, or nothing. Its refusals are put between browser and server, as they are hard to come by. */
@ExtendWith({Chromium.class, TinyService.class})
abstract class WebPageRefusalTest {
    private static final String PREDICT = "**/v1/predict*";

    private static Route.FulfillOptions refusal(int status, String code, String message) {
        return new Route.FulfillOptions()
                .setStatus(status)
                .setContentType("application/json")
                .setBody("{\"error\":{\"code\":\"" + code + "\",\"message\":\"" + message + "\"}}");
    }

    private static Locator ask(Page page) throws IOException {
        page.locator("#file").setInputFiles(new FilePayload("wall.png", "image/png", Images.png(60, 60, 1)));
        return page.locator(".card");
    }

    @Test
    void showsErrorsOfTheServer() throws IOException {
        try (Visit visit = Visit.dark().expectingRefusals()) {
            Page page = visit.page();
            page.route(PREDICT, route -> route.fulfill(refusal(413, "too-large", "20 MB are the most")));
            page.navigate(TinyService.address());
            Locator card = ask(page);
            assertThat(card.locator(".fault")).containsText("20 MB are the most");
            assertThat(page.locator("#spoken")).containsText("wall.png");
            visit.assertAccessible();
        }
    }

    @Test
    void retriesAfterRetryAfter() throws IOException {
        AtomicInteger requested = new AtomicInteger();
        try (Visit visit = Visit.desktop().expectingRefusals()) {
            Page page = visit.page();
            page.route(PREDICT, route -> {
                if (requested.incrementAndGet() == 1) {
                    route.fulfill(refusal(429, "busy", "full").setHeaders(Map.of("Retry-After", "1")));
                } else {
                    route.resume();
                }
            });
            page.navigate(TinyService.address());
            Locator card = ask(page);
            assertThat(card.locator(".busy")).containsText("1 s");
            assertThat(card.locator(".answer")).isVisible();
            assertThat(requested).hasValue(2);
        }
    }

    @Test
    void lostConnectionCanBeRetried() throws IOException {
        try (Visit visit = Visit.phone().expectingRefusals()) {
            Page page = visit.page();
            page.navigate(TinyService.address());
            page.route(PREDICT, Route::abort);
            Locator card = ask(page);
            assertThat(card.locator(".fault")).isVisible();
            visit.assertAccessible();
            page.unroute(PREDICT);
            card.getByText("Try again").click();
            assertThat(card.locator(".answer")).isVisible();
            assertThat(card.locator(".fault")).hasCount(0);
        }
    }

    @Test
    void tokenIsKeptForTheTab() throws IOException {
        ServeOptions locked = new ServeOptions("localhost", 0, Optional.of("swordfish"), Limits.DEFAULT);
        try (Server server = TinyService.serve(TinyService.run(), locked);
                Visit visit = Visit.phone().expectingRefusals()) {
            Page page = visit.page();
            page.navigate("http://localhost:" + server.port() + "/");
            Locator field = page.locator("#token");
            assertThat(field).isFocused();
            Locator card = ask(page);
            assertThat(card.locator(".answer")).isHidden();
            visit.assertAccessible();
            String hint = page.locator("#token-hint").textContent();
            field.fill("guess");
            field.press("Enter");
            assertThat(page.locator("#token-hint")).not().hasText(hint);
            field.fill("swordfish");
            field.press("Enter");
            assertThat(card.locator(".answer")).isVisible();
            assertThat(field).isHidden();
            assertThat(page.locator("#curl")).containsText("Bearer $TOKEN");
            page.reload();
            assertThat(page.locator("#summary")).containsText("3 classes");
        }
    }

    @Test
    void unavailableModelIsANotice() {
        try (Visit visit = Visit.desktop().expectingRefusals()) {
            Page page = visit.page();
            page.route("**/v1/model", route -> route.fulfill(refusal(503, "stopping", "this server is stopping")));
            page.navigate(TinyService.address());
            assertThat(page.locator("#notices")).containsText("this server is stopping");
            visit.assertAccessible();
            page.unroute("**/v1/model");
            page.locator("#notices button").click();
            assertThat(page.locator("#summary")).containsText("3 classes");
            assertThat(page.locator("#notices")).isEmpty();
        }
    }

    /** From now on a model of another name answers, which cannot explain. */
    private static void swapModel(Page page) {
        page.route("**/v1/model", route -> {
            // the server may just have closed an idle connection that Playwright keeps
            APIResponse real = route.fetch(new Route.FetchOptions().setMaxRetries(2));
            String other = real.text()
                    .replaceFirst("\"name\":\"[^\"]*\"", "\"name\":\"another\"")
                    .replace("\"explain\":true", "\"explain\":false");
            route.fulfill(new Route.FulfillOptions().setResponse(real).setBody(other));
        });
        page.route(PREDICT, route -> {
            if (route.request().url().contains("explain=true")) {
                route.fulfill(refusal(400, "bad-request", "this model cannot be explained"));
            } else {
                route.resume();
            }
        });
    }

    @Test
    void reloadsTheModelAfterARefusal() throws IOException {
        try (Visit visit = Visit.desktop().expectingRefusals()) {
            Page page = visit.page();
            page.navigate(TinyService.address());
            assertThat(page.locator("#summary")).containsText("3 classes");
            swapModel(page);
            assertThat(ask(page).locator(".answer")).isVisible();
            assertThat(page).hasTitle("another · Gramian");
        }
    }

    @Test
    void reloadsTheModelWhenVisibleAgain() {
        try (Visit visit = Visit.desktop()) {
            Page page = visit.page();
            page.navigate(TinyService.address());
            assertThat(page.locator("#summary")).containsText("3 classes");
            swapModel(page);
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
            assertThat(page).hasTitle("another · Gramian");
        }
    }

    @Test
    void escapesNamesOfTheServer() throws IOException {
        String evil = "<img src=x onerror=alert(1)>";
        try (Visit visit = Visit.desktop()) {
            Page page = visit.page();
            page.route(
                    PREDICT,
                    route -> route.fulfill(new Route.FulfillOptions()
                            .setContentType("application/json")
                            .setBody("{\"results\":[{\"name\":\"x\",\"class\":\"" + evil
                                    + "\",\"probability\":0.3,\"top\":[{\"class\":\"" + evil
                                    + "\",\"probability\":0.3}],\"nearest\":[{\"name\":\"x\",\"class\":\"" + evil
                                    + "\",\"distance\":0.5,\"thumbnail\":\"javascript:alert(1)\"}]}]}")));
            page.navigate(TinyService.address());
            Locator card = ask(page);
            assertThat(card.locator(".answer strong")).hasText(evil);
            assertThat(card.locator(".body .small")).hasCount(1);
            assertThat(card.locator("img")).hasCount(1);
            assertThat(visit.requests()).doesNotContain("GET /x");
        }
    }
}
