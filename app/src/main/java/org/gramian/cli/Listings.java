package org.gramian.cli;

import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocols;

/** What can be said in options, listed at the end of a command's help. */
final class Listings {
    private Listings() {}

    /** The layouts of data sets. */
    static String layouts() {
        StringBuilder text = new StringBuilder("\nLayouts:\n");
        for (Layouts.Description layout : Layouts.all()) {
            String form = layout.form();
            text.append("  %-15s %s\n".formatted(layout.name(), layout.looks()));
            if (!form.equals(layout.name())) {
                text.append("  %-15s   written %s\n".formatted("", form));
            }
        }
        return text.toString();
    }

    /** The protocols, which divide data sets. */
    static String protocols() {
        StringBuilder text = new StringBuilder("\nProtocols:\n");
        for (Protocols.Description protocol : Protocols.all()) {
            text.append("  %s\n      %s\n".formatted(protocol.form(), protocol.meaning()));
        }
        return text.toString();
    }

    /** The plans of crops. */
    static String crops() {
        StringBuilder text = new StringBuilder("\nCrops, written NAME[:SIZE][+flips]:\n");
        for (String name : CropPlan.names()) {
            CropPlan plan = CropPlan.parse(name);
            text.append("  %-15s %s; %d to train on, %d to test\n"
                    .formatted(
                            name,
                            meaning(plan.kind()),
                            plan.training(0).count(),
                            plan.testing().count()));
        }
        return text.append("  %-15s each crop mirrored, too\n".formatted("+flips"))
                .toString();
    }

    private static String meaning(CropPlan.Kind kind) {
        return switch (kind) {
            case PAPER -> "the centre, the four corners, and some at random to train on";
            case CENTER -> "the centre";
            case TEN -> "the centre and the four corners, and the same mirrored";
            case RESIZE -> "the whole image, made square";
        };
    }
}
