package org.gramian.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One of the programs that are compared. */
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
                    "-Dslf4j.internal.verbosity=ERROR")); // nothing is logged here, and that is no news
            String libtorch = System.getProperty("gramian.libtorch");
            if (libtorch != null) {
                command.add("-Dgramian.libtorch=" + libtorch);
            }
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), Worker.class.getName()));
            command.addAll(spec.named(task).words());
            return command;
        }
    }

    /**
     * A worker in Python.
     *
     * @param python what runs it
     * @param mode how
     */
    record Python(PythonTorch python, PythonMode mode) implements Side {
        @Override
        public String label() {
            return mode.text();
        }

        @Override
        public List<String> command(TaskSpec spec) {
            List<String> command = new ArrayList<>(
                    List.of(python.interpreter(), python.script().toString()));
            command.addAll(spec.with(Map.of("compiled", mode == PythonMode.COMPILED ? "yes" : "no"))
                    .words());
            return command;
        }
    }
}
