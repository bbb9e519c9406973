// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.reads;

/**
 * One case of the measurement.
 *
 * @param name in tables
 * @param mode of posting and waiting
 * @param lengthBytes of each READ
 * @param depth maximum READs in flight
 * @param batch READs posted with one call; the last of them is signalled
 * @param count total READs, a multiple of the batch
 */
public record ReadCase(String name, Mode mode, int lengthBytes, int depth, int batch, int count) {

  /** Posting, waiting and timing of READs. */
  public enum Mode {
    /** Many in flight; polling spins briefly, then sleeps. Timed as a whole. */
    STREAM,
    /** One at a time, by polling; the median counts. */
    POLL,
    /** One at a time, by the completion channel; the median counts. */
    EVENTS
  }

  /** Whether the figure is a bandwidth: more is better. */
  public boolean isBandwidth() {
    return mode == Mode.STREAM;
  }
}
