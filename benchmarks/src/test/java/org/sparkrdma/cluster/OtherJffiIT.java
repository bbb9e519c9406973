// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.CheckedExecutors;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.matrix.MatrixApplication;
import org.sparkrdma.matrix.MatrixPlan;

/**
 * Jobs whose class path has another version of jffi than the plug-in's, as users of jnr-posix bring
 * it. The executors see a device of the kernel that no library can open, because without one the
 * ibverbs engine does not load jffi. They look for it through jffi and use TCP.
 */
@Tag("nightly")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class OtherJffiIT {
  private static final Installation INSTALLATION =
      new Installation(Path.of("..").toAbsolutePath().normalize());
  private static final Path OTHERS = Path.of("../rdma-core-java/target/other-jffi");

  /** Reasons that the engine gives only after it has called the libraries through its binding. */
  private static final String LIBRARIES_CALLED =
      ".* ibverbs: (no RDMA device with reliable connections; there are|the libraries cannot open"
          + " the RDMA devices) \\[mlx5_0].*";

  /** A {@code java} with jffi, which sees a device: that is mounted in a namespace of the JVM. */
  private static final String JAVA =
      """
      #!/bin/sh
      exec unshare -rm sh -ec '
        devices=$0
        mkdir -p $devices/class/infiniband/mlx5_0 $devices/dev/infiniband $devices/dev/shm
        touch $devices/dev/infiniband/uverbs0 $devices/dev/infiniband/rdma_cm
        for node in null zero random urandom; do
          touch $devices/dev/$node
          mount --bind /dev/$node $devices/dev/$node
        done
        mount --rbind $devices/class /sys/class
        mount --rbind $devices/dev /dev
        exec "$@"' %s %s/bin/java -Dsparkrdma.binding=jffi "$@"
      """;

  @TempDir private Path directory;
  private Path javaHome;

  @BeforeEach
  void requireMounts() throws Exception {
    javaHome = directory.resolve("java");
    Path devices = Files.createDirectory(directory.resolve("devices"));
    Path java = Files.createDirectories(javaHome.resolve("bin")).resolve("java");
    Files.writeString(java, JAVA.formatted(devices, System.getProperty("java.home")));
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    int exitCode = new ProcessBuilder(java.toString(), "-version").start().waitFor();
    assumeTrue(exitCode == 0, "users may not mount folders in a namespace here");
  }

  @Test
  void shouldRunAJobWithAnotherJffiBeforeOrAfterThePlugIns() throws Exception {
    String others = String.join(":", otherJars().stream().map(Path::toString).toList());
    try (StandaloneCluster cluster =
        StandaloneCluster.start(ClusterSettings.twoWorkers(INSTALLATION.sparkHome(), directory))) {
      List<String> first =
          rows(
              cluster,
              "user-first",
              otherJars(),
              Map.of(
                  "spark.driver.userClassPathFirst", "true",
                  "spark.executor.userClassPathFirst", "true"));
      List<String> second =
          rows(
              cluster,
              "extra-class-path",
              List.of(),
              Map.of(
                  "spark.driver.extraClassPath", others,
                  "spark.executor.extraClassPath", others));
      assertThat(first).isNotEmpty().isEqualTo(second);
    }
    List<Path> executors = executorLogs();
    assertThat(executors).hasSizeGreaterThanOrEqualTo(4);
    for (Path log : executors) {
      List<String> lines = Files.readAllLines(log);
      CheckedExecutors.assertNoViolations(lines);
      assertThat(lines)
          .as("%s", log)
          .noneMatch(line -> line.matches(".*(LinkageError|NoClassDefFound|UnsatisfiedLink).*"));
      assertThat(lines)
          .as("%s", lines)
          .filteredOn(line -> line.contains("RDMA is not used in this executor"))
          .singleElement()
          .asString()
          .matches(LIBRARIES_CALLED);
    }
  }

  private static List<Path> otherJars() throws IOException {
    try (Stream<Path> jars = Files.list(OTHERS)) {
      List<Path> others =
          jars.filter(jar -> jar.toString().endsWith(".jar"))
              .map(jar -> jar.toAbsolutePath().normalize())
              .sorted()
              .toList();
      assertThat(others).hasSize(2);
      return others;
    }
  }

  /** The rows that a query of the application returned. */
  private List<String> rows(
      StandaloneCluster cluster, String name, List<Path> jars, Map<String, String> more)
      throws Exception {
    Path own = Files.createDirectory(directory.resolve(name));
    Path answer = own.resolve("rows");
    Path plan = own.resolve("plan.json");
    String data = "file:" + own.resolve("data");
    new ObjectMapper()
        .writeValue(
            plan.toFile(),
            new MatrixPlan(true, data, data + "-sorted", answer.toString(), 1_000, 2, 100));
    Map<String, String> conf = new TreeMap<>(more);
    conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.enabled", "false");
    conf.put("spark.executorEnv.JAVA_HOME", javaHome.toString());
    conf.put(
        "spark.executor.extraJavaOptions",
        "-ea:org.sparkrdma... -Dlog4j2.configurationFile=file:" + logging());
    // Both executors are on this host.
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    List<Path> shipped = new ArrayList<>(jars);
    shipped.addAll(INSTALLATION.jarsToShip());
    int exitCode =
        cluster.run(
            new SparkApplication(
                name,
                MatrixApplication.class.getName(),
                INSTALLATION.jobs(),
                shipped,
                512,
                conf,
                List.of(plan.toString(), own.resolve("result.json").toString())),
            line -> {});
    assertThat(exitCode).isZero();
    return Files.readAllLines(answer);
  }

  /**
   * With userClassPathFirst Log4j configures the classes of these jars anew, without Spark's
   * defaults, because their class loader names no parent.
   */
  private Path logging() throws IOException {
    return Files.writeString(
        directory.resolve("log4j2.properties"),
        """
        rootLogger.level = info
        rootLogger.appenderRef.stderr.ref = stderr
        appender.stderr.type = Console
        appender.stderr.name = stderr
        appender.stderr.target = SYSTEM_ERR
        appender.stderr.layout.type = PatternLayout
        appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
        """);
  }

  private List<Path> executorLogs() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> file.endsWith("stderr") && file.toString().contains("app-"))
          .toList();
    }
  }
}
