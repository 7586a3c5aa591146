package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page taken apart far enough to see that it is whole and keeps to itself.
 *
 * @param html the page
 */
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
        assertThat(attributes()).noneMatch(name -> name.startsWith("on"));
    }

    /** All values of an attribute. */
    List<String> values(String attribute) {
        List<String> values = new ArrayList<>();
        each((name, value) -> {
            if (name.equals(attribute)) {
                values.add(value);
            }
        });
        return values;
    }

    private List<String> attributes() {
        List<String> names = new ArrayList<>();
        each((name, _) -> names.add(name));
        return names;
    }

    private void each(java.util.function.BiConsumer<String, String> use) {
        Matcher tags = TAG.matcher(html.replaceAll("(?s)<script>.*</script>", ""));
        while (tags.find()) {
            Matcher attributes = ATTRIBUTE.matcher(tags.group(3) == null ? "" : tags.group(3));
            while (attributes.find()) {
                use.accept(attributes.group(1), attributes.group(2) == null ? "" : attributes.group(2));
            }
        }
    }
}
