// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
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
  /** Time from which it may run. */
  long dueNs;

  /** Whether the fault plan makes it hang or fail. */
  boolean hangs;

  boolean mustFail;

  /** Bytes copied so far. */
  long progress;

  /** Whether its one-sided part is done. */
  boolean written;

  private final SoftRegion[] regions;
  private final long[] offsets;
  private final int[] lengths;
  private int elements;

  WorkEntry(int maxSge) {
    regions = new SoftRegion[maxSge];
    offsets = new long[maxSge];
    lengths = new int[maxSge];
  }

  /** Copies a request; called by the owner. */
  void fill(WorkRequest request) {
    opcode = request.opcode();
    remoteAddress = request.remoteAddress();
    remoteKey = (int) request.remoteKey();
    immediate = request.immediate();
    signalled = request.isSignalled();
    totalBytes = request.totalBytes();
    elements = request.elementCount();
    for (int i = 0; i < elements; i++) {
      regions[i] = (SoftRegion) request.region(i);
      offsets[i] = request.offset(i);
      lengths[i] = request.length(i);
    }
    progress = 0;
    written = false;
    hangs = false;
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
      regions[i] = null;
    }
    elements = 0;
  }

  /** Whether all its memory is still registered, and writable where it will be written. */
  boolean mayUseLocalMemory() {
    for (int i = 0; i < elements; i++) {
      if (regions[i].isClosed() || (opcode == Opcode.READ && !regions[i].isLocallyWritable())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Copies the next local bytes, all in one element, to or from a file.
   *
   * @return their number; 0 or less at the end of a file
   */
  int copy(FileChannel file, long position, int limit) throws IOException {
    int i = 0;
    long before = 0;
    while (progress >= before + lengths[i]) {
      before += lengths[i];
      i++;
    }
    SoftRegion region = regions[i];
    long offset = offsets[i] + progress - before;
    int length = (int) Math.min(limit, before + lengths[i] - progress);
    if (region.isFile()) {
      try (FileChannel source = region.openFile(offset)) {
        return (int) file.transferFrom(source, position, length);
      }
    }
    ByteBuffer view = region.view(offset, length);
    return opcode == Opcode.READ ? file.read(view, position) : file.write(view, position);
  }

  /** Flips a bit of the local bytes of a READ, counted from the first byte. */
  void flipBit(long bit) {
    long before = 0;
    int i = 0;
    while (bit / Byte.SIZE >= before + lengths[i]) {
      before += lengths[i];
      i++;
    }
    ByteBuffer sink = regions[i].view(offsets[i] + bit / Byte.SIZE - before, 1);
    int at = sink.position();
    sink.put(at, (byte) (sink.get(at) ^ (1 << (int) (bit % Byte.SIZE))));
  }
}
