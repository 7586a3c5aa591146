package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks that an HTML page is well formed and self-contained. */
record Markup(String html) {
    private static final Set<String> VOID = Set.of("meta", "br", "hr", "img", "link", "input");
    private static final Pattern TAG = Pattern.compile(
            "<!--.*?-->|<(/?)([a-zA-Z][\\w-]*)((?:\\s+[\\w:-]+(?:=\"[^\"]*\")?)*)\\s*(/?)>", Pattern.DOTALL);
    private static final Pattern ATTRIBUTE = Pattern.compile("([\\w:-]+)(?:=\"([^\"]*)\")?");

    /** Every element is closed where it should be, and no {@code <} stands outside a tag. */
    void requireWellFormed() {
        String body =
                html.replaceFirst("<!DOCTYPE html>", "").replaceAll("(?s)(<(script|style)[^>]*>).*?(</\\2>)", "$1$3");
        Deque<String> open = new ArrayDeque<>();
        Matcher tags = TAG.matcher(body);
        int after = 0;
        while (tags.find()) {
            assertThat(body.substring(after, tags.start()))
                    .as("text between tags")
                    .doesNotContain("<");
            after = tags.end();
            if (tags.group(2) == null || !tags.group(4).isEmpty() || VOID.contains(tags.group(2))) {
                continue;
            }
            if (tags.group(1).isEmpty()) {
                open.push(tags.group(2));
            } else {
                assertThat(open.poll()).as("closed by " + tags.group()).isEqualTo(tags.group(2));
            }
        }
        assertThat(open).isEmpty();
        assertThat(body.substring(after)).doesNotContain("<");
    }

    /** Nothing is loaded, nothing but the page's script runs, and what is referred to is there. */
    void requireSelfContained() {
        assertThat(html.split("<script", -1)).hasSize(2);
        assertThat(html.replaceAll("(?s)<script>.*</script>", "")).doesNotContain("http://", "https://");
        assertThat(html).doesNotContain("@import", "url(");
        List<String> ids = values("id");
        assertThat(ids).doesNotHaveDuplicates();
        for (String name : List.of("src", "href", "xlink:href")) {
            assertThat(values(name)).allMatch(value -> value.startsWith("#") || value.startsWith("data:image/jpeg;"));
            assertThat(values(name).stream().filter(value -> value.startsWith("#")))
                    .allMatch(value -> ids.contains(value.substring(1)));
        }
        assertThat(ids).containsAll(values("popovertarget"));
        assertThat(attributes()).noneMatch(match -> match.group(1).startsWith("on"));
    }

    /** Returns all values of an attribute. */
    List<String> values(String attribute) {
        return attributes()
                .filter(match -> match.group(1).equals(attribute))
                .map(match -> match.group(2) == null ? "" : match.group(2))
                .toList();
    }

    private Stream<MatchResult> attributes() {
        return TAG.matcher(html.replaceAll("(?s)<script>.*</script>", ""))
                .results()
                .filter(tag -> tag.group(3) != null)
                .flatMap(tag -> ATTRIBUTE.matcher(tag.group(3)).results());
    }
}
