// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.pinned.PinnedLimit;

/**
 * Result of opening a device as an executor would.
 *
 * @param choice the device, its port and addresses; empty when none can be used
 * @param usable whether the chosen device opened and registered memory
 * @param reasons why engines or the device are not used, a sentence each; may be there although
 *     another engine is used
 * @param limit memory that an executor may pin
 * @param directories local directories in which a file was written and registered; the value is
 *     empty for success, else the reason why it was not registered
 * @param details of directories whose files are registered: what a trial has shown, and what
 *     registrations and copies cost, where it was measured
 */
public record Probe(
    Optional<DeviceChoice> choice,
    boolean usable,
    List<String> reasons,
    PinnedLimit limit,
    Map<Path, Optional<String>> directories,
    Map<Path, String> details) {
  /** Keeps copies. */
  public Probe {
    reasons = List.copyOf(reasons);
    directories = Map.copyOf(directories);
    details = Map.copyOf(details);
  }

  /** The chosen device with the reason for its choice; for a probe that has chosen one. */
  public String inWords() {
    DeviceChoice chosen = choice.orElseThrow();
    return String.format(
        Locale.ROOT,
        "device %s port %d of engine %s at %s: %s",
        chosen.device().name(),
        chosen.port(),
        chosen.device().engine(),
        chosen.addresses(),
        chosen.reason());
  }
}
