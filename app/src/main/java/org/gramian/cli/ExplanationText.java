package org.gramian.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.basis.QuotedText;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.HeatMap;

/** An explanation in lines for people, and in numbers for programs. */
final class ExplanationText {
    private ExplanationText() {}

    static String lines(Explanation why) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "class          %s, probability %.4f, score %.4f%s%n",
                QuotedText.visible(why.className()),
                why.probability(),
                why.score(),
                why.isAnswer() ? "" : "; not the predicted class"));
        text.append(String.format(
                Locale.ROOT,
                "covered        %.0f %% of the image%n",
                100 * why.heat().coverage()));
        text.append(String.format("channels       %s%n", why.parts().text()));
        Columns columns = new Columns();
        for (ChannelPair pair : why.pairs()) {
            columns.row("  " + maps(pair), String.format(Locale.ROOT, "%+.5f", pair.contribution()));
        }
        columns.appendTo(text);
        return text.toString();
    }

    private static String maps(ChannelPair pair) {
        return pair.first() == pair.second()
                ? "channel " + pair.first()
                : "channels " + pair.first() + " and " + pair.second();
    }

    static Map<String, Object> json(Explanation why) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("class", why.className());
        object.put("answer", why.isAnswer());
        object.put("probability", why.probability());
        object.put("score", why.score());
        object.put("coverage", why.heat().coverage());
        object.put("heat", heat(why.heat()));
        object.put("parts", why.parts().name().toLowerCase(Locale.ROOT));
        List<Map<String, Object>> pairs = new ArrayList<>();
        for (ChannelPair pair : why.pairs()) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("first", pair.first());
            entry.put("second", pair.second());
            entry.put("contribution", pair.contribution());
            pairs.add(entry);
        }
        object.put("pairs", pairs);
        return object;
    }

    private static Map<String, Object> heat(HeatMap heat) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("width", heat.width());
        object.put("height", heat.height());
        object.put("strengths", heat.strengths());
        return object;
    }
}
