// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.executors.Violations;
import org.sparkrdma.launch.RunDirectory;

/**
 * The JVM of one run: ScalaTest's runner with a private working directory, Spark home and temporary
 * directory. Used once, from one thread. When {@link #run} returns, all its processes have ended.
 */
final class SuiteProcess {
  private static final int TAIL_LINES = 150;

  /** Time after which the JVM is killed and the run fails. */
  private static final Duration LIMIT = Duration.ofMinutes(30);

  /** Whether leaks are recorded; {@code -Dsparkrdma.leaks=false} is for runs that measure times. */
  private static final boolean LEAKS =
      Boolean.parseBoolean(System.getProperty("sparkrdma.leaks", "true"));

  /** Options of all JVMs, including executors; the {@code java} launcher reads them. */
  private static final String CHECKED = "-ea:org.sparkrdma... -Dsparkrdma.leaks=" + LEAKS;

  /** Maximum wait for executors of the last test: a Worker kills them after ten seconds. */
  private static final Duration EXECUTOR_END = Duration.ofSeconds(15);

  /**
   * More for daily runs: their JVMs live for seconds, mostly starting and compiling. A JVM whose
   * class path does not begin with Spark's ignores the archive. By default metaspace begins so
   * small that each JVM collects all garbage several times while it starts.
   */
  private static final String SHORT_LIVED =
      " -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=128m"
          + useOf(Path.of(System.getProperty("it.class.archive")));

  private static final String LOG = "all-processes.log";

  private final Workbench workbench;
  private final SuiteRun run;
  private final Path directory;
  private final Path output;

  SuiteProcess(Workbench workbench, SuiteRun run) {
    this.workbench = workbench;
    this.run = run;
    this.directory = workbench.directory().resolve(run.label());
    this.output = directory.resolve("output.log");
  }

  private static String useOf(Path archive) {
    return Files.exists(archive)
        ? " -Xlog:cds=off,cds+dynamic=off \"-XX:SharedArchiveFile=" + archive + '"'
        : "";
  }

  /** Runs the suite to its end or its time limit. */
  SuiteResult run() throws IOException, InterruptedException {
    RunDirectory.deleteTree(directory);
    Files.createDirectories(directory.resolve("tmp"));
    Files.createDirectories(directory.resolve("reports"));
    Files.createDirectories(transfers());
    Files.createDirectories(leaks());
    Path home = workbench.newSparkHome(directory.resolve("home"));
    long startNs = System.nanoTime();
    Process process = builder(home).start();
    boolean ended = false;
    try {
      ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } finally {
      kill(process);
    }
    Duration took = Duration.ofNanos(System.nanoTime() - startNs);
    LeakLog leaks = LeakLog.read(leaks(), EXECUTOR_END);
    TransferLog transfers = TransferLog.read(transfers());
    List<TestOutcome> outcomes = outcomes(ended, process);
    outcomes.add(verdict("should transfer blocks as expected", objections(transfers)));
    outcomes.add(verdict("should violate no assertion in any process", findInLogs(Violations::in)));
    if (run.setting().byRdma()) {
      outcomes.add(
          verdict("should use RDMA in every executor", findInLogs(Violations::withoutRdma)));
    }
    if (LEAKS) {
      outcomes.add(verdict("should leak nothing in any executor", leaks.objections()));
    }
    return new SuiteResult(run, outcomes, took, transfers.total(), leaks);
  }

  private List<TestOutcome> outcomes(boolean ended, Process process) throws IOException {
    List<TestOutcome> outcomes = new ArrayList<>();
    for (String suiteClass : run.suiteClasses()) {
      Path report = directory.resolve("reports").resolve("TEST-" + suiteClass + ".xml");
      List<TestOutcome> reported =
          Files.exists(report) ? JunitReport.read(report, output) : List.<TestOutcome>of();
      outcomes.addAll(reported);
      if (reported.isEmpty()) {
        outcomes.add(broken(suiteClass, "it reported no test"));
      }
    }
    boolean failedTests = outcomes.stream().anyMatch(TestOutcome::failed);
    String last = run.suiteClasses().get(run.suiteClasses().size() - 1);
    if (!ended) {
      outcomes.add(broken(last, "the run exceeded its limit of " + LIMIT.toSeconds() + " s"));
    } else if (process.exitValue() != 0 && !failedTests) {
      outcomes.add(broken(last, "the run ended with exit code " + process.exitValue()));
    }
    return outcomes;
  }

  private List<String> objections(TransferLog transfers) {
    return transfers.objections(run.setting(), run.readsRemote());
  }

