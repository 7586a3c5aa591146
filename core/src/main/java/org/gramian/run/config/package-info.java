/**
 * The configuration of a training run, as Java records, YAML files and options of the command line.
 *
 * <p>{@link org.gramian.run.config.Keys} is the table of all keys: name, values, default with its reason, and option. {@link
 * org.gramian.run.config.Settings} are values with their origins, read from files by {@link org.gramian.run.config.ConfigFile}
 * or from a command line; one layer overrides another. {@link org.gramian.run.config.Choices} fills unset keys with values that
 * suit the {@link org.gramian.run.config.DefaultsContext}: dataset, installed weights, device. Settings with a value for every
 * key become a {@link org.gramian.run.config.RunConfig}, whose components have their proper types.
 *
 * <pre>{@code
 * Settings given = Settings.NONE.with(Keys.POOLING, "bcnn").over(ConfigFile.read(Path.of("run.yaml")));
 * Settings all = Choices.complete(given, DefaultsContext.of(dataset, WeightStore.ofProcess(), device));
 * ConfigFile.write(folder.resolve("config.yaml"), all);   // repeats the run by --config
 * RunConfig config = RunConfig.of(all);
 * Recipe recipe = config.recipe();
 * }</pre>
 */
@NullMarked
package org.gramian.run.config;

import org.jspecify.annotations.NullMarked;
