package org.gramian.cli.model;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import org.gramian.cli.Chromium;
import org.gramian.cli.Screen;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The report of a run in a browser, opened from the disk as people do. */
@ExtendWith({Chromium.class, TinyService.class})
abstract class ReportInBrowserTest {
    private static Page open(Visit visit) {
        visit.page().navigate(TinyService.run().resolve("report.html").toUri().toString());
        return visit.page();
    }

    @Test
    void aCellOfTheConfusionMatrixOpensItsImages() {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            Locator cell = page.locator("table.matrix button").first();
            Locator popup = page.locator("#" + cell.getAttribute("popovertarget"));
            assertThat(popup).isHidden();
            cell.click();
            assertThat(popup).isVisible();
            int count = Integer.parseInt(cell.innerText().strip());
            assertThat(popup.locator(".gallery > *")).hasCount(count);
            assertThat(popup.locator(".gallery svg").first()).isVisible();
            visit.assertAccessible();
            page.keyboard().press("Escape");
            assertThat(popup).isHidden();
        }
    }

    @Test
    void theKeyboardAloneReachesTheImages() {
        try (Visit visit = Visit.desktop()) {
            Page page = open(visit);
            Locator cell = page.locator("table.matrix button").last();
            cell.focus();
            page.keyboard().press("Enter");
            assertThat(page.locator("#" + cell.getAttribute("popovertarget"))).isVisible();
        }
    }

    @ParameterizedTest
    @MethodSource("org.gramian.cli.Screen#checked")
    void itIsAccessibleOnEveryScreenAndAsksForNothing(Screen screen) {
        try (Visit visit = screen.visit()) {
            open(visit);
            visit.assertAccessible();
            assertThat(visit.requests())
                    .as("the page itself, and what it holds within")
                    .allMatch(request -> request.equals("GET data") || request.endsWith("/report.html"));
        }
    }
}
