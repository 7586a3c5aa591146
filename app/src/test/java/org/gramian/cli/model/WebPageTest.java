package org.gramian.cli.model;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.FilePayload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.gramian.cli.Chromium;
import org.gramian.cli.Images;
import org.gramian.cli.Screen;
import org.gramian.evaluate.Metric;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page of {@code gramian serve} in a browser, on a real model: an image goes in, an answer appears. */
@ExtendWith({Chromium.class, TinyService.class})
abstract class WebPageTest {
    private static Page open(Visit visit) {
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
    void nothingIsSentBeforeAnImageIsAdded() {
        try (Visit visit = Visit.desktop()) {
            open(visit);
            assertThat(visit.requests()).contains("GET /v1/model").noneMatch(request -> request.startsWith("POST"));
        }
    }

    @ParameterizedTest
    @MethodSource("org.gramian.cli.Screen#checked")
    void aDroppedImageGetsItsAnswerOnEveryScreen(Screen screen) throws IOException {
        try (Visit visit = screen.visit()) {
            Page page = open(visit);
            visit.assertAccessible();
            drop(page, image("wall.png", 1));
            assertAnswered(card(page, "wall.png"));
            assertThat(page.locator("#spoken")).containsText("wall.png: ");
            page.locator("#model > summary").click();
            page.locator("#programs > summary").click();
            visit.assertAccessible();
        }
    }

    @Test
    void theRegionThatMatteredLiesOverTheImageUntilItIsSwitchedOff() throws IOException {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
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
    }

    @Test
    void theNearestTrainingImagesAreShownWithClassAndDistance() throws IOException {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            drop(page, image("wall.png", 3));
            Locator nearest = page.locator(".nearest li");
            assertThat(nearest).hasCount(6);
            assertThat(nearest.first()).hasText(Pattern.compile("(paper|stone|wood)distance \\d\\.\\d\\d"));
            assertThat((Boolean) nearest.first().locator("img").evaluate("image => image.naturalWidth > 0"))
                    .isTrue();
        }
    }

    @Test
    void anImageCanBePasted() throws IOException {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            page.evaluate("""
                    async (text) => {
                      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
                      await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })]);
                    }\
                    """, Base64.getEncoder().encodeToString(Images.png(80, 80, 4)));
            page.keyboard().press("ControlOrMeta+V");
            assertAnswered(page.locator(".card"));
        }
    }

    @Test
    void aClipboardWithoutAnImageIsSaid() {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            String hint = page.locator("#drop-hint").textContent();
            page.evaluate("navigator.clipboard.writeText('only words')");
            page.keyboard().press("ControlOrMeta+V");
            assertThat(page.locator("#drop-hint")).not().hasText(hint);
            assertThat(page.locator(".card")).hasCount(0);
        }
    }

    @Test
    void manyImagesAreAnsweredOneByOneAndCanBeRemoved() throws IOException {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
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
    }

    @Test
    void aFileThatIsNoImageIsSaidAndTheOthersGoOn() throws IOException {
        try (Visit visit = Visit.phone()) {
            Page page = open(visit);
            byte[] text = "no picture at all".getBytes(StandardCharsets.UTF_8);
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

    @Test
    void theExampleForProgramsNamesThisServer() {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            page.locator("#programs > summary").click();
            assertThat(page.locator("#curl"))
                    .hasText("curl -F image=@photo.jpg \"" + TinyService.address() + "v1/predict?top=5\"");
            page.locator("#copy").click();
            assertThat(page.locator("#copy")).hasText("Copied");
        }
    }

    @Test
    void theModelIsDescribed() {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            page.locator("#model > summary").click();
            assertThat(page.locator("#model-facts"))
                    .containsText(Pattern.compile("filters.*conv:4/rbf/spd:3.*Accuracy.*%.*paper", Pattern.DOTALL));
            for (Metric metric : Metric.values()) {
                String value = metric.show(0.5).equals("50.0") ? "[\\d.]+ %" : "[\\d.e-]+(?! %)";
                assertThat(page.locator("#model-facts"))
                        .containsText(Pattern.compile(metric.text() + "\\s*" + value, Pattern.CASE_INSENSITIVE));
            }
        }
    }
}
