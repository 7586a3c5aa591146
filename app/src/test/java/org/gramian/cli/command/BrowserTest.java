package org.gramian.cli.command;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.FilePayload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.gramian.cli.Chromium;
import org.gramian.cli.Images;
import org.gramian.cli.Screen;
import org.gramian.cli.TinyDetector;
import org.gramian.cli.TinyRun;
import org.gramian.explain.HeatImage;
import org.gramian.image.Image;
import org.gramian.serve.ServeOptions;
import org.gramian.serve.ServeOptions.Limits;
import org.gramian.serve.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All tests in a browser, in one class: test classes run in two processes, and each would start a browser. */
@ExtendWith({Chromium.class, TinyService.class})
class BrowserTest {
    /** The page of a test, which opens it. */
    @SuppressWarnings("NullAway.Init")
    private Visit visit;

    @AfterEach
    void close() {
        visit.close();
    }

    /** The page of {@code gramian serve}, on a real model. */
    @Nested
    class WebPage {
        private Page open(Visit opened) {
            visit = opened;
            visit.page().navigate(TinyService.address());
            assertThat(visit.page().locator("#summary")).containsText("3 classes");
            return visit.page();
        }

        private static FilePayload image(String name, int seed) throws IOException {
            return new FilePayload(name, "image/png", Images.png(90, 70, seed));
        }

        private static void drop(Page page, FilePayload file) {
            Object transfer = page.evaluateHandle(
                    """
                    ([name, type, text]) => {
                      const transfer = new DataTransfer();
                      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                      transfer.items.add(new File([bytes], name, { type }));
                      return transfer;
                    }\
                    """, List.of(file.name, file.mimeType, Base64.getEncoder().encodeToString(file.buffer)));
            page.dispatchEvent("#drop", "drop", Map.of("dataTransfer", transfer));
        }

        private static Locator card(Page page, String name) {
            return page.locator(".card").filter(new Locator.FilterOptions().setHasText(name));
        }

        private static void assertAnswered(Locator card) {
            assertThat(card.locator(".answer strong")).hasText(Pattern.compile("paper|stone|wood"));
            assertThat(card.locator(".bars li")).hasCount(3);
            assertThat(card.locator(".bars li").first()).containsText("%");
        }

        @Test
        void sendsNothingBeforeImageIsAdded() {
            open(Visit.desktop());
            assertThat(visit.requests()).contains("GET /v1/model").noneMatch(request -> request.startsWith("POST"));
        }

        @ParameterizedTest
        @MethodSource("org.gramian.cli.Screen#checked")
        void predictsDroppedImageOnEveryScreen(Screen screen) throws IOException {
            Page page = open(screen.visit());
            drop(page, image("wall.png", 1));
            assertAnswered(card(page, "wall.png"));
            assertThat(page.locator("#spoken")).containsText("wall.png: ");
            page.locator("#model > summary").click();
            page.locator("#programs > summary").click();
            visit.assertAccessible();
        }

        @Test
        void heatMapCoversImageUntilSwitchedOff() throws IOException {
            Page page = open(Visit.desktop());
            drop(page, image("wall.png", 2));
            Locator heat = page.locator(".heat");
            assertThat(heat).isVisible();
            assertThat(heat.boundingBox())
                    .usingRecursiveComparison()
                    .isEqualTo(page.locator(".shown").boundingBox());
            assertThat((Boolean) heat.evaluate("image => image.complete && image.naturalWidth > 0"))
                    .isTrue();
            page.locator(".switch input").press("Space");
            assertThat(heat).isHidden();
            page.locator(".switch input").press("Space");
            assertThat(heat).isVisible();
        }

