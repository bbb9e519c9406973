// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Executors of a cluster that have so few file descriptors or threads that Spark's own shuffle just
 * passes, and a few more. The plug-in gives the same answers, and reads by READ once the limit of
 * descriptors is raised.
 *
 * <p>That limit is the soft one, which the JVM does not raise here, so that no test needs to be
 * root.
 */
@Tag("nightly")
@Timeout(value = 3_600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DescriptorLimitsTest {
  private static final int LIMITS = Integer.getInteger("descriptor.limits", 31);
  private static final int LIFTED = 4_096;
  private static final int SEARCHED_FROM = 64;
  private static final int SEARCHED_TO = 512;

  // The plug-in starts about 70 threads with twelve directories.
  private static final int FEWEST_THREADS = 24;
  private static final int THREAD_STEP = 8;
  private static final int THREAD_LIMITS = Integer.getInteger("thread.limits", 14);
  private static final Path GROUPS = Path.of("/sys/fs/cgroup/pids");

  @TempDir private Path directory;
  private int runs;

  @Test
  void shouldGiveTheAnswersOfVanillaAndReadByRdmaOnceTheLimitIsRaised() throws Exception {
    assumeTrue(hardLimit() >= LIFTED, "the hard limit is too low, and only root may raise it");
    String first = run("vanilla", SEARCHED_TO);
    String expected = answer(first).orElseThrow(() -> new AssertionError(first));
    int lowest = lowestOfVanilla(expected);
    List<String> wrong = new ArrayList<>();
    System.out.println("limit | vanilla | plug-in | RDMA after the limit is raised");
    for (int limit = lowest; limit < lowest + LIMITS; limit++) {
      String vanilla = run("vanilla", limit);
      String plugIn = run("plug-in", limit);
      boolean vanillaPasses = answer(vanilla).equals(Optional.of(expected));
      boolean plugInPasses = answer(plugIn).equals(Optional.of(expected));
      boolean back = plugIn.contains("back=true");
      System.out.printf(
          "%d | %s %s | %s %s | %s %s%n",
          limit,
          vanillaPasses ? "passes" : "fails",
          executors(vanilla, "first"),
          plugInPasses ? "passes" : "fails",
          executors(plugIn, "first"),
          back ? "back" : "not back",
          executors(plugIn, "lifted"));
      if ((vanillaPasses && !(plugInPasses && back)) || plugIn.contains("NoClassDefFoundError")) {
        wrong.add(limit + ": " + plugIn);
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** The limit of threads is that of a control group for each executor, as that of a pod. */
  @ParameterizedTest
  @ValueSource(ints = {1, 12})
  void shouldGiveTheAnswersOfVanillaHoweverFewThreadsThereAre(int directories) throws Exception {
    assumeTrue(Files.isWritable(GROUPS.resolve("cgroup.procs")), "no control groups for threads");
    String expected =
        answer(runInGroup("vanilla", SEARCHED_TO, directories)).orElseThrow(AssertionError::new);
    List<String> wrong = new ArrayList<>();
    int passed = 0;
    for (int limit = FEWEST_THREADS;
        limit <= SEARCHED_TO && passed < THREAD_LIMITS;
        limit += THREAD_STEP) {
      boolean vanilla =
          answer(runInGroup("vanilla", limit, directories)).equals(Optional.of(expected));
      passed += vanilla ? 1 : 0;
      String plugIn = vanilla ? runInGroup("few threads", limit, directories) : "";
      boolean passes = answer(plugIn).equals(Optional.of(expected));
      System.out.printf("threads %d | vanilla %s | plug-in %s%n", limit, vanilla, passes);
      if (vanilla && !passes) {
        wrong.add(limit + ": " + plugIn);
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(passed).isPositive();
  }

  private String runInGroup(String shuffle, int limit, int directories) throws Exception {
    Path group = GROUPS.resolve("sparkrdma-" + ProcessHandle.current().pid() + "-" + runs);
    // A group for each executor, which the last of them to end leaves empty.
    String launch =
        "g="
            + group
            + "-$$\nmkdir $g\necho "
            + limit
            + " >$g/pids.max\necho $$ >$g/cgroup.procs\nulimit -S -n 4096";
    try {
      return run(shuffle, launch, directories);
    } finally {
      try (DirectoryStream<Path> left =
          Files.newDirectoryStream(GROUPS, group.getFileName() + "-*")) {
        for (Path each : left) {
          while (!Files.readString(each.resolve("cgroup.procs")).isEmpty()) {
            Thread.onSpinWait();
          }
          Files.delete(each);
        }
      }
    }
  }

  /** The lowest limit at which the job passes; failures are not always the same. */
  private int lowestOfVanilla(String expected) throws Exception {
    int fails = SEARCHED_FROM;
    int passes = SEARCHED_TO;
    while (passes - fails > 1) {
      int middle = (passes + fails) / 2;
      if (answer(run("vanilla", middle)).equals(Optional.of(expected))) {
        passes = middle;
      } else {
        fails = middle;
      }
    }
    return passes;
  }

  private static Optional<String> answer(String output) {
    return output.lines().filter(line -> line.startsWith("answer=")).findFirst();
  }

  private static String executors(String output, String when) {
    return output
        .lines()
        .filter(line -> line.startsWith(when + " executors="))
        .map(
            line ->
                line.replaceAll(
                    ".*?openFiles=(\\d+), blocksRead=(\\d+)[^=]*", "[$1 open, $2 read]"))
        .findFirst()
        .orElse("");
  }

  private static long hardLimit() throws IOException {
    String text =
        Files.readString(
            Path.of("/proc/self/limits"), java.nio.charset.StandardCharsets.ISO_8859_1);
    return text.lines()
        .filter(line -> line.startsWith("Max open files"))
        .map(line -> line.substring("Max open files".length()).trim().split(" +", 3)[1])
        .mapToLong(hard -> hard.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(hard))
        .findFirst()
        .orElse(0);
  }

  /** Output of a driver whose executors have this limit. */
  private String run(String shuffle, int limit) throws IOException, InterruptedException {
    return run(shuffle, "ulimit -S -n " + limit, 1);
  }

  private String run(String shuffle, String launch, int directories)
      throws IOException, InterruptedException {
    Path own = Files.createDirectories(directory.resolve("run-" + runs++));
    Path java = Files.createDirectories(own.resolve("java/bin")).resolve("java");
    Files.writeString(
        java,
        "#!/bin/sh\n"
            + launch
            + "\nexec "
            + Path.of(System.getProperty("java.home"), "bin", "java")
            + " \"$@\"\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    List<String> command =
        JvmCommand.of(
            DescriptorLimitJob.class,
            List.of("-Dspark.testing=1", "-Dspark.test.home=" + own, "-Xmx1g"));
    command.add(own.resolve("java").toString());
    command.add(shuffle);
    command.add(
        IntStream.range(0, directories)
            .mapToObj(i -> own.resolve("local-" + i).toString())
            .collect(Collectors.joining(",")));
    Path output = own.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(own.toFile()).redirectErrorStream(true);
    builder.environment().put("SPARK_HOME", own.toString());
    builder.environment().put("SPARK_TESTING", "1");
    builder.environment().put("SPARK_SCALA_VERSION", "2.13");
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.environment().put("SPARK_DIST_CLASSPATH", System.getProperty("java.class.path"));
    Process process = builder.redirectOutput(output.toFile()).start();
    try {
      process.waitFor(shuffle.equals("vanilla") ? 60 : 240, TimeUnit.SECONDS);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    return Files.readString(output);
  }
}
