// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Units;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The soft engine's settings, checked.
 *
 * @param directory directory of memory and tables, on a tmpfs
 * @param latencyNs latency of the simulated network
 * @param bytesPerSecond bandwidth of the simulated network; 0 for no limit
 * @param faults faults to inject, see {@link FaultPlan}
 * @param peerCheckNs interval of the check whether the processes of peers are alive
 * @param handshakeTimeoutNs time-out of the handshake
 * @param receiverNotReadyDelayNs delay before a message is sent again
 * @param acknowledgeDelayNs delay from receiving a message to its acknowledgement
 * @param maxHalfOpen maximum number of connections whose handshake has not ended
 * @param maxQueuePairDepth maximum number of work requests in a send or receive queue
 * @param maxOpenFiles maximum number of open files of one peer
 */
record SoftSettings(
    Path directory,
    long latencyNs,
    long bytesPerSecond,
    String faults,
    long peerCheckNs,
    long handshakeTimeoutNs,
    long receiverNotReadyDelayNs,
    long acknowledgeDelayNs,
    int maxHalfOpen,
    int maxQueuePairDepth,
    int maxOpenFiles) {
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
  private static final EngineSetting BANDWIDTH =
      setting(
          "bandwidth",
          "unlimited",
          "unlimited, or a rate with b/s, kb/s, mb/s or gb/s, at least 1kb/s",
          "Controls the bandwidth of the simulated network. All operations of a device"
              + " share it. Reduce it to see how a job behaves on a narrow network.");
  private static final EngineSetting FAULTS =
      setting(
          "faults",
          "",
          "rules such as read-error@100, flip-bit@7, delay@3:200ms, hang@5, drop-connection@20,"
              + " refuse-connect@1, hang-connect@1, send-error@2, send-hang@2, register-error@1;"
              + " @n+ for the n-th and later, %p for a chance; seed=n",
          "Controls which faults are injected: rules separated by commas. Each rule makes"
              + " an operation fail, stop or change a bit. Set it in tests only.");
  private static final EngineSetting PEER_CHECK =
      setting(
          "peer.check.interval",
          "500ms",
          "a duration with ns, us, ms or s, 1ms to 60s",
          "Controls how often the processes of peers are checked to be alive. A longer"
              + " interval detects the end of a process later. Change it in tests only: a check"
              + " costs microseconds.");
  private static final EngineSetting HANDSHAKE_TIMEOUT =
      setting(
          "handshake.timeout",
          "5s",
          "a duration with ns, us, ms or s, 1ms to 60s",
          "Controls how long the handshake of a new connection may take. A longer time"
              + " detects a peer that does not answer later. Raise it on very busy hosts.");
  private static final EngineSetting RECEIVER_NOT_READY_DELAY =
      setting(
          "rnr.delay",
          "1ms",
          "a duration with ns, us, ms or s, 10us to 1s",
          "Controls how long a sender waits before it sends again when the peer has no"
              + " receive posted (receiver not ready). A longer delay makes such a SEND slower"
              + " and its repetition cheaper. Change it in tests only.");
  private static final EngineSetting ACKNOWLEDGE_DELAY =
      setting(
          "ack.delay",
          "0us",
          "a duration with ns, us, ms or s, up to 10s",
          "Controls how long the completion of a SEND is delayed. With a delay the answer"
              + " to a message may arrive before its completion, as it can on a card. Set it in"
              + " tests only.");
  private static final EngineSetting MAX_HALF_OPEN =
      setting(
          "handshakes.max",
          "256",
          "1 to 65536",
          "Controls the maximum number of connections whose handshake has not ended;"
              + " further ones are closed. A higher number lets strangers hold more sockets."
              + " Raise it when hundreds of processes connect to one at the same time.");
  private static final EngineSetting MAX_DEPTH =
      setting(
          "depth.max",
          "16384",
          "1 to 65536",
          "Controls the maximum number of work requests in one send or receive queue. A"
              + " longer queue needs more memory for each queue pair. Change it to test other"
              + " devices, whose limit differs.");
  private static final EngineSetting MAX_OPEN_FILES =
      setting(
          "files.max",
          "256",
          "1 to 65536",
          "Controls the maximum number of files of one peer that are open at the same"
              + " time; the least recently used one is closed. More open files need more"
              + " descriptors and save the time to open them again. Raise it when READs"
              + " alternate between very many files.");

  private static final List<EngineSetting> ALL =
      List.of(
          DIRECTORY,
          LATENCY,
          BANDWIDTH,
          FAULTS,
          PEER_CHECK,
          HANDSHAKE_TIMEOUT,
          RECEIVER_NOT_READY_DELAY,
          ACKNOWLEDGE_DELAY,
          MAX_HALF_OPEN,
          MAX_DEPTH,
          MAX_OPEN_FILES);

  private static EngineSetting setting(
      String name, String defaultValue, String allowed, String meaning) {
    return new EngineSetting(PREFIX + name, defaultValue, allowed, meaning);
  }

  static List<EngineSetting> all() {
    return ALL;
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
        parse(given, BANDWIDTH, SoftSettings::bandwidth),
        parse(given, FAULTS, SoftSettings::plan),
        duration(given, PEER_CHECK, 1_000_000L, 60_000_000_000L),
        duration(given, HANDSHAKE_TIMEOUT, 1_000_000L, 60_000_000_000L),
        duration(given, RECEIVER_NOT_READY_DELAY, 10_000L, 1_000_000_000L),
        duration(given, ACKNOWLEDGE_DELAY, 0, 10_000_000_000L),
        number(given, MAX_HALF_OPEN, 1, 65_536),
        number(given, MAX_DEPTH, 1, 65_536),
        number(given, MAX_OPEN_FILES, 1, 65_536));
  }

  private static Path absolute(String value) {
    Path path = Path.of(value);
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("not absolute: " + value);
    }
    return path;
  }

  private static long bandwidth(String value) {
    return value.equals("unlimited")
        ? 0
        : within(Units.bytesPerSecond(value), 1_000, Long.MAX_VALUE);
  }

  private static String plan(String value) {
    FaultPlan.parse(value);
    return value;
  }

  private static long duration(EngineSettings given, EngineSetting setting, long min, long max) {
    return parse(given, setting, value -> within(Units.durationNs(value), min, max));
  }

  private static int number(EngineSettings given, EngineSetting setting, int min, int max) {
    return parse(given, setting, value -> (int) within(Long.parseLong(value), min, max));
  }

  private static long within(long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
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