  /** Results of a search in the logs of all processes. */
  private List<String> findInLogs(UnaryOperator<List<String>> search) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path log : files.filter(file -> file.endsWith(LOG)).toList()) {
        found.addAll(search.apply(Files.readAllLines(log, StandardCharsets.ISO_8859_1)));
      }
    }
    return found;
  }

  private TestOutcome verdict(String should, List<String> objections) {
    return new TestOutcome(
        run.suiteClasses().get(0),
        String.join(" ", run.suites()) + " " + should,
        objections.isEmpty() ? TestOutcome.Kind.PASSED : TestOutcome.Kind.FAILED,
        String.join(System.lineSeparator(), objections));
  }

  /** Directory with the executors' block counts. */
  private Path transfers() {
    return directory.resolve("transfers");
  }

  /** Directory with the executors' leak checks. */
  private Path leaks() {
    return directory.resolve("leaks");
  }

  private TestOutcome broken(String suiteClass, String what) throws IOException {
    return new TestOutcome(
        suiteClass,
        run.label(suiteClass) + " should run to its end",
        TestOutcome.Kind.FAILED,
        what + "; end of " + output + ":" + System.lineSeparator() + tail());
  }

  private String tail() throws IOException {
    List<String> lines = Files.readAllLines(output, StandardCharsets.ISO_8859_1);
    return String.join(
        System.lineSeparator(),
        lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
  }

  private ProcessBuilder builder(Path home) throws IOException, InterruptedException {
    List<String> command = command(home);
    if (run.smallDisk() && SmallDisk.isAllowed()) {
      Path small = Files.createDirectories(directory.resolve("small"));
      command.add(1, "-Dit.small.disk=" + small);
      command = SmallDisk.command(small, command);
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(directory.toFile());
    builder.redirectErrorStream(true);
    builder.redirectOutput(output.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("SPARK_"));
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("SPARK_HOME", home.toString());
    environment.put("SPARK_SCALA_VERSION", "2.13");
    environment.put("SPARK_TESTING", "1");
    environment.put("IT_LOG", directory.resolve(LOG).toString());
    environment.put(TransferLog.VARIABLE, transfers().toString());
    environment.put(LeakLog.VARIABLE, leaks().toString());
    String options = CHECKED + " \"-Dlog4j2.configurationFile=" + logging() + '"';
    environment.put(
        "JDK_JAVA_OPTIONS", Boolean.getBoolean("it.nightly") ? options : options + SHORT_LIVED);
    environment.put("SPARK_DIST_CLASSPATH", classPath(executorClassPath()));
    return builder;
  }

  /**
   * A scenario passes the plug-in and its jobs to its executors through {@code spark.jars}, as
   * users do.
   */
  private Stream<Path> executorClassPath() {
    Stream<Path> libraries = workbench.testLibraries().stream();
    return run.setting() == Setting.OWN
        ? libraries
        : Stream.concat(libraries, Stream.of(workbench.pluginJar(), workbench.jobsJar()));
  }

  private List<String> command(Path home) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(workbench.jvmOptions());
    command.addAll(List.of("-Xmx3g", "-Xss4m"));
    command.add("-Djava.io.tmpdir=" + directory.resolve("tmp"));
    command.add("-Dspark.testing=1");
    command.add("-Dspark.test.home=" + home);
    command.add("-Dit.plugin.jar=" + workbench.pluginJar());
    command.add("-Dit.plugin.coordinates=" + System.getProperty("it.plugin.coordinates"));
    command.add("-Dit.jobs.jar=" + workbench.jobsJar());
    command.add("-Dit.spark.path=" + SparkPath.of(home));
    command.add("-Dit.project=" + System.getProperty("it.project"));
    command.add("-Dit.nightly=" + Boolean.getBoolean("it.nightly"));
    command.add("-Dit.jvm.options=" + String.join(" ", workbench.jvmOptions()));
    run.setting().properties().forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.add("-cp");
    command.add(
        SparkPath.of(home)
            + File.pathSeparator
            + classPath(
                Stream.concat(
                    workbench.testLibraries().stream(),
                    Stream.of(workbench.pluginJar(), workbench.jobsJar()))));
    command.add("org.scalatest.tools.Runner");
    command.addAll(List.of("-R", workbench.jobsJar().toString(), "-oDFW"));
    command.addAll(List.of("-u", directory.resolve("reports").toString()));
    run.suiteClasses().forEach(suiteClass -> command.addAll(List.of("-s", suiteClass)));
    if (!Boolean.getBoolean("it.nightly")) {
      command.addAll(List.of("-l", "nightly"));
    }
    return command;
  }

  /** The logging configuration of every JVM. */
  private Path logging() {
    return workbench
        .directory()
        .resolveSibling("test-classes")
        .resolve("logging")
        .resolve("log4j2.properties");
  }

  private static String classPath(Stream<Path> entries) {
    return entries.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  private static void kill(Process process) throws InterruptedException {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    process.waitFor();
  }
}
