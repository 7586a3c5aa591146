package org.gramian.cli;

import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocols;

/** Lists of values for the end of a command's help. */
public final class Listings {
    private Listings() {}

    public static String layouts() {
        StringBuilder text = new StringBuilder("\nLayouts:\n");
        for (Layouts.Description layout : Layouts.all()) {
            String form = layout.form();
            text.append("  %-15s %s\n".formatted(layout.name(), layout.looks()));
            if (!form.equals(layout.name())) {
                text.append("  %-15s   syntax: %s\n".formatted("", form));
            }
        }
        return text.toString();
    }

    public static String protocols() {
        StringBuilder text = new StringBuilder("\nProtocols:\n");
        for (Protocols.Description protocol : Protocols.all()) {
            text.append("  %s\n      %s\n".formatted(protocol.form(), protocol.meaning()));
        }
        return text.toString();
    }

    public static String crops() {
        StringBuilder text = new StringBuilder("\nCrops, syntax NAME[:SIZE][+flips]:\n");
        for (String name : CropPlan.names()) {
            CropPlan plan = CropPlan.parse(name);
            text.append("  %-15s %s; %d per training image, %d per test image\n"
                    .formatted(
                            name,
                            meaning(plan.kind()),
                            plan.training(0).count(),
                            plan.testing().count()));
        }
        return text.append("  %-15s each crop also mirrored\n".formatted("+flips"))
                .toString();
    }

    private static String meaning(CropPlan.Kind kind) {
        return switch (kind) {
            case PAPER -> "center, four corners, and random crops for training";
            case CENTER -> "center";
            case TEN -> "center and four corners, each also mirrored";
            case RESIZE -> "the whole image, resized to a square";
        };
    }
}
