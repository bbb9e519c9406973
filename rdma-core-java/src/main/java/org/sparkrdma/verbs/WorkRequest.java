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
  private int remoteKey;
  private int immediate;
  private boolean signalled;
  private boolean inline;

  /** A request with room for {@code maxSge} scatter/gather elements, at least 1. */
  public WorkRequest(int maxSge) {
    if (maxSge < 1) {
      throw new IllegalArgumentException("a work request needs an element: maxSge=" + maxSge);
    }
    regions = new MemoryRegion[maxSge];
    offsets = new long[maxSge];
    lengths = new int[maxSge];
  }

  /** Begins a {@link Opcode#SEND}; unsignalled by default, as the other operations. */
  public WorkRequest send(long id) {
    return begin(id, Opcode.SEND, 0, 0, 0);
  }

  /** Begins a {@link Opcode#SEND_WITH_IMMEDIATE}. */
  public WorkRequest sendWithImmediate(long id, int immediate) {
    return begin(id, Opcode.SEND_WITH_IMMEDIATE, 0, 0, immediate);
  }

  /** Begins a {@link Opcode#READ} from the peer's memory. */
  public WorkRequest read(long id, long remoteAddress, int remoteKey) {
    return begin(id, Opcode.READ, remoteAddress, remoteKey, 0);
  }

  /** Begins a {@link Opcode#WRITE} into the peer's memory. */
  public WorkRequest write(long id, long remoteAddress, int remoteKey) {
    return begin(id, Opcode.WRITE, remoteAddress, remoteKey, 0);
  }

  /** Begins a {@link Opcode#WRITE_WITH_IMMEDIATE}. */
  public WorkRequest writeWithImmediate(long id, long remoteAddress, int remoteKey, int immediate) {
    return begin(id, Opcode.WRITE_WITH_IMMEDIATE, remoteAddress, remoteKey, immediate);
  }

  /** Begins a receive. */
  public WorkRequest receive(long id) {
    return begin(id, Opcode.RECEIVE, 0, 0, 0);
  }

  private WorkRequest begin(long id, Opcode opcode, long address, int key, int immediate) {
    this.id = id;
    if (this.opcode != opcode) {
      // Mostly equal, and storing a reference costs more than comparing it.
      this.opcode = opcode;
    }
    this.remoteAddress = address;
    this.remoteKey = key;
    this.immediate = immediate;
    signalled = false;
    inline = false;
    elements = 0;
    totalBytes = 0;
    return this;
  }

  /**
   * Adds local memory: a scatter/gather element.
   *
   * @param offset of the first byte in the region
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

  /** Requests a completion also for success. */
  public WorkRequest signalled() {
    signalled = true;
    return this;
  }

  /** Carries the data in the request: the memory is free again when the post returns. */
  public WorkRequest inline() {
    inline = true;
    return this;
  }

  /** Its id, repeated in the completion. */
  public long id() {
    return id;
  }

  /** The operation; null before the first one was begun. */
  public Opcode opcode() {
    return opcode;
  }

  /** Address in the peer's memory, for reads and writes. */
  public long remoteAddress() {
    return remoteAddress;
  }

  /** The peer's key, for reads and writes. */
  public int remoteKey() {
    return remoteKey;
  }

  /** Immediate data, for operations that have it. */
  public int immediate() {
    return immediate;
  }

  /** Whether success has a completion. */
  public boolean isSignalled() {
    return signalled;
  }

  /** Whether the request carries the data itself. */
  public boolean isInline() {
    return inline;
  }

  /** Number of its scatter/gather elements. */
  public int elementCount() {
    return elements;
  }

  /** The region of element {@code i}. */
  public MemoryRegion region(int i) {
    return regions[Objects.checkIndex(i, elements)];
  }

  /** Offset in its region of element {@code i}. */
  public long offset(int i) {
    return offsets[Objects.checkIndex(i, elements)];
  }

  /** Length in bytes of element {@code i}. */
  public int length(int i) {
    return lengths[Objects.checkIndex(i, elements)];
  }

  /** Sum of the elements' lengths. */
  public long totalBytes() {
    return totalBytes;
  }
}
