package org.gramian.spd;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** A law to be tried for several seeds: the method takes one {@code long}, and its failures name it. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "seed {0}")
@ArgumentsSource(Seeded.Seeds.class)
public @interface Seeded {
    /** How many seeds. */
    int value() default 8;

    /** The first seeds of a fixed sequence. */
    final class Seeds implements ArgumentsProvider, AnnotationConsumer<Seeded> {
        private int count;

        @Override
        public void accept(Seeded annotation) {
            count = annotation.value();
        }

        @Override
        public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
            SplittableRandom random = new SplittableRandom(1711_06540);
            return Stream.generate(() -> Arguments.of(random.nextLong(1_000_000)))
                    .limit(count);
        }
    }
}
