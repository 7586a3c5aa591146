package org.gramian.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

/**
 * A law that holds for any input: the method is run with a {@link Seed} several times.
 *
 * <p>A failure names its seed. {@code -Dgramian.seed=1000} shifts all seeds, to look at inputs nobody has seen yet.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "{0}")
@ArgumentsSource(SeedSource.class)
@ExtendWith(SeedReport.class)
public @interface RandomTest {
    /** How many seeds are tried under {@code ./verify --full}; otherwise a quarter of them. */
    int times() default 20;
}
