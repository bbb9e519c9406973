// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.PieceChecksums;
import org.sparkrdma.shuffle.output.RecordedChecksums;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Writes the answer to a LOCATE from the caches, and begins to load what is missing there. A block
 * that is not ready is answered with "fetch by TCP", so the answer is complete at any time; while
 * something loads it is written again later. Confined to the agent.
 *
 * <p>An answer may end early: because the message is full, because it has located {@value
 * #MAX_ANSWER_BYTES} bytes, or because memory is full, perhaps of this answer's own ranges. It then
 * has at least one piece, and the reader requests the rest again.
 */
final class AnswerWriter {
  /** Enough for a request of Spark's usual size. */
  static final long MAX_ANSWER_BYTES = 64L << 20;

  private final IndexCache outputs;
  private final FileWindows windows;
  private final CopySlots slots;
  private final boolean registers;
  private final int checksumKind;
  private final boolean computeSums;
  private final ShuffleCounters counters;
  private final Located.Encoder answer = new Located.Encoder();
  private final RecordedChecksums recorded = new RecordedChecksums();
  private final ComputedChecksums computed = new ComputedChecksums();

  /** The answer in progress. */
  private OpenLocate locate;

  private boolean mayLoad;
  private long nowNs;
  private long placedBytes;
  private int piecesFromWindows;
  private int piecesFromSlots;
  private long bytesFromSlots;
  private int sentToTcp;

  /**
   * @param slots null when copying is off
   * @param registers whether files are registered
   * @param checksumKind of the answers
   * @param computeSums for blocks without usable recorded checksums
   */
  AnswerWriter(
      IndexCache outputs,
      FileWindows windows,
      CopySlots slots,
      boolean registers,
      int checksumKind,
      boolean computeSums,
      ShuffleCounters counters) {
    this.outputs = outputs;
    this.windows = windows;
    this.slots = slots;
    this.registers = registers;
    this.checksumKind = checksumKind;
    this.computeSums = computeSums;
    this.counters = counters;
  }

  /**
   * Writes the answer with what is in the caches; holds its ranges by the lease of the LOCATE.
   *
   * @param mayBeginLoads whether missing entries are loaded, for which the LOCATE waits then
   */
  void write(OpenLocate newLocate, boolean mayBeginLoads, long newNowNs) {
    begin(newLocate, newNowNs);
    mayLoad = mayBeginLoads;
    Locate request = locate.request();
    for (int block = 0; block < request.blockCount(); block++) {
      if (!writeBlock(request, block)) {
        return;
      }
    }
  }

  /** Writes that all blocks must be fetched by TCP. */
  void refuseAll(OpenLocate newLocate, Located.Kind kind, long newNowNs) {
    begin(newLocate, newNowNs);
    for (int block = 0; block < locate.request().blockCount(); block++) {
      if (!byTcp(block, kind)) {
        return;
      }
    }
  }

  private void begin(OpenLocate newLocate, long newNowNs) {
    locate = newLocate;
    nowNs = newNowNs;
    placedBytes = 0;
    piecesFromWindows = 0;
    piecesFromSlots = 0;
    bytesFromSlots = 0;
    sentToTcp = 0;
    answer.begin(locate.answer(), locate.request().requestId(), checksumKind);
  }

  /** Ends the answer that was written last, and counts it; returns its length in bytes. */
  int finish(long leaseId, int leaseRemainingMs) {
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, sentToTcp);
    counters.add(Counter.PIECES_FROM_WINDOWS, piecesFromWindows);
    if (piecesFromSlots > 0) {
      counters.add(Counter.PIECES_FROM_SLOTS, piecesFromSlots);
      counters.add(Counter.BYTES_FROM_SLOTS, bytesFromSlots);
    }
    locate = null;
    return answer.finish(leaseId, leaseRemainingMs);
  }

  /** Returns false when the answer must end before the block, or in it. */
  private boolean byTcp(int block, Located.Kind why) {
    if (answer.roomForSums() < 0) {
      return false;
    }
    answer.byTcp(block, why);
    sentToTcp++;
    return true;
  }

  /** The block waits for an entry, or uses TCP because it could not be loaded. */
  private boolean missing(int block, CacheEntry entry) {
    if (entry == null) {
      return byTcp(block, Located.Kind.OVERLOADED);
    }
    if (mayLoad) {
      locate.await(entry);
    }
    return byTcp(block, entry.isFailed() ? Located.Kind.UNKNOWN : Located.Kind.OVERLOADED);
  }

  /** The next bytes of a block cannot be located. */
  private boolean unavailable(int block, CachedRange range) {
    if (range != null && mayLoad) {
      locate.await(range);
    }
    if (range instanceof CopySlots.Copy copy && !copy.lacksMemory()) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    return byTcp(block, mayLoad ? Located.Kind.BUSY : Located.Kind.OVERLOADED);
  }

  private boolean writeBlock(Locate request, int block) {
    int shuffleId = request.shuffleId(block);
    long mapId = request.mapId(block);
    CachedOutput output = outputs.get(shuffleId, mapId);
    if (output == null && mayLoad) {
      output = outputs.load(shuffleId, mapId);
    }
    if (output == null || !output.isReady()) {
      return missing(block, output);
    }
    if (request.endReduceId(block) > output.mapOutput().partitions()) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    return writePieces(request, block, output);
  }

  private boolean writePieces(Locate request, int block, CachedOutput output) {
    MapOutput map = output.mapOutput();
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
    boolean computes = computeSums && (request.freshSums(block) || map.needsSums());
    recorded.begin(map, first, last, start + from);
    // While something is missing the rest is still looked up, so that it loads at the same time.
    boolean complete = true;
    long at = start + from;
    while (at < end) {
      int room = answer.roomForSums();
      if (room < 0 || placedBytes >= MAX_ANSWER_BYTES) {
        return false;
      }
      PieceChecksums sums = recorded;
      if (computes) {
        IndexCache.Sums cells = cellsAt(output, start, end, at);
        if (cells == null || !cells.isReady()) {
          return missing(block, cells);
        }
        computed.begin(start, end, cells.start(), cells.values(), at);
        sums = computed;
      }
      long longest = complete ? sums.endOfFittingSums(at, end, room) : end;
      if (longest == at) {
        return false;
      }
      CachedRange range = rangeAt(output, at, longest);
      if (range == null && placedBytes > 0 && mayLoad) {
        // Perhaps this answer's own ranges use up the memory: the reader releases them first.
        return false;
      }
      if (range == null || range.isFailed()) {
        return !complete || unavailable(block, range);
      }
      int length = (int) Math.min(longest - at, range.offset() + range.lengthBytes() - at);
      if (range.isReady() && complete) {
        locate.lease().hold(range);
        writePiece(block, range, start, end, at, length, sums);
      } else if (complete) {
        complete = false;
        if (!missing(block, range)) {
          return false;
        }
      } else if (range.isLoading() && mayLoad) {
        locate.await(range);
      }
      placedBytes += length;
      at += length;
    }
    return true;
  }

  /** Computed checksums of the cells at an offset; null when they may not be computed. */
  private IndexCache.Sums cellsAt(CachedOutput output, long start, long end, long at) {
    long groupStart = ComputedChecksums.groupStart(start, at);
    long groupEnd = Math.min(end, groupStart + ComputedChecksums.GROUP_BYTES);
    return mayLoad
        ? outputs.sums(output, groupStart, groupEnd)
        : output.sums(groupStart, groupEnd - groupStart);
  }

  /** The range with the next bytes of a block; null when there is no memory for it. */
  private CachedRange rangeAt(CachedOutput output, long at, long end) {
    CachedRange range = registers ? windows.window(output, at, mayLoad, nowNs) : null;
    return range == null && slots != null
        ? slots.copy(output, at, end - at, mayLoad, nowNs)
        : range;
  }

  private void writePiece(
      int block,
      CachedRange range,
      long start,
      long end,
      long at,
      int lengthBytes,
      PieceChecksums sums) {
    int count = sums.countUntil(at + lengthBytes);
    answer.located(
        block,
        range.address() + (at - range.offset()),
        range.remoteKey(),
        lengthBytes,
        at - start,
        end - start,
        count);
    if (range.isCopy()) {
      answer.markCopied();
      piecesFromSlots++;
      bytesFromSlots += lengthBytes;
    } else {
      piecesFromWindows++;
    }
    sums.write(answer, start, count);
  }

  private boolean writeEmpty(int block) {
    if (answer.roomForSums() < 0) {
      return false;
    }
    answer.located(block, 0, 0, 0, 0, 0, 0);
    return true;
  }
}
