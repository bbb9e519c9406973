// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.nio.file.Path;
import java.util.Set;

/**
 * Groups regions and queue pairs, see ibv_alloc_pd(3): a key is valid only on queue pairs of its
 * own domain.
 *
 * <p>Safe for any thread. Closed by its allocator, after its regions and queue pairs.
 */
public interface ProtectionDomain extends AutoCloseable {
  /**
   * Registers part of a block of memory, see ibv_reg_mr(3). The caller closes the region before the
   * memory.
   *
   * @param memory memory of the same device
   * @param offset of the first byte in {@code memory}
   * @param lengthBytes at least 1
   * @param access access of this device and of peers; empty for local reading
   * @return the region
   * @throws IllegalArgumentException for less than 1 byte, {@link AccessFlag#REMOTE_WRITE} without
   *     {@link AccessFlag#LOCAL_WRITE}, or memory of another device
   * @throws IllegalStateException when the domain or the memory is closed
   * @throws IndexOutOfBoundsException when the range does not lie inside the memory
   * @throws UnsupportedOperationException for {@link AccessFlag#ON_DEMAND} without {@link
   *     org.sparkrdma.verbs.device.Capability#ON_DEMAND_PAGING}
   * @throws VerbsException when the device or the memlock limit refuses
   */
  MemoryRegion register(HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException;

  /**
   * Registers a range of a file for peers to read from the page cache, without a copy. The region
   * stays readable after the file is unlinked.
   *
   * @param file a regular file that this process may read and write
   * @param offset of the first byte in the file
   * @param lengthBytes at least 1; the range must lie inside the file
   * @param access {@link AccessFlag#REMOTE_READ}, optionally with {@link AccessFlag#ON_DEMAND}
   * @return the region
   * @throws IllegalArgumentException without {@link AccessFlag#REMOTE_READ}, with {@link
   *     AccessFlag#LOCAL_WRITE} or {@link AccessFlag#REMOTE_WRITE}, or for less than 1 byte
   * @throws IndexOutOfBoundsException for a negative offset, or an end that no file can have
   * @throws IllegalStateException when the domain is closed
   * @throws VerbsException when the file cannot be opened or registered, or ends before the range
   *     does
   * @throws UnsupportedOperationException without {@link
   *     org.sparkrdma.verbs.device.Capability#FILE_REGIONS}, or for {@link AccessFlag#ON_DEMAND}
   *     without {@link org.sparkrdma.verbs.device.Capability#ON_DEMAND_PAGING}
   */
  MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException;

  /**
   * Tries whether the kernel pins pages of a file for reading, when peers may only read them:
   * registers a range through a mapping that cannot be written, and deregisters it. A kernel that
   * pins for writing refuses with {@link VerbsException#EFAULT}. Writes nothing.
   *
   * @param file a regular file that this process may read
   * @param lengthBytes from the file's begin, at least 1
   * @return false where the engine cannot try it
   * @throws IllegalStateException when the domain is closed
   * @throws VerbsException when the device or the kernel refuses
   */
  default boolean testReadOnlyFile(Path file, long lengthBytes) throws VerbsException {
    return false;
  }

  /**
   * Creates a queue pair without a connection and destroys it, so that a caller that holds all else
   * it needs can find out whether the device has room for one. Engines that create queue pairs only
   * for connections do nothing.
   *
   * @param settings with completion queues of the same device
   * @throws IllegalArgumentException when they exceed the limits of the device
   * @throws VerbsException when the device refuses
   */
  default void testQueuePair(QueuePairSettings settings) throws VerbsException {}

  /**
   * See ibv_dealloc_pd(3). A second close does nothing. Waits at most ten seconds for registrations
   * in progress on other threads, which then fail.
   *
   * @throws IllegalStateException while it has regions, queue pairs, or registrations that do not
   *     end; those fail when they do, and another close deallocates
   */
  @Override
  void close();
}
