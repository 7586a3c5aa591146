package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.gramian.evaluate.Setting;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelHeader;
import org.gramian.report.Figures;
import org.gramian.report.Figures.LabelledValue;

/** Model card: training data, model and next commands. */
public record CardView(List<LabelledValue> trained, List<LabelledValue> model, List<LabelledValue> commands) {
    /** Entries of the provenance that other parts of the page show. */
    private static final Pattern ELSEWHERE = Pattern.compile("config\\..*|protocol|fold|fingerprint|seed|images");

    private static final Pattern PLAIN = Pattern.compile("[\\p{L}\\p{N}_@%+=:,./-]+");
    private static final int CLASSES = 200;

    static CardView of(RunData run) {
        Optional<RunData.ModelData> model = run.model();
        return new CardView(
                trained(run),
                model.map(CardView::facts).orElse(List.of()),
                model.map(CardView::commands).orElse(List.of()));
    }

    private static List<LabelledValue> trained(RunData run) {
        RunData.FoldData first = run.folds().getFirst();
        Setting setting = first.evaluation().setting();
        List<LabelledValue> facts = new ArrayList<>();
        first.model()
                .map(model -> model.header().card().origin())
                .flatMap(origin -> Optional.ofNullable(origin.get("images")))
                .ifPresent(images -> facts.add(new LabelledValue("images", images)));
        facts.add(new LabelledValue("classes", Figures.count(run.classes().size()) + ": " + names(run.classes())));
        facts.add(new LabelledValue("protocol", setting.protocol()));
        facts.add(new LabelledValue(
                run.folds().size() == 1 ? "fold" : "folds",
                String.join(
                        ", ", run.folds().stream().map(RunData.FoldData::name).toList())));
        facts.add(new LabelledValue("seed", Long.toString(setting.seed())));
        facts.add(new LabelledValue("fingerprint", setting.fingerprint().hex()));
        return facts;
    }

    private static String names(List<String> classes) {
        return String.join(", ", classes.stream().limit(CLASSES).toList())
                + (classes.size() > CLASSES ? " and " + (classes.size() - CLASSES) + " more" : "");
    }

    private static List<LabelledValue> facts(RunData.ModelData model) {
        ModelHeader header = model.header();
        ModelCard card = header.card();
        List<LabelledValue> facts = new ArrayList<>();
        facts.add(new LabelledValue("file", model.file() + ", " + Figures.bytes(model.bytes())));
        facts.add(new LabelledValue(
                "parameters",
                Figures.count(header.count("")) + ": backbone " + Figures.count(header.count("backbone."))
                        + ", pooling " + Figures.count(header.count("head.pooling.")) + ", classifier "
                        + Figures.count(header.count("head.classifier.") + header.count("head.norm."))));
        facts.add(new LabelledValue(
                "backbone",
                header.backbone().name() + ", layer " + header.backbone().layer()));
        facts.add(new LabelledValue("pooling", header.head().pooling().text()));
        facts.add(new LabelledValue("descriptor size", Figures.count(header.descriptorSize(), "number")));
        facts.add(new LabelledValue("preprocessing", card.preprocessing().text()));
        facts.add(new LabelledValue(
                "crops",
                card.crops().text() + ", mean of "
                        + Figures.count(card.crops().testing().count(), "crop")));
        facts.add(new LabelledValue("temperature", Figures.number(card.temperature())));
        for (Map.Entry<String, String> entry : card.origin().entrySet()) {
            if (!ELSEWHERE.matcher(entry.getKey()).matches()) {
                facts.add(new LabelledValue(entry.getKey(), entry.getValue()));
            }
        }
        return facts;
    }

    private static List<LabelledValue> commands(RunData.ModelData model) {
        String file = quoted(model.file().toString());
        return List.of(
                new LabelledValue("classify images", "./gramian predict " + file + " IMAGE..."),
                new LabelledValue("find similar training images", "./gramian nearest " + file + " IMAGE"),
                new LabelledValue("explain a prediction", "./gramian explain " + file + " IMAGE OUT.png"),
                new LabelledValue("evaluate on other images", "./gramian evaluate " + file + " DIR --html FILE.html"),
                new LabelledValue("serve over HTTP, with a web page", "./gramian serve " + file),
                new LabelledValue("export to ONNX", "./gramian export " + file + " OUT.onnx"));
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
