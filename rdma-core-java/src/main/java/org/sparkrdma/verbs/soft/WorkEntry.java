// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * A posted work request in its queue. The queue pair's owner fills it; from then on the lock of the
 * device guards it until its completion is polled. Entries are reused.
 */
final class WorkEntry {
  Opcode opcode;
  long remoteAddress;
  int remoteKey;
  int immediate;
  boolean signalled;
  long totalBytes;

  // Guarded by the lock of the device.
  /** Time at which it may run, see Network. */
  long dueNs;

  /** Whether the fault plan makes it fail. */
  boolean mustFail;

  /** Bytes copied so far. */
  long progress;

  /** Whether its one-sided part is done. */
  boolean written;

  /** Time at which it completes once it is executed, see the setting ack.delay; 0 for at once. */
  long acknowledgedNs;

  private final SoftRegion[] regions;
  private final long[] offsets;
  private final int[] lengths;
  private int elements;
  private final ByteBuffer inlineData;
  private boolean inline;

  /** The direct buffer holds the inline data. */
  WorkEntry(int maxSge, ByteBuffer inlineData) {
    regions = new SoftRegion[maxSge];
    offsets = new long[maxSge];
    lengths = new int[maxSge];
    this.inlineData = inlineData;
  }

  /** Copies a request, with its inline data; called by the owner. */
  void fill(WorkRequest request) {
    opcode = request.opcode();
    remoteAddress = request.remoteAddress();
    remoteKey = (int) request.remoteKey();
    immediate = request.immediate();
    signalled = request.isSignalled();
    totalBytes = request.totalBytes();
    elements = request.elementCount();
    inline = request.isInline();
    inlineData.clear();
    for (int i = 0; i < elements; i++) {
      regions[i] = (SoftRegion) request.region(i);
      offsets[i] = request.offset(i);
      lengths[i] = request.length(i);
      if (!inline) {
        regions[i].retainLocal();
      } else {
        inlineData.put(
            ((SoftRegion) request.region(i)).ownerView(request.offset(i), request.length(i)));
      }
    }
    inlineData.flip();
    dueNs = 0;
    progress = 0;
    written = false;
    acknowledgedNs = 0;
    mustFail = false;
  }

  boolean isOneSided() {
    return opcode == Opcode.READ
        || opcode == Opcode.WRITE
        || (opcode == Opcode.WRITE_WITH_IMMEDIATE && !written);
  }

  /** Releases the regions, so that nothing keeps their memory mapped. */
  void clear() {
    for (int i = 0; i < elements; i++) {
      if (!inline) {
        regions[i].releaseLocal();
      }
      regions[i] = null;
    }
    elements = 0;
  }

  /** Whether all its memory is still registered, and writable where it will be written. */
  boolean mayUseLocalMemory() {
    boolean writes = opcode == Opcode.READ || opcode == Opcode.RECEIVE;
    for (int i = 0; i < elements && !inline; i++) {
      if (regions[i].isClosed() || (writes && !regions[i].isLocallyWritable())) {
        return false;
      }
    }
    return true;
  }

  /**
   * A view of the local bytes from {@link #progress} on, at most {@code limit}, all in one element.
   *
   * @param copies see {@link org.sparkrdma.verbs.soft.shared.MappedWindows#view}
   * @return null when they lie in a file, see {@link #readFile}
   */
  ByteBuffer view(boolean copies, int limit) {
    if (inline) {
      int at = (int) progress;
      int end = Math.min(inlineData.capacity(), at + limit);
      return inlineData.limit((int) Math.min(end, totalBytes)).position(at);
    }
    int i = element();
    int at = (int) (progress - before(i));
    int length = Math.min(limit, lengths[i] - at);
    return regions[i].isFile() ? null : regions[i].view(copies, offsets[i] + at, length);
  }

  /** Reads local bytes from {@link #progress} on into the buffer, at most its remaining. */
  void readFile(ByteBuffer into) throws IOException {
    int i = element();
    int at = (int) (progress - before(i));
    int end = into.limit();
    into.limit(into.position() + Math.min(into.remaining(), lengths[i] - at));
    long from = regions[i].fileOffset() + offsets[i] + at;
    boolean interrupted = false;
    while (into.hasRemaining()) {
      try {
        int count = regions[i].channel().read(into, from);
        if (count < 0) {
          throw new IOException("the file was truncated");
        }
        from += count;
      } catch (ClosedByInterruptException e) {
        // Of this channel only: the next one is opened again.
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    into.limit(end);
  }

  /** Flips a bit of the local bytes, counted from the first byte. Keeps {@link #progress}. */
  void flipBit(long bit) {
    long end = progress;
    progress = bit / Byte.SIZE;
    ByteBuffer sink = view(false, 1);
    int at = sink.position();
    sink.put(at, (byte) (sink.get(at) ^ (1 << (int) (bit % Byte.SIZE))));
    progress = end;
  }

  private int element() {
    long end = 0;
    for (int i = 0; i < elements; i++) {
      end += lengths[i];
      if (progress < end) {
        return i;
      }
    }
    throw new IllegalStateException("beyond its memory: progress=" + progress);
  }

  private long before(int element) {
    long sum = 0;
    for (int i = 0; i < element; i++) {
      sum += lengths[i];
    }
    return sum;
  }
}
