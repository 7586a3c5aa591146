package org.gramian.cli.model;

import org.junit.jupiter.api.Nested;

/** All tests in a browser, in one class: test classes run in two processes, and each would start a browser. */
class BrowserTest {
    @Nested
    class Page extends WebPageTest {}

    @Nested
    class Refusals extends WebPageRefusalTest {}

    @Nested
    class Report extends ReportInBrowserTest {}
}
