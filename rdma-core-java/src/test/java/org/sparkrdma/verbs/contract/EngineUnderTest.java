// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The engine that a contract test runs over.
 *
 * @param name as in {@link org.sparkrdma.verbs.spi.VerbsProvider#name()}
 * @param settings for loading it
 * @param address on which its device listens
 * @param addressV6 on which it listens as well; null when it has no such address
 * @param mappedPath what the mappings of its memory are named after in /proc/self/maps
 * @param slowReads settings with which the first READ of a device takes a second; empty when the
 *     engine has none
 * @param shorter how many times shorter long tests are; 1 where a system call costs little
 * @param deviations where it differs
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
  /** Whether the engine differs so. */
  public boolean deviates(Deviation deviation) {
    return deviations.contains(deviation);
  }
}
