package org.gramian.spark.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.CropOptions;
import org.gramian.run.config.Settings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Options of training: those of the table of {@link Keys} that apply on Spark, and {@code --set} for all other keys. Names and
 * defaults are those of {@code gramian train}.
 */
final class TrainingOptions {
    private static final String EXAMPLE = "optimizer.momentum=0.9";

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "set any key of 'gramian train --help-all', e.g. --set " + EXAMPLE + "; repeatable")
    private List<String> pairs = new ArrayList<>();

    @Option(
            names = "--validation-column",
            paramLabel = "NAME",
            description = "boolean column of the table that marks the validation set, instead of a random fraction")
    private @Nullable String validationColumn;

    private final Map<ConfigKey.Option, OptionSpec> generated = new LinkedHashMap<>();

    /** Adds the options of the table that apply on Spark to a command. */
    @Spec(Spec.Target.MIXEE)
    void addTo(CommandSpec command) {
        for (ConfigKey.Option option : ConfigKey.options()) {
            if (option.spark()) {
                OptionSpec made = OptionSpec.builder(option.names().toArray(String[]::new))
                        .type(String.class)
                        .paramLabel(option.label())
                        .description(option.help())
                        .build();
                generated.put(option, made);
                command.addOption(made);
            }
        }
    }

    /**
     * Returns the given settings.
     *
     * @throws ConfigException naming the option
     */
    Settings requested() {
        Map<String, String> texts = new LinkedHashMap<>();
        generated.forEach((option, made) -> {
            if (made.getValue() instanceof String text) {
                texts.put(option.name(), text);
            }
        });
        Settings requested = CropOptions.of(texts).applyTo(Settings.typed(texts, pairs, EXAMPLE));
        if (validationColumn != null && requested.has("data.validation")) {
            throw new IllegalArgumentException(
                    "expected --validation-column or data.validation" + " (--validation), found both; leave one out");
        }
        return requested;
    }

    /**
     * Returns the column that marks the validation set; empty if a random fraction is used.
     *
     * @throws IllegalArgumentException if the table has no such boolean column
     */
    Optional<Column> validationColumn(InputOptions.Images images) {
        if (validationColumn == null) {
            return Optional.empty();
        }
        Column found = LabelOptions.found(validationColumn, images);
        DataType type = images.rows().select(found).schema().apply(0).dataType();
        if (!type.equals(DataTypes.BooleanType)) {
            throw new IllegalArgumentException("--validation-column: expected booleans in '" + validationColumn
                    + "', found " + type.simpleString());
        }
        return Optional.of(found);
    }
}
