// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The soft engine's settings, checked.
 *
 * @param directory directory of memory and tables, on a tmpfs
 * @param latencyNs latency of the simulated network
 * @param faults rules of the faults to inject in this process, see {@link FaultPlan}
 * @param handshakeTimeoutNs time-out of the handshake
 * @param registration cost of a registration
 * @param deregistration cost of a deregistration
 */
record SoftSettings(
    Path directory,
    long latencyNs,
    String faults,
    long handshakeTimeoutNs,
    SoftCost registration,
    SoftCost deregistration) {
  static final String PREFIX = "soft.";

  private static final EngineSetting DIRECTORY =
      setting(
          "directory",
          "/dev/shm",
          "an absolute path",
          "Controls the directory on a tmpfs in which memory is shared; it must be the"
              + " same for all processes. A file system on a disk would write shared memory to"
              + " that disk. Set it when /dev/shm is too small.");
  private static final EngineSetting LATENCY =
      setting(
          "latency",
          "0us",
          "a duration with ns, us, ms or s, up to 10s",
          "Controls the latency of the simulated network. It is added to each operation."
              + " Raise it to see how a job behaves on a slow network.");
  private static final EngineSetting FAULTS =
      setting(
          "faults",
          "",
          "rules such as read-error@100, flip-bit@7, delay@3:200ms, hang@5, drop-connection@20,"
              + " refuse-connect@1, hang-connect@1, send-error@2, send-hang@2, register-error@1;"
              + " @n+ for the n-th and later, %p for a chance; seed=n; executor=id; before them for one"
              + " executor",
          "Controls which faults are injected: rules separated by commas. Each rule makes"
              + " an operation fail, stop or change a bit. Set it in tests only.");
  private static final EngineSetting HANDSHAKE_TIMEOUT =
      setting(
          "handshake.timeout",
          "5s",
          "a duration with ns, us, ms or s, 1ms to 60s",
          "Controls how long the handshake of a new connection may take. A longer time"
              + " detects a peer that does not answer later. Raise it on very busy hosts.");
  private static final String COSTS = "the costs of a call and of a page, such as 75us,270ns";
  private static final EngineSetting REGISTRATION_COST =
      setting(
          "registration.cost",
          "0us,0ns",
          COSTS,
          "Controls for how long a registration keeps its thread busy, as a card does that pins"
              + " each page. Set it to see how a job behaves where registrations are dear.");
  private static final EngineSetting DEREGISTRATION_COST =
      setting(
          "deregistration.cost",
          "0us,0ns",
          COSTS,
          "Controls for how long a deregistration keeps its thread busy. Set it together with"
              + " `soft.registration.cost`.");
  static final List<EngineSetting> ALL =
      List.of(
          DIRECTORY, LATENCY, FAULTS, HANDSHAKE_TIMEOUT, REGISTRATION_COST, DEREGISTRATION_COST);

  private static final Pattern DURATION =
      Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,6})?)(ns|us|ms|s)");

  private static EngineSetting setting(
      String name, String defaultValue, String allowed, String meaning) {
    return new EngineSetting(PREFIX + name, defaultValue, allowed, meaning);
  }

  /**
   * Checks the values that the user set.
   *
   * @throws IllegalArgumentException naming key, value and what is allowed
   */
  static SoftSettings of(EngineSettings given) {
    given.requireKnown(SoftProvider.NAME, ALL);
    return new SoftSettings(
        parse(given, DIRECTORY, SoftSettings::absolute),
        duration(given, LATENCY, 0, 10_000_000_000L),
        parse(given, FAULTS, plan -> FaultPlan.rulesFor(plan, given.process())),
        duration(given, HANDSHAKE_TIMEOUT, 1_000_000L, 60_000_000_000L),
        parse(given, REGISTRATION_COST, SoftCost::parse),
        parse(given, DEREGISTRATION_COST, SoftCost::parse));
  }

  private static Path absolute(String value) {
    Path path = Path.of(value);
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("not absolute: " + value);
    }
    return path;
  }

  private static long duration(EngineSettings given, EngineSetting setting, long min, long max) {
    return parse(
        given,
        setting,
        value -> {
          long ns = durationNs(value);
          if (ns < min || ns > max) {
            throw new IllegalArgumentException("out of range");
          }
          return ns;
        });
  }

  /** A duration such as {@code 200ms}, in nanoseconds. */
  static long durationNs(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a duration with ns, us, ms or s: " + text);
    }
    double unit =
        switch (matcher.group(2)) {
          case "ns" -> 1;
          case "us" -> 1e3;
          case "ms" -> 1e6;
          default -> 1e9;
        };
    return Math.round(Double.parseDouble(matcher.group(1)) * unit);
  }

  private static <T> T parse(
      EngineSettings given, EngineSetting setting, Function<String, T> parser) {
    String value = given.value(setting);
    try {
      return parser.apply(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "bad setting: key="
              + setting.key()
              + (" value=" + value)
              + (" allowed=" + setting.allowed())
              + (" reason=" + e.getMessage()),
          e);
    }
  }
}
