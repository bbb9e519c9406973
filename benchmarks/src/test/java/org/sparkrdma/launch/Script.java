// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs the scripts in the project's root as a user does. Stateless. */
public final class Script {
  private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

  /** Options of JVMs that live for seconds, mostly starting and compiling. */
  private static final String SHORT_LIVED =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MetaspaceSize=128m";

  private Script() {}

  /**
   * The option that uses the classes of the build's Spark, for the Java of the build; empty where
   * the build could not archive them. Another Java starts slower with it.
   */
  private static String archive() {
    Path archive = Path.of(System.getProperty("it.class.archive"));
    return Files.exists(archive)
        ? " -Xlog:cds=off,cds+dynamic=off \"-XX:SharedArchiveFile=" + archive + '"'
        : "";
  }

  /** Exit code of a script, and its standard output and error together. */
  public record Outcome(int exitCode, String output) {}

  /**
   * Runs a script to its end.
   *
   * @param variables of the environment, added to those of this process
   * @param command name of the script and its arguments
   */
  public static Outcome run(Map<String, String> variables, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("/bin/bash", PROJECT.resolve(command[0]).toString());
    builder.command().addAll(List.of(command).subList(1, command.length));
    builder.environment().putAll(variables);
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Outcome(process.waitFor(), output);
    } finally {
      // A test that times out ends its cluster.
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
  }

  /** Copies artifacts with Maven and the POM of Spark homes. */
  public static void copyArtifacts(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("mvnw", "-B", "-ntp", "-q"));
    command.addAll(List.of("-f", PROJECT.resolve("benchmarks/src/spark-home/pom.xml").toString()));
    // The versions are not used, but a POM needs some.
    command.addAll(List.of("-Dspark.version=4.2.0", "-Dscala.binary.version=2.13"));
    command.addAll(List.of(arguments));
    Outcome outcome = run(Map.of(), command.toArray(String[]::new));
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
  }

  /**
   * Runs a script that starts JVMs for a short time. Its executors leak nothing and violate no
   * assertion.
   *
   * @param command name of the script and its arguments, separated by spaces
   * @param work directory for its data and logs
   */
  static Outcome runBriefly(String command, Path work) throws IOException, InterruptedException {
    CheckedExecutors executors = CheckedExecutors.in(work.getParent());
    boolean startsExecutors = !command.matches("bench (chart|compare)\\b.*");
    Outcome outcome =
        run(
            archived(executors),
            (command + (startsExecutors ? " --keep" : "") + " --work-dir " + work).split(" "));
    int ran = executors.assertNoLeaks().ran();
    assertThat(ran > 0).as("executors ran: %s", outcome.output()).isEqualTo(startsExecutors);
    if (startsExecutors) {
      CheckedExecutors.assertNoViolations(work);
    }
    return outcome;
  }

  /** Variables with which the JVMs of any Spark and Java start sooner. */
  public static Map<String, String> briefly() {
    return Map.of("JDK_JAVA_OPTIONS", SHORT_LIVED);
  }

  /** The same for a run of the build's Spark whose executors are checked. */
  public static Map<String, String> archived(CheckedExecutors executors) {
    return executors.variables(SHORT_LIVED + archive());
  }

  /** The same for a run of any Spark. */
  public static Map<String, String> briefly(CheckedExecutors executors) {
    return executors.variables(SHORT_LIVED);
  }

  /** Asserts that the script ended well, printed this sentence, and needed no build. */
  static void assertSucceeded(Outcome outcome, String sentence) {
    assertThat(outcome.output()).contains(sentence).doesNotContain("building");
    assertThat(outcome.exitCode()).isZero();
  }
}
