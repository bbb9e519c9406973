// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Test classes of other modules, run in one guest kernel on the packaged plug-in. */
final class GuestTests {
  private static final String MAIN = "org.sparkrdma.verbs.contract.ContractMain";

  /** Assertions of this project, on every JVM whose speed is not measured. */
  static final String ASSERTIONS = "-ea:org.sparkrdma...";

  /** Leak records of this project, which each such JVM judges. */
  static final String LEAK_RECORDS = "-Dsparkrdma.leaks=true";

  /** Words before a command; it runs as the user nobody, without any capability. */
  static final String AS_NOBODY =
      "setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all ";

  private static final String SUMMARY = "contract: ";
  private static final String SKIPPED = "SKIPPED ";
  private static final String AWAIT = "until [[ -e $GUEST_SHARE/";

  private GuestTests() {}

  /** One kernel with the device of that transport, or {@code both}, with a time limit. */
  static Guest guest(String transport, Duration limit) {
    return Guest.nodes(1).memory("4G").timeout(limit).with("--transport", transport);
  }

  /**
   * Runs all classes; no test may fail, or not run without being listed as a skip.
   *
   * @param options of the JVM
   */
  static void run(Guest guest, String classPath, List<String> options, String... classes)
      throws IOException, InterruptedException {
    check(guest, result(guest, classPath, options, classes), classes[0]);
  }

  /** Runs all classes, and returns the end of the run with their output. */
  static GuestResult result(Guest guest, String classPath, List<String> options, String... classes)
      throws IOException, InterruptedException {
    List<String> command = java(classPath, options);
    command.add(MAIN);
    command.addAll(List.of(classes));
    return guest.run(command.toArray(String[]::new));
  }

  /**
   * Runs all classes on node 1 after the first output of the program on node 2, which is killed at
   * the end. No test may fail.
   *
   * @param shared an empty directory
   * @param program main class and arguments, for bash
   */
  static void runBeside(String program, Guest guest, Path shared, String... classes)
      throws IOException, InterruptedException {
    String java = java(classPath());
    String tests = java + MAIN + " " + String.join(" ", classes);
    GuestResult result =
        guest
            .with("--share", shared.toString())
            .bash(
                ("if ((GUEST_NODE == 1)); then " + AWAIT + "up ]]; do sleep 0.1; done; " + tests)
                    + ("; code=$?; touch $GUEST_SHARE/over; exit $code; fi; " + java + program)
                    + " | while read -r line; do touch $GUEST_SHARE/up; done & "
                    + (AWAIT + "over ]]; do sleep 0.1; done"));
    check(guest, result, classes[0]);
  }

  /** The beginning of a shell command, up to the main class. */
  static String java(String classPath) {
    return String.join(" ", java(classPath, List.of())) + " ";
  }

  private static List<String> java(String classPath, List<String> options) {
    List<String> command = new ArrayList<>();
    command.add(GuestJdk.home() + "/bin/java");
    command.addAll(List.of(GuestJdk.START_SOON.split(" ")));
    command.add("-Xmx512m");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of(ASSERTIONS, LEAK_RECORDS));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath));
    return command;
  }

  /** Takes the skips of a run in which all other tests have passed. */
  static void check(Guest guest, GuestResult result, String tests) throws IOException {
    assertThat(result.exitCode()).as(result.output()).isZero();
    // A test that ends its JVM has none.
    assertThat(result.node(1).lines()).anyMatch(line -> line.startsWith(SUMMARY));
    writeSkips(simpleName(tests), guest.valueOf("--transport"), result.node(1).lines());
  }

  private static String simpleName(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  /**
   * Writes the reasons of skipped tests in the guest, so that the build checks them like its own.
   */
  private static void writeSkips(String tests, String transport, List<String> lines)
      throws IOException {
    Path reports = Path.of(Build.property("it.guest.directory")).resolveSibling("failsafe-reports");
    Files.write(
        reports.resolve(tests + "-" + transport + "-skips.txt"),
        lines.stream()
            .filter(line -> line.startsWith(SKIPPED))
            .map(line -> line.substring(SKIPPED.length()).replaceFirst(": ", " | "))
            .toList());
  }

  /** The plug-in with its tests, and all that they need. */
  static String classPathOfPlugin() throws IOException {
    return String.join(
        ":",
        classPath(),
        Build.property("it.plugin.tests"),
        Path.of(Build.property("it.spark.home"), "jars") + "/*");
  }

  /** The plug-in, and the tests of the verbs layer with what they need. */
  static String classPath() throws IOException {
    Path verbs = Path.of(Build.property("it.verbs.directory"));
    return String.join(
        ":",
        Build.property("it.plugin.jar"),
        verbs.resolve("test-classes").toString(),
        Files.readString(verbs.resolve("test.classpath")).strip());
  }
}
