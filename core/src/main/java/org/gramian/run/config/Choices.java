package org.gramian.run.config;

import java.util.Optional;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightName;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;

/**
 * Fills unset options with values that suit the given ones, the images and the machine, each with its reason.
 *
 * <p>From strong to weak: given values; those of the {@link Fidelity}; what suits the backbone, the pooling and the
 * device; the fixed defaults of {@link Keys}.
 */
public final class Choices {
    private Choices() {}

    /**
     * Returns settings with a value for every key.
     *
     * @throws ConfigException if given values contradict each other
     */
    public static Settings complete(Settings given, DefaultsContext context) {
        int images = context.images();
        Settings settings = network(DefaultRecipe.pooling(data(given, context)), context);
        Backbone uncut = NetworkConfig.backbone(settings.get(Keys.BACKBONE));
        settings = DefaultRecipe.layer(settings, uncut);
        settings = ClassifierChoice.choose(DefaultRecipe.classifier(settings, images));
        Fidelity fidelity = settings.find(Keys.FIDELITY).orElse(Fidelity.CORRECTED);
        settings = settings.over(FidelityRules.of(fidelity, uncut.parameterCount() > 0));
        settings = settings.orElse(
                Keys.NEAR_DUPLICATES, true, "test images must not be near-duplicates of training images");
        settings = DefaultRecipe.epochs(settings, uncut, context);
        Backbone backbone = NetworkConfig.backbone(settings);
        settings = DefaultRecipe.crops(settings, backbone);
        settings = DefaultRecipe.fineTuning(settings, backbone, context);
        settings = UpdateRule.choose(settings);
        settings = DefaultRecipe.mixing(settings.orDefaults());
        settings = DefaultRecipe.validation(settings);
        settings = NetworkConfig.spellOut(settings);
        Pooling pooling = NetworkConfig.pooling(settings);
        settings = HeadRate.choose(settings, pooling);
        settings = StageLength.batch(settings, images);
        StageLength length = StageLength.of(settings, images);
        settings = settings.orElse(Keys.STAGE1_EPOCHS, length.epochs(), length.reason())
                .orElse(Keys.STAGE1_SCHEDULE, length.schedule(), length.reason());
        settings = DefaultRecipe.refit(settings, images);
        RunConfig.of(settings); // rejects values that contradict each other
        return settings;
    }

    private static Settings data(Settings settings, DefaultsContext context) {
        String layout = context.layout();
        return settings.orElse(Keys.LAYOUT, layout, "detected from the folder")
                .orElse(Keys.PROTOCOL, context.protocol(), "default for the layout " + layout);
    }

    private static Settings network(Settings given, DefaultsContext context) {
        Settings settings = BackboneRanking.choose(fromWeights(given), context);
        String name = settings.get(Keys.BACKBONE);
        Backbone backbone = NetworkConfig.backbone(name);
        if (!backbone.about().weights().needed()) {
            return settings.orElse(Keys.WEIGHTS, Optional.empty(), name + " needs no weights");
        }
        if (backbone.definition().isPresent()) {
            return settings.orElse(Keys.WEIGHTS, Optional.of(name), "the file that defines " + backbone.name());
        }
        // Without installed weights, their usual name: opening them reports how to get them.
        String weights = context.weightsOf(name).map(WeightName::text).orElse(name);
        return settings.orElse(Keys.WEIGHTS, Optional.of(weights), "the weights of " + name);
    }

    /** Fills an unset backbone from the name of the weights. */
    private static Settings fromWeights(Settings given) {
        if (!given.has(Keys.WEIGHTS) || given.has(Keys.BACKBONE)) {
            return given;
        }
        Optional<String> weights = given.get(Keys.WEIGHTS);
        if (weights.isEmpty()) {
            return given.orElse(Keys.BACKBONE, BackboneRanking.WITHOUT_WEIGHTS, "the backbone that needs no weights");
        }
        try {
            String network = WeightName.parse(weights.get()).architecture();
            return given.orElse(Keys.BACKBONE, network, "the backbone of the weights " + weights.get());
        } catch (IllegalArgumentException e) {
            throw new ConfigException(
                    Keys.WEIGHTS + ": expected " + Keys.BACKBONE + " as well, because '" + weights.get()
                            + "' does not start with the name of a backbone",
                    e);
        }
    }
}
