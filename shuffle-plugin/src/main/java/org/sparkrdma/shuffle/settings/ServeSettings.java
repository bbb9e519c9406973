// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.time.Duration;

/**
 * Settings of the serving side.
 *
 * @param mode which ways of serving are allowed
 * @param windowBytes length of registered file windows, a power of two
 * @param chunkBytes length of the chunks into which memory of copies is cut
 * @param lease how long a reader may READ the memory of a lease
 * @param connectionLeases maximum number of leases of one connection
 * @param indexPartitions maximum number of partitions whose offsets and checksums are kept
 * @param idle how long unused memory stays registered
 * @param computeSums whether the server computes checksums where no usable ones were recorded
 */
public record ServeSettings(
    Mode mode,
    int windowBytes,
    int chunkBytes,
    Duration lease,
    int connectionLeases,
    int indexPartitions,
    Duration idle,
    boolean computeSums) {

  /** Ways of serving. */
  public enum Mode {
    /** Copies at once, and registered windows beside them where these cost less. */
    AUTO,
    /** Registered windows only, but for blocks whose checksums the server computes. */
    WINDOW,
    /** Copies only. */
    COPY,
    /**
     * Windows that are not pinned: the device pages on demand. Copies when a window cannot be
     * registered; the same as {@link #AUTO} on a device that does not page on demand.
     */
    ODP
  }
}
