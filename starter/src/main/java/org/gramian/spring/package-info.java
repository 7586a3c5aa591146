/** Spring Boot starter: {@link org.gramian.spring.GramianAutoConfiguration} makes beans of {@code gramian.model} and {@code gramian.detector}. */
@NullMarked
package org.gramian.spring;

import org.jspecify.annotations.NullMarked;
