package org.gramian.spark.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.io.FileUtils;
import org.apache.spark.SparkConf;

/**
 * Standalone Spark cluster on the loopback interface of this machine: a master and workers, each in its own process.
 *
 * <p>Logs are in {@code target/cluster/NAME}, those of executors below {@code work}, until a cluster of that name is started again.
 */
public final class StandaloneCluster implements AutoCloseable {
    private static final Path FOLDER = Path.of("target", "cluster");
    private static final String HOST = "127.0.0.1";
    private static final int WORKERS = 2;
    private static final String MEMORY = "768m";
    private static final Duration LONGEST_START = Duration.ofSeconds(60);
    private static final Pattern ALIVE = Pattern.compile("\"aliveworkers\"\\s*:\\s*(\\d+)");

    private final Path folder;
    private final SparkHome home;
    private final int port;
    private final int page;
    private final List<Process> workers = new ArrayList<>();
    private final Process master;
    private int started;

    private StandaloneCluster(Path folder) throws IOException {
        this.folder = folder;
        this.home = SparkHome.below(FOLDER);
        this.port = freePort();
        this.page = freePort();
        this.master = start(
                "master",
                "org.apache.spark.deploy.master.Master",
                List.of("--host", HOST, "--port", String.valueOf(port), "--webui-port", String.valueOf(page)));
    }

    /** Starts two workers with one core each, and waits until they are ready. */
    public static StandaloneCluster start() throws IOException, InterruptedException {
        Path folder = FOLDER.resolve("shared").toAbsolutePath();
        FileUtils.deleteDirectory(folder.toFile());
        Files.createDirectories(folder);
        LocalSpark.stop(); // a JVM has one Spark context at a time
        StandaloneCluster cluster = new StandaloneCluster(folder);
        try {
            cluster.await(0); // a worker without a master waits seconds before a retry
            for (int i = 0; i < WORKERS; i++) {
                cluster.workers.add(cluster.startWorker());
            }
            cluster.await(WORKERS);
            return cluster;
        } catch (IOException | InterruptedException | RuntimeException failed) {
            cluster.close();
            throw failed;
        }
    }

    private Process startWorker() throws IOException {
        Path work = Files.createDirectories(folder.resolve("work"));
        List<String> arguments =
                List.of("--host", HOST, "--cores", "1", "--memory", MEMORY, "--work-dir", work.toString(), url());
        started++;
        return start("worker-" + started, "org.apache.spark.deploy.worker.Worker", arguments);
    }

    private Process start(String name, String main, List<String> arguments) throws IOException {
        List<String> command = home.java(main);
        command.addAll(arguments);
        ProcessBuilder builder = home.process(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile());
        builder.environment().put("SPARK_LOCAL_DIRS", folder.resolve("local").toString());
        return builder.start();
    }

    /** Returns the URL of the master. */
    public String url() {
        return "spark://" + HOST + ":" + port;
    }

    /** Returns the configuration of an application on all workers, with the class path of this test. */
    public SparkConf conf(String application) throws IOException {
        return new SparkConf()
                .setMaster(url())
                .setAppName(application)
                .set("spark.driver.host", HOST)
                .set("spark.driver.bindAddress", HOST)
                .set("spark.ui.enabled", "false")
                .set("spark.executor.memory", MEMORY)
                .set("spark.executor.cores", "1")
                .set("spark.executor.extraClassPath", SparkHome.ownClassPath())
                .set("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1")
                .set("spark.executorEnv.OMP_WAIT_POLICY", "passive")
                // waits for all executors, which Spark counts by spark.cores.max
                .set("spark.cores.max", String.valueOf(WORKERS))
                .set("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    }

    /**
     * Kills the worker of an executor with all its executors at once, as a power failure would.
     *
     * @param executor process id
     */
    public void killWorkerOf(long executor) throws InterruptedException {
        Process worker = workers.stream()
                .filter(each -> each.descendants().anyMatch(process -> process.pid() == executor))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(executor + " is no executor of this cluster"));
        List<ProcessHandle> executors = worker.descendants().toList();
        workers.remove(worker);
        worker.destroyForcibly();
        executors.forEach(ProcessHandle::destroyForcibly);
        worker.waitFor();
    }

    private void await(int alive) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + page + "/json/"))
                .build();
        Instant end = Instant.now().plus(LONGEST_START);
        try (HttpClient client = HttpClient.newHttpClient()) {
            while (Instant.now().isBefore(end) && master.isAlive()) {
                try {
                    String state = client.send(request, BodyHandlers.ofString()).body();
                    Matcher found = ALIVE.matcher(state);
                    if (found.find() && Integer.parseInt(found.group(1)) >= alive) {
                        return;
                    }
                } catch (IOException _) {
                    // the page is not up yet
                }
                Thread.sleep(100);
            }
        }
        throw new IOException("expected a master with " + alive + " workers within " + LONGEST_START.toSeconds()
                + " s, found less; see what they say in " + folder);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() {
        List<Process> all = new ArrayList<>(workers);
        all.add(master);
        List<ProcessHandle> executors =
                all.stream().flatMap(Process::descendants).toList();
        all.forEach(Process::destroyForcibly);
        executors.forEach(ProcessHandle::destroyForcibly);
        for (Process process : all) {
            try {
                process.waitFor(10, TimeUnit.SECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
