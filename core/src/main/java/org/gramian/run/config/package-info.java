/**
 * The configuration of a training run, as Java records, YAML files and options of the command line.
 *
 * <p>{@link org.gramian.run.config.TrainConfig} declares every key once: name, description, default or the rule of its choice, and
 * option. {@link org.gramian.run.config.Settings} are values with their origins, read from files by {@link
 * org.gramian.run.config.ConfigFile} or from a command line. {@link org.gramian.run.config.DefaultResolver} fills unset keys with
 * values for the {@link org.gramian.run.config.DefaultResolver.Context}: dataset, installed weights, device. Settings with a value
 * for every key become a {@link org.gramian.run.config.RunConfig} with model and recipe.
 *
 * <pre>{@code
 * Settings given = Settings.NONE.with("network.pooling", "bcnn").over(ConfigFile.read(Path.of("run.yaml")));
 * Settings all = DefaultResolver.complete(given, context);
 * ConfigFile.write(folder.resolve("config.yaml"), all);   // repeats the run by --config
 * Recipe recipe = RunConfig.of(all).recipe();
 * }</pre>
 */
@NullMarked
package org.gramian.run.config;

import org.jspecify.annotations.NullMarked;
