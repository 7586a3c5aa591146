package org.gramian.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Program to compare. */
sealed interface Side {
    /** Returns the name in tables. */
    String label();

    /** Returns the command that starts its worker. */
    List<String> command(TaskSpec spec);

    /**
     * Worker in Java.
     *
     * @param label name in tables
     * @param task name for {@link BenchWorkload#open}
     */
    record Java(String label, String task) implements Side {
        @Override
        public List<String> command(TaskSpec spec) {
            Path java = Path.of(System.getProperty("java.home"), "bin", "java");
            List<String> command = new ArrayList<>(List.of(
                    java.toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dslf4j.internal.verbosity=ERROR")); // no logging backend is intended
            String libtorch = System.getProperty("gramian.libtorch");
            if (libtorch != null) {
                command.add("-Dgramian.libtorch=" + libtorch);
            }
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchWorker.class.getName()));
            command.addAll(spec.named(task).words());
            return command;
        }
    }

    /**
     * Worker in Python.
     *
     * @param python interpreter
     * @param mode of execution
     */
    record Python(PythonTorch python, PythonTorch.Mode mode) implements Side {
        @Override
        public String label() {
            return mode.text();
        }

        @Override
        public List<String> command(TaskSpec spec) {
            List<String> command = new ArrayList<>(
                    List.of(python.interpreter(), python.script().toString()));
            command.addAll(spec.with(Map.of("mode", mode.text())).words());
            return command;
        }
    }
}
