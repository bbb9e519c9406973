// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.reads;

/**
 * READs to be timed.
 *
 * @param name for people
 * @param mode how they go
 * @param lengthBytes of each
 * @param depth how many may be outstanding
 * @param batch how many are posted with one call; the last of them is signalled
 * @param count how many in all, a multiple of the batch
 */
public record ReadCase(String name, Mode mode, int lengthBytes, int depth, int batch, int count) {

  /** How READs are posted and waited for, and what is timed. */
  public enum Mode {
    /** Many at once; polling spins briefly, then sleeps. Timed as a whole. */
    STREAM,
    /** One after the other by polling; the median of one counts. */
    POLL,
    /** One after the other by the completion channel; the median of one counts. */
    EVENTS
  }

  /** Whether the figure is a bandwidth, so that more is better. */
  public boolean isBandwidth() {
    return mode == Mode.STREAM;
  }
}
