// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Programs for tests, as lines of bash: those of the suite are given, and perf prints figures.
 * Keeps what it was asked for.
 */
final class FakePrograms implements Programs {
  /** Output of {@code perf client --json}, shortened. */
  static final String FIGURES =
      """
      {"schema": 1, "addresses": "from=192.0.2.7 to=192.0.2.7", "rows": [
      {"bytes": 4096, "read": {"bytesPerSecond": 300000000, "medianNs": 1}, "tcp": {"bytesPerSecond": 100000000}},
      {"bytes": 65536, "read": {"bytesPerSecond": 250000000}, "tcp": {"bytesPerSecond": 100000000}}]}
      """;

  /** Output of {@link CostMain}, shortened. */
  static final String COSTS =
      """
      {"fileSystem": "ext4", "rounds": 15, "rows": [{"bytes": 65536,
      "cold": {"registerUs": {"median": 30.0, "lower": 20.0, "upper": 41.5}, "copyUs": {"median": 15.0}},
      "warm": {"registerUs": {"median": 12.0}, "copyUs": {"median": 8.0, "lower": 7.5, "upper": 9.0}}}]}
      """;

  /** A server that goes on until it is killed. */
  private static final String SERVER =
      "echo '{\"schema\": 1, \"usable\": true, \"port\": 7}'; sleep 600";

  private final String suite;
  private final String client;
  private final String costs;
  final List<List<String>> tests = new ArrayList<>();
  final List<List<String>> commands = new ArrayList<>();
  final List<String> measured = new ArrayList<>();

  /**
   * @param suite prints the lines of ContractMain
   * @param client stands for {@code perf client}
   */
  FakePrograms(String suite, String client) {
    this(suite, client, "echo '" + COSTS + "'");
  }

  /**
   * @param costs stands for {@link CostMain}
   */
  FakePrograms(String suite, String client, String costs) {
    this.suite = suite;
    this.client = client;
    this.costs = costs;
  }

  static FakePrograms passing() {
    return new FakePrograms(
        "echo tests: 2; echo 'passed  A#Reads.shouldRead() 3 ms'; echo 'SKIPPED A#Sends.shouldSend(): no'",
        "echo '" + FIGURES + "'");
  }

  @Override
  public Path pluginJar() {
    return Path.of("no-such.jar");
  }

  @Override
  public List<String> contract(List<String> names) {
    tests.add(names);
    return List.of("bash", "-c", suite);
  }

  @Override
  public List<String> costs(String device, Path folder) {
    measured.add(device + " " + folder);
    return List.of("bash", "-c", costs);
  }

  @Override
  public List<String> plugin(List<String> arguments) {
    commands.add(arguments);
    return List.of("bash", "-c", arguments.get(1).equals("server") ? SERVER : client);
  }
}
