// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.VerbsException;

/**
 * Starts on the chosen device, or on the next one that peers of the first can reach: a device that
 * fails must not disable the others. Stateless.
 */
public final class DeviceTrials {
  private DeviceTrials() {}

  /** Starts on a device. */
  @FunctionalInterface
  public interface Start<T> {
    /**
     * @throws VerbsException when the device cannot be used; nothing of it is open then
     */
    T on(DeviceChoice choice) throws VerbsException;
  }

  /** Receives each device that did not start although another one is tried. */
  @FunctionalInterface
  public interface OnFailure {
    void failed(DeviceChoice failed, VerbsException reason, DeviceChoice next);
  }

  /**
   * Tries the devices until one starts.
   *
   * @param choices as {@link DeviceChoice#all}
   * @throws VerbsException when none starts; with each reason once
   */
  public static <T> T run(List<DeviceChoice> choices, Start<T> start, OnFailure onFailure)
      throws VerbsException {
    Set<String> reasons = new LinkedHashSet<>();
    int next = 0;
    while (true) {
      DeviceChoice choice = choices.get(next);
      next++;
      try {
        return start.on(choice);
      } catch (VerbsException e) {
        reasons.add(e.getMessage());
        if (next == choices.size()) {
          throw reasons.size() == 1 ? e : new VerbsException("open", String.join("; ", reasons), e);
        }
        onFailure.failed(choice, e, choices.get(next));
      }
    }
  }
}
