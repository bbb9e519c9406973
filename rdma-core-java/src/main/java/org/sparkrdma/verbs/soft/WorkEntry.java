// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * A posted work request in its queue. The queue pair's owner fills it; from then on it is confined
 * to the device thread until its completion is polled. Entries are reused.
 */
final class WorkEntry {
  long id;
  Opcode opcode;
  long remoteAddress;
  int remoteKey;
  int immediate;
  boolean signalled;
  long totalBytes;

  // State of the device thread.
  /** Time at which it may run, see Network. */
  long dueNs;

  /** Whether the fault plan makes it fail. */
  boolean mustFail;

  /** Its sequence number among the messages of this direction; 0 before it is sent. */
  long sequence;

  /** Bytes copied so far. */
  long progress;

  /** Whether its one-sided part is done. */
  boolean written;

  /** Whether it is a READ whose data has come and that waits for messages before it. */
  boolean executed;

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
    id = request.id();
    opcode = request.opcode();
    remoteAddress = request.remoteAddress();
    remoteKey = request.remoteKey();
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
    sequence = 0;
    progress = 0;
    written = false;
    executed = false;
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
   * @param copies see {@link org.sparkrdma.verbs.soft.shared.Mapping#view}
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

  /**
   * Copies local bytes from {@link #progress} on, as many as fit, and advances {@link #progress}.
   */
  void gather(ByteBuffer into) throws IOException {
    while (into.hasRemaining() && progress < totalBytes) {
      int before = into.position();
      ByteBuffer view = view(false, into.remaining());
      if (view == null) {
        readFile(into);
      } else {
        into.put(view);
      }
      progress += into.position() - before;
    }
  }

  /** Copies the buffer into local memory from {@link #progress} on, and advances it. */
  void scatter(ByteBuffer from) {
    int end = from.limit();
    while (from.hasRemaining()) {
      ByteBuffer view = view(false, from.remaining());
      int count = view.remaining();
      from.limit(from.position() + count);
      view.put(from);
      from.limit(end);
      progress += count;
    }
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
