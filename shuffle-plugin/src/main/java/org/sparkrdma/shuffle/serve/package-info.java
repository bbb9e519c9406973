// SPDX-License-Identifier: Apache-2.0
/**
 * The serving side: answers LOCATE with memory that peers may READ.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.serve.BlockServer}. Windows, copy slots, leases and
 * the cache of indexes have one lock, {@code StateLock}: the server's thread and the disk threads
 * hold it for single steps. A LOCATE goes through {@code Locator}, which finds each map output in
 * {@code ServedOutputs}, has {@code Placement} find memory in {@code RegisteredFiles} or {@code
 * CopySlots}, lets {@code BlockWriter} write it down, and puts all of it under one {@code Lease}.
 * {@code UnleasedWindows} deregisters what is not leased.
 */
package org.sparkrdma.shuffle.serve;
