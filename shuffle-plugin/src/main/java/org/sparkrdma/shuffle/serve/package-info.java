// SPDX-License-Identifier: Apache-2.0
/**
 * The serving side: answers LOCATE with memory that peers may READ.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.serve.BlockServer}. {@code ServerWork} is the work of
 * its thread. Windows, copy slots, leases and the cache of indexes have one lock, {@code
 * StateLock}: the server's thread and the disk threads hold it for single steps. {@code Locator}
 * answers a LOCATE: it finds each map output in {@code ServedOutputs}. {@code PiecePlacer} finds
 * memory for its blocks in {@code RegisteredFiles} or {@code CopySlots}. {@code BlockWriter} writes
 * them into the answer. One {@code Lease} holds all memory of an answer. {@code UnleasedWindows}
 * deregisters windows that no lease holds.
 */
package org.sparkrdma.shuffle.serve;
