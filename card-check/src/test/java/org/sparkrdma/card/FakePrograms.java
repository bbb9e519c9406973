// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Programs for tests, as lines of bash: those of the suite are given, and perf prints figures.
 * Keeps what it was asked for.
 */
final class FakePrograms extends Programs {
  /** Prints the output of {@code perf client --json}, shortened. */
  static final String FIGURES =
      """
      echo '{"addresses": "from=192.0.2.7 to=192.0.2.7", "prices": {"postNs": 55}, "tuning": "copies", "rows": [
      {"bytes": 4096, "read": {"bytesPerSecond": 300000000}, "tcp": {"bytesPerSecond": 100000000}},
      {"bytes": 65536, "read": {"bytesPerSecond": 250000000}, "tcp": {"bytesPerSecond": 100000000}}]}'
      """;

  /** A server that goes on until it is killed. */
  private static final String SERVER =
      "echo '{\"schema\": 1, \"usable\": true, \"port\": 7}'; sleep 600";

  private final String suite;
  private final String client;
  final List<List<String>> tests = new ArrayList<>();
  final List<List<String>> commands = new ArrayList<>();

  /**
   * @param suite prints the lines of ContractMain
   * @param client stands for {@code perf client}
   */
  FakePrograms(String suite, String client) {
    this.suite = suite;
    this.client = client;
  }

  static FakePrograms passing() {
    return new FakePrograms(
        "echo tests: 2; echo 'passed  A#Reads.shouldRead() 3 ms'; echo 'SKIPPED A#Sends.shouldSend(): no'",
        FIGURES);
  }

  @Override
  Path pluginJar() {
    return Path.of("no-such.jar");
  }

  @Override
  Optional<String> page() {
    return Optional.empty();
  }

  @Override
  List<String> contract(List<String> names) {
    tests.add(names);
    return List.of("bash", "-c", suite);
  }

  @Override
  List<String> plugin(List<String> arguments) {
    commands.add(arguments);
    return List.of("bash", "-c", arguments.get(1).equals("server") ? SERVER : client);
  }
}