        @ParameterizedTest
        @MethodSource("org.gramian.cli.Screen#checked")
        void detectorMarksAnomalyOnEveryScreen(Screen screen, @TempDir Path folder) throws IOException {
            TinyDetector.write(folder.resolve("model.safetensors"));
            try (Server server = TinyService.serve(folder, ServeOptions.local(0))) {
                visit = screen.visit();
                Page page = visit.page();
                page.navigate("http://localhost:" + server.port() + "/");
                assertThat(page.locator("#drop-title")).hasText("Inspect images");
                drop(page, png("bad.png", TinyDetector.defective(50)));
                drop(page, png("good.png", TinyDetector.image(3)));
                Locator bad = card(page, "bad.png");
                assertThat(bad.locator(".answer strong")).hasText("Anomalous");
                assertThat(bad.locator(".frame .box").first()).isVisible();
                assertThat(bad.locator(".regions li").first()).containsText("pixels at");
                assertThat(card(page, "good.png").locator(".answer strong")).hasText("Good");
                bad.locator(".switch input").press("Space");
                assertThat(bad.locator(".frame .box").first()).isHidden();
                page.locator("#model > summary").click();
                visit.assertAccessible();
            }
        }

        private static FilePayload png(String name, Image image) {
            return new FilePayload(name, "image/png", HeatImage.png(image.toBufferedImage()));
        }

        @Test
        void showsNearestTrainingImages() throws IOException {
            Page page = open(Visit.desktop());
            drop(page, image("wall.png", 3));
            Locator nearest = page.locator(".nearest li");
            assertThat(nearest).hasCount(6);
            assertThat(nearest.first()).hasText(Pattern.compile("(paper|stone|wood)distance \\d\\.\\d\\d"));
            assertThat((Boolean) nearest.first().locator("img").evaluate("image => image.naturalWidth > 0"))
                    .isTrue();
        }

        @Test
        void predictsPastedImage() throws IOException {
            Page page = open(Visit.desktop());
            page.evaluate("""
                async (text) => {
                  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                  await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
                }\
                """, Base64.getEncoder().encodeToString(Images.png(80, 80, 4)));
            page.keyboard().press("ControlOrMeta+V");
            assertAnswered(page.locator(".card"));
        }

        @Test
        void predictsManyImagesAndRemovesThem() throws IOException {
            Page page = open(Visit.desktop());
            FilePayload[] files = new FilePayload[7];
            for (int i = 0; i < files.length; i++) {
                files[i] = image("many" + i + ".png", i);
            }
            page.locator("#file").setInputFiles(files);
            assertThat(page.locator(".card .answer")).hasCount(files.length);
            page.getByLabel("Remove many3.png").click();
            assertThat(page.locator(".card")).hasCount(files.length - 1);
            page.locator("#clear").click();
            assertThat(page.locator(".card")).hasCount(0);
            assertThat(page.locator("#nothing")).isVisible();
        }

        @Test
        void unreadableFileDoesNotStopOthers() throws IOException {
            Page page = open(Visit.phone());
            byte[] text = "no image at all".getBytes(StandardCharsets.UTF_8);
            page.locator("#camera").setInputFiles(new FilePayload("broken.png", "image/png", text));
            page.locator("#file").setInputFiles(new FilePayload[] {
                new FilePayload("empty.png", "image/png", new byte[0]), image("wall.png", 5)
            });
            assertThat(card(page, "broken.png").locator(".fault")).isVisible();
            assertThat(card(page, "empty.png").locator(".fault")).isVisible();
            assertAnswered(card(page, "wall.png"));
            visit.assertAccessible();
        }
    }

    /** Errors of the server, which are put between browser and server. */
    @Nested
    class Refusals {
        private static final String PREDICT = "**/v1/predict*";

        private static Route.FulfillOptions errorResponse(int status, String code, String message) {
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
            visit = Visit.dark().expectingRefusals();
            Page page = visit.page();
            page.route(PREDICT, route -> route.fulfill(errorResponse(413, "too-large", "20 MB are the most")));
            page.navigate(TinyService.address());
            Locator card = ask(page);
            assertThat(card.locator(".fault")).containsText("20 MB are the most");
            assertThat(page.locator("#spoken")).containsText("wall.png");
            visit.assertAccessible();
        }

