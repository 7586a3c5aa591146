/** What commands share: console, progress bars, exit codes, error messages, options for models and devices. */
@NullMarked
package org.gramian.cli.common;

import org.jspecify.annotations.NullMarked;
