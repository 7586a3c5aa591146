/**
 * The configuration of a training run, as Java records, YAML files and options of the command line.
 *
 * <p>{@link org.gramian.run.config.TrainConfig} declares every key once. {@link org.gramian.run.config.Settings} are values with their
 * origins. {@link org.gramian.run.config.DefaultResolver} fills unset keys; settings with a value for every key become a {@link
 * org.gramian.run.config.RunConfig}.
 */
@NullMarked
package org.gramian.run.config;

import org.jspecify.annotations.NullMarked;
