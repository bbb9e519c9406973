// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Writes the answer to a LOCATE from windows that are registered and from what its loads have
 * copied. A LOCATE is written at most twice: when it arrives, and if something is missing then,
 * when it need not wait any longer. Confined to the agent.
 *
 * <p>An answer may leave out blocks, or the rest of one: because the message is full, because it
 * has located {@value Located#MAX_LOCATED_BYTES} bytes, or because they are not ready. It then has
 * at least one extent, and the reader requests the rest again.
 */
final class AnswerWriter {
  private final IndexCache indexes;
  private final FileWindows windows;
  private final LoadContext context;
  private final ShuffleCounters counters;
  private final Located.Encoder answer = new Located.Encoder();

  /** How the writing of a block has ended. */
  private enum Result {
    /** As far as this answer has something to say about it. */
    WRITTEN,
    /** Its next bytes are not ready. */
    MISSING,
    /** The answer has no room for more. */
    FULL
  }

  /** The answer in progress. */
  private OpenLocate locate;

  private long nowNs;

  /** The first partition of the block whose checksum is not written. */
  private int nextSum;

  private long placedBytes;
  private int extents;
  private int extentsFromWindows;
  private int extentsFromCopies;
  private long bytesFromCopies;
  private int sentToTcp;

  AnswerWriter(
      IndexCache indexes, FileWindows windows, LoadContext context, ShuffleCounters counters) {
    this.indexes = indexes;
    this.windows = windows;
    this.context = context;
    this.counters = counters;
  }

  /**
   * Writes the answer with what is ready; holds its memory by the lease of the LOCATE.
   *
   * @return whether nothing is missing, or the answer is full
   */
  boolean write(OpenLocate newLocate, long newNowNs) {
    beginAnswer(newLocate, newNowNs);
    int blocks = locate.request().blockCount();
    boolean complete = true;
    Result result = Result.WRITTEN;
    for (int block = 0; block < blocks && result != Result.FULL; block++) {
      result = writeBlock(block);
      complete &= result != Result.MISSING;
    }
    return complete || result == Result.FULL;
  }

  /** Whether the answer has no extent. */
  boolean isEmpty() {
    return extents == 0;
  }

  /** Bytes that the answer has left. */
  int roomBytes() {
    return answer.roomBytes();
  }

  /** Writes that all blocks must be fetched by TCP. */
  void refuseAll(OpenLocate newLocate, Located.Kind kind, long newNowNs) {
    beginAnswer(newLocate, newNowNs);
    for (int block = 0; block < locate.request().blockCount(); block++) {
      byTcp(block, kind);
    }
  }

  private void beginAnswer(OpenLocate newLocate, long newNowNs) {
    locate = newLocate;
    locate.beginAnswer();
    nowNs = newNowNs;
    placedBytes = 0;
    extents = 0;
    extentsFromWindows = 0;
    extentsFromCopies = 0;
    bytesFromCopies = 0;
    sentToTcp = 0;
    answer.begin(locate.answer(), locate.request().requestId(), context.checksumKind());
  }

  /** Ends the answer that was written last, and counts it; returns its length in bytes. */
  int finish(long leaseId, int leaseRemainingMs) {
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, sentToTcp);
    counters.add(Counter.SERVE_BYTES, placedBytes);
    counters.add(Counter.EXTENTS_FROM_WINDOWS, extentsFromWindows);
    if (extentsFromCopies > 0) {
      counters.add(Counter.EXTENTS_FROM_COPIES, extentsFromCopies);
      counters.add(Counter.BYTES_FROM_COPIES, bytesFromCopies);
    }
    locate = null;
    return answer.finish(leaseId, leaseRemainingMs);
  }

  private Result byTcp(int block, Located.Kind why) {
    if (answer.roomForSums() < 0) {
      return Result.FULL;
    }
    answer.byTcp(block, why);
    extents++;
    sentToTcp++;
    return Result.WRITTEN;
  }

  private Result writeBlock(int block) {
    Locate request = locate.request();
    WaitingLocate waited = locate.waiting();
    WaitingLocate.Block found = waited == null ? null : waited.found(block);
    if (found != null && found.refusal != null) {
      return byTcp(block, found.refusal);
    }
    IndexCache.Entry entry =
        context.registers() || found == null || found.map == null
            ? indexes.get(request.owner(), request.shuffleId(block), request.mapId(block), nowNs)
            : null;
    MapOutput map = found != null && found.map != null ? found.map : null;
    map = map == null && entry != null ? entry.map() : map;
    if (map == null) {
      return Result.MISSING;
    }
    if (request.endReduceId(block) > map.partitions()) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    return writeExtents(block, map, entry, found);
  }

  private Result writeExtents(
      int block, MapOutput map, IndexCache.Entry entry, WaitingLocate.Block found) {
    Locate request = locate.request();
    int first = request.startReduceId(block);
    int last = request.endReduceId(block);
    long start = map.offset(first);
    long end = map.offset(last);
    long from = request.startOffset(block);
    if (start == end && from == 0) {
      return writeEmpty(block);
    }
    if (from >= end - start) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    long at = start + from;
    boolean computes = context.computes(request.freshSums(block), map);
    boolean mayUseWindows = context.registers() && entry != null && !computes;
    nextSum = map.partitionEndingAfter(first, last, at);
    while (at < end) {
      int room = answer.roomForSums();
      if (room < (computes ? 1 : 0) || placedBytes >= Located.MAX_LOCATED_BYTES) {
        return Result.FULL;
      }
      FileWindow window = mayUseWindows ? entry.readyWindow(at) : null;
      BlockLoad.Copy copy = window == null && found != null ? found.copies.get(at) : null;
      if (window == null && copy == null) {
        // Until it has waited, a window may take the place of a copy.
        return locate.waiting() != null && request.noCopy(block)
            ? writeLength(block, at - start, end - start)
            : Result.MISSING;
      }
      long readyEnd = window == null ? at + copy.lengthBytes() : Math.min(end, window.end());
      if (!computes) {
        readyEnd = map.endOfFittingSums(nextSum, at, readyEnd, room);
      }
      if (readyEnd == at) {
        return Result.FULL;
      }
      writeExtent(block, map, window, copy, at, (int) (readyEnd - at), computes);
      placedBytes += readyEnd - at;
      at = readyEnd;
    }
    return Result.WRITTEN;
  }

  private void writeExtent(
      int block,
      MapOutput map,
      FileWindow window,
      BlockLoad.Copy copy,
      long at,
      int lengthBytes,
      boolean computes) {
    Locate request = locate.request();
    int first = request.startReduceId(block);
    int last = request.endReduceId(block);
    long start = map.offset(first);
    int count = computes ? 1 : map.countSums(nextSum, at + lengthBytes);
    long address = window == null ? copy.address() : window.address() + (at - window.offset());
    long remoteKey = window == null ? copy.remoteKey() : window.remoteKey();
    long blockBytes = map.offset(last) - start;
    answer.located(block, address, remoteKey, lengthBytes, at - start, blockBytes, count);
    extents++;
    if (window == null) {
      answer.markCopied();
      locate.lease().hold(copy.load());
      extentsFromCopies++;
      bytesFromCopies += lengthBytes;
    } else {
      locate.lease().hold(window);
      WaitingLocate waited = locate.waiting();
      if (waited == null || !waited.heldEarlier(window)) {
        if (window.onLocated(lengthBytes)) {
          windows.offerNext(window, last - first, nowNs);
        }
      }
      extentsFromWindows++;
    }
    if (computes) {
      answer.sum(at + lengthBytes - start, copy.sum());
    } else {
      nextSum = map.writeSums(answer, nextSum, start, count);
    }
  }

  /** The reader has no memory for a block that is in no window. */
  private Result writeLength(int block, long locatedBytes, long blockBytes) {
    if (locatedBytes == 0) {
      answer.notCopied(block, blockBytes);
      extents++;
    }
    return Result.WRITTEN;
  }

  private Result writeEmpty(int block) {
    if (answer.roomForSums() < 0) {
      return Result.FULL;
    }
    answer.located(block, 0, 0, 0, 0, 0, 0);
    extents++;
    return Result.WRITTEN;
  }
}
