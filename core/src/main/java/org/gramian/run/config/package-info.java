/**
 * The configuration of a training run: the same values as Java records, as a YAML file and as options of the command line,
 * each with where it came from.
 *
 * <p>{@link org.gramian.run.config.Keys} is the table of all that can be said, with the default of each {@link
 * org.gramian.run.config.Key} and its reason. What was said, in a file read by {@link org.gramian.run.config.ConfigFile} or
 * on the command line, are {@link org.gramian.run.config.Settings}, layers of which lie one over the other. {@link
 * org.gramian.run.config.Choices} fills in the rest to suit the {@link org.gramian.run.config.Surroundings}: the dataset, the
 * weights at hand, the device. What then has a value for every key is a {@link org.gramian.run.config.RunConfig}, in
 * which nothing is left open and everything has its proper type.
 *
 * <pre>{@code
 * Settings asked = Settings.NONE.with(Keys.POOLING, "bcnn").over(ConfigFile.read(Path.of("run.yaml")));
 * Settings all = Choices.complete(asked, Surroundings.of(dataset, WeightStore.ofProcess(), device));
 * ConfigFile.write(folder.resolve("config.yaml"), all);   // repeats the run by --config
 * RunConfig config = RunConfig.of(all);
 * Recipe recipe = config.recipe();
 * }</pre>
 */
@NullMarked
package org.gramian.run.config;

import org.jspecify.annotations.NullMarked;
