package org.gramian.testing;

import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.AnnotationBasedArgumentsProvider;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** Seeds for a {@link RandomTest}. */
final class SeedSource extends AnnotationBasedArgumentsProvider<RandomTest> {
    @Override
    protected Stream<? extends Arguments> provideArguments(
            ParameterDeclarations parameters, ExtensionContext context, RandomTest test) {
        long first = Long.getLong("gramian.seed", 0);
        return LongStream.range(first, first + count(test.times())).mapToObj(value -> Arguments.of(new Seed(value)));
    }

    /** A quarter, at least 2 if there are as many; all under {@code ./verify --full}. */
    static int count(int times) {
        return Boolean.getBoolean("gramian.full") ? times : Math.min(times, Math.max(2, times / 4));
    }
}