        @Test
        void retriesAfterRetryAfter() throws IOException {
            AtomicInteger requested = new AtomicInteger();
            visit = Visit.desktop().expectingRefusals();
            Page page = visit.page();
            page.route(PREDICT, route -> {
                if (requested.incrementAndGet() == 1) {
                    route.fulfill(errorResponse(429, "busy", "full").setHeaders(Map.of("Retry-After", "1")));
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

        @Test
        void lostConnectionCanBeRetried() throws IOException {
            visit = Visit.phone().expectingRefusals();
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

        @Test
        void tokenIsKeptForTheTab() throws IOException {
            ServeOptions locked = new ServeOptions("localhost", 0, Optional.of("swordfish"), Limits.DEFAULT);
            visit = Visit.phone().expectingRefusals();
            try (Server server = TinyService.serve(TinyRun.folder(), locked)) {
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
            visit = Visit.desktop().expectingRefusals();
            Page page = visit.page();
            page.route(
                    "**/v1/model", route -> route.fulfill(errorResponse(503, "stopping", "this server is stopping")));
            page.navigate(TinyService.address());
            assertThat(page.locator("#notices")).containsText("this server is stopping");
            visit.assertAccessible();
            page.unroute("**/v1/model");
            page.locator("#notices button").click();
            assertThat(page.locator("#summary")).containsText("3 classes");
            assertThat(page.locator("#notices")).isEmpty();
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
                    route.fulfill(errorResponse(400, "bad-request", "this model cannot be explained"));
                } else {
                    route.resume();
                }
            });
        }

        @Test
        void reloadsTheModelAfterARefusal() throws IOException {
            visit = Visit.desktop().expectingRefusals();
            Page page = visit.page();
            page.navigate(TinyService.address());
            assertThat(page.locator("#summary")).containsText("3 classes");
            swapModel(page);
            assertThat(ask(page).locator(".answer")).isVisible();
            assertThat(page).hasTitle("another · Gramian");
        }

        @Test
        void escapesNamesOfTheServer() throws IOException {
            String evil = "<img src=x onerror=alert(1)>";
            visit = Visit.desktop();
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

    /** The report of a run, opened from the disk. */
    @Nested
    class RunReport {
        private Page open(Visit opened) {
            visit = opened;
            visit.page()
                    .navigate(TinyRun.folder().resolve("report.html").toUri().toString());
            return visit.page();
        }

        @Test
        void confusionCellOpensItsImages() {
            Page page = open(Visit.desktop());
            Locator cell = page.locator("table.matrix button").first();
            String target = "#" + cell.getAttribute("popovertarget");
            Locator popup = page.locator(target);
            assertThat(popup).isHidden();
            cell.click();
            assertThat(popup).isVisible();
            int count = Integer.parseInt(cell.innerText().strip());
            assertThat(popup.locator(".gallery > *")).hasCount(count);
            assertThat(popup.locator(".gallery svg").first()).isVisible();
            visit.assertAccessible(target);
            page.keyboard().press("Escape");
            assertThat(popup).isHidden();
        }

        @ParameterizedTest
        @MethodSource("org.gramian.cli.Screen#checked")
        void reviewIsAccessibleOnEveryScreen(Screen screen) {
            visit = screen.visit();
            visit.page()
                    .navigate(TinyRun.folder().resolve("review.html").toUri().toString());
            assertThat(visit.page().locator(".review li").first()).containsText("suggested");
            visit.assertAccessible();
        }

        @ParameterizedTest
        @MethodSource("org.gramian.cli.Screen#checked")
        void isAccessibleAndSelfContainedOnEveryScreen(Screen screen) {
            open(screen.visit());
            visit.assertAccessible();
            assertThat(visit.requests())
                    .as("the page itself, and what it holds within")
                    .allMatch(request -> request.equals("GET data") || request.endsWith("/report.html"));
        }
    }
}
