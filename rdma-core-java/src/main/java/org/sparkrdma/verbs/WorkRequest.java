// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Objects;

/**
 * A work request that is filled, posted and filled again, see ibv_post_send(3) and
 * ibv_post_recv(3).
 *
 * <p>Begin with one of the operations, add local memory, then post:
 *
 * <pre>{@code
 * request.read(id, remote.address(), remote.remoteKey()).local(sink, 0, length).signalled();
 * queuePair.postSend(request);
 * }</pre>
 *
 * <p>Owned by the posting thread. Filling it allocates nothing.
 */
public final class WorkRequest {
  private final MemoryRegion[] regions;
  private final long[] offsets;
  private final int[] lengths;
  private int elements;
  private long totalBytes;
  private long id;
  private Opcode opcode;
  private long remoteAddress;
  private long remoteKey;
  private int immediate;
  private boolean signalled;

  /**
   * A request with room for {@code maxSge} scatter/gather elements, at least 1.
   *
   * @param maxSge maximum number of scatter/gather elements, at least 1
   */
  public WorkRequest(int maxSge) {
    if (maxSge < 1) {
      throw new IllegalArgumentException("a work request needs an element: maxSge=" + maxSge);
    }
    regions = new MemoryRegion[maxSge];
    offsets = new long[maxSge];
    lengths = new int[maxSge];
  }

  /**
   * Begins a {@link Opcode#SEND}; unsignalled by default, as the other operations.
   *
   * @param id repeated in the completion
   * @return this request
   */
  public WorkRequest send(long id) {
    return begin(id, Opcode.SEND, 0, 0, 0);
  }

  /**
   * Begins a {@link Opcode#SEND_WITH_IMMEDIATE}.
   *
   * @param id repeated in the completion
   * @param immediate 32 bits that the peer gets with the message
   * @return this request
   */
  public WorkRequest sendWithImmediate(long id, int immediate) {
    return begin(id, Opcode.SEND_WITH_IMMEDIATE, 0, 0, immediate);
  }

  /**
   * Begins a {@link Opcode#READ} from the peer's memory.
   *
   * @param id repeated in the completion
   * @param remoteAddress address in the peer's memory
   * @param remoteKey the peer's key of that memory
   * @return this request
   */
  public WorkRequest read(long id, long remoteAddress, long remoteKey) {
    return begin(id, Opcode.READ, remoteAddress, remoteKey, 0);
  }

  /**
   * Begins a {@link Opcode#WRITE} into the peer's memory.
   *
   * @param id repeated in the completion
   * @param remoteAddress address in the peer's memory
   * @param remoteKey the peer's key of that memory
   * @return this request
   */
  public WorkRequest write(long id, long remoteAddress, long remoteKey) {
    return begin(id, Opcode.WRITE, remoteAddress, remoteKey, 0);
  }

  /**
   * Begins a {@link Opcode#WRITE_WITH_IMMEDIATE}.
   *
   * @param id repeated in the completion
   * @param remoteAddress address in the peer's memory
   * @param remoteKey the peer's key of that memory
   * @param immediate 32 bits that the peer gets with the message
   * @return this request
   */
  public WorkRequest writeWithImmediate(
      long id, long remoteAddress, long remoteKey, int immediate) {
    return begin(id, Opcode.WRITE_WITH_IMMEDIATE, remoteAddress, remoteKey, immediate);
  }

  /**
   * Begins a receive.
   *
   * @param id repeated in the completion
   * @return this request
   */
  public WorkRequest receive(long id) {
    return begin(id, Opcode.RECEIVE, 0, 0, 0);
  }

  private WorkRequest begin(long id, Opcode opcode, long address, long key, int immediate) {
    this.id = id;
    if (this.opcode != opcode) {
      // Mostly equal, and storing a reference costs more than comparing it.
      this.opcode = opcode;
    }
    this.remoteAddress = address;
    this.remoteKey = key;
    this.immediate = immediate;
    signalled = false;
    elements = 0;
    totalBytes = 0;
    return this;
  }

  /**
   * Adds local memory: a scatter/gather element.
   *
   * @param region registered memory of the same protection domain
   * @param offset of the first byte in the region
   * @param lengthBytes number of bytes, at least 0
   * @return this request
   * @throws IllegalArgumentException when there is no room for another element
   * @throws IndexOutOfBoundsException when the range does not lie inside the region
   */
  public WorkRequest local(MemoryRegion region, long offset, int lengthBytes) {
    if (elements == regions.length) {
      throw new IllegalArgumentException("too many elements: maxSge=" + regions.length);
    }
    Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
    if (regions[elements] != region) {
      regions[elements] = region;
    }
    offsets[elements] = offset;
    lengths[elements] = lengthBytes;
    elements++;
    totalBytes += lengthBytes;
    return this;
  }

  /**
   * Requests a completion also for success.
   *
   * @return this request
   */
  public WorkRequest signalled() {
    signalled = true;
    return this;
  }

  /** {@return its id, repeated in the completion} */
  public long id() {
    return id;
  }

  /** {@return the operation; null before the first one was begun} */
  public Opcode opcode() {
    return opcode;
  }

  /** {@return address in the peer's memory, for reads and writes} */
  public long remoteAddress() {
    return remoteAddress;
  }

  /** {@return the peer's key, for reads and writes} */
  public long remoteKey() {
    return remoteKey;
  }

  /** {@return immediate data, for operations that have it} */
  public int immediate() {
    return immediate;
  }

  /** {@return whether success has a completion} */
  public boolean isSignalled() {
    return signalled;
  }

  /** {@return the number of its scatter/gather elements} */
  public int elementCount() {
    return elements;
  }

  /**
   * {@return the region of element {@code i}}
   *
   * @param i index of the element, from 0
   */
  public MemoryRegion region(int i) {
    return regions[Objects.checkIndex(i, elements)];
  }

  /**
   * {@return the offset in its region of element {@code i}}
   *
   * @param i index of the element, from 0
   */
  public long offset(int i) {
    return offsets[Objects.checkIndex(i, elements)];
  }

  /**
   * {@return the length in bytes of element {@code i}}
   *
   * @param i index of the element, from 0
   */
  public int length(int i) {
    return lengths[Objects.checkIndex(i, elements)];
  }

  /** {@return the sum of the elements' lengths} */
  public long totalBytes() {
    return totalBytes;
  }
}
