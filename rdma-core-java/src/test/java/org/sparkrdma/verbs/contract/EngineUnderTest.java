// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The engine that a contract test runs on.
 *
 * @param name as in {@link org.sparkrdma.verbs.spi.VerbsProvider#name()}
 * @param settings that load it
 * @param address of its device
 * @param addressV6 IPv6 address of its device; null when there is none
 * @param mappedPath path that identifies the mappings of its memory in /proc/self/maps
 * @param slowReads settings with which the first READ of a device takes a second; empty when the
 *     engine has none
 * @param shorter factor by which long tests are shortened; 1 where system calls are fast
 * @param deviations from the contract
 */
public record EngineUnderTest(
    String name,
    Map<String, String> settings,
    InetAddress address,
    InetAddress addressV6,
    Path mappedPath,
    Map<String, String> slowReads,
    int shorter,
    Set<Deviation> deviations) {
  /** Whether the engine has this deviation. */
  public boolean deviates(Deviation deviation) {
    return deviations.contains(deviation);
  }

  /**
   * An engine on a device whose address is in a variable of the environment, which the guest or
   * {@code ./card} sets; its IPv6 address is in that with the suffix 6. There system calls and
   * registrations take many times as long as on a host.
   */
  public static EngineUnderTest on(String name, String variable, Set<Deviation> deviations) {
    try {
      String address =
          Objects.requireNonNull(
              System.getenv(variable),
              "runs in the guest or by ./card only, which set " + variable);
      String six = System.getenv(variable + "6");
      return new EngineUnderTest(
          name,
          Map.of(),
          InetAddress.getByName(address),
          six == null ? null : InetAddress.getByName(six),
          Path.of("/dev/infiniband"),
          Map.of(),
          8,
          deviations);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("invalid address: variable=" + variable, e);
    }
  }
}
