package org.gramian.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One of the two programs that are compared. */
sealed interface Side {
    /** Its name in the tables. */
    String label();

    /** The command that starts its worker. */
    List<String> command(TaskSpec spec);

    /**
     * A worker in Java.
     *
     * @param label name in the tables
     * @param task which task it does, as {@link Workload#open} knows it
     */
    record Java(String label, String task) implements Side {
        @Override
        public List<String> command(TaskSpec spec) {
            Path java = Path.of(System.getProperty("java.home"), "bin", "java");
            List<String> command = new ArrayList<>(List.of(
                    java.toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dslf4j.internal.verbosity=ERROR", // nothing is logged here, and that is no news
                    "-cp",
                    System.getProperty("java.class.path"),
                    Worker.class.getName()));
            command.addAll(spec.named(task).words());
            return command;
        }
    }

    /** A worker in Python. */
    record Python(PythonTorch python) implements Side {
        @Override
        public String label() {
            return "Python";
        }

        @Override
        public List<String> command(TaskSpec spec) {
            List<String> command = new ArrayList<>(
                    List.of(python.interpreter(), python.script().toString()));
            command.addAll(spec.words());
            return command;
        }
    }
}
