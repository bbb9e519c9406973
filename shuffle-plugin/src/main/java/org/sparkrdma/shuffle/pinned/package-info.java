// SPDX-License-Identifier: Apache-2.0
/**
 * The amount of memory that an executor may pin, found from what the machine, the container and
 * Spark's own settings leave, and whether the machine lets it: {@link
 * org.sparkrdma.shuffle.pinned.PinnedLimit} and {@link org.sparkrdma.shuffle.pinned.Preflight}.
 * {@link org.sparkrdma.shuffle.pinned.MemoryShares} divides it. No threads; all but the look-up of
 * mounts runs once, when RDMA starts.
 */
package org.sparkrdma.shuffle.pinned;
