// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.output.ExtentChecksums;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.RecordedChecksums;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Writes the answer to a LOCATE from the caches, and begins to load what is missing there. A LOCATE
 * is written at most twice: when it arrives, and if something must be loaded, again when nothing
 * loads any more or at its deadline. Confined to the agent.
 *
 * <p>An answer may leave out blocks, or the rest of one: because the message is full, because it
 * has located {@value Located#MAX_LOCATED_BYTES} bytes, or because memory is full, perhaps of this
 * answer's own ranges. It then has at least one extent, and the reader requests the rest again. A
 * block that is missing otherwise is answered with "fetch by TCP".
 */
final class AnswerWriter {
  private final IndexCache outputs;
  private final FileWindows windows;
  private final CopyPool copies;
  private final boolean registers;
  private final int checksumKind;
  private final boolean computeSums;
  private final ShuffleCounters counters;
  private final Located.Encoder answer = new Located.Encoder();
  private final RecordedChecksums recorded = new RecordedChecksums();
  private final ComputedChecksums computed = new ComputedChecksums();

  /** How the writing of a block has ended. */
  private enum Result {
    /** As far as this answer has something to say about it. */
    WRITTEN,
    /** Its next bytes are not in the caches. */
    MISSING,
    /** The answer has no room for more. */
    FULL
  }

  /** The answer in progress. */
  private OpenLocate locate;

  private long nowNs;
  private long placedBytes;
  private int extentsFromWindows;
  private int extentsFromCopies;
  private long bytesFromCopies;
  private int emptyBlocks;
  private int sentToTcp;

  /**
   * @param copies null when copying is off
   * @param registers whether files are registered
   * @param checksumKind of the answers
   * @param computeSums for blocks without usable recorded checksums
   */
  AnswerWriter(
      IndexCache outputs,
      FileWindows windows,
      CopyPool copies,
      boolean registers,
      int checksumKind,
      boolean computeSums,
      ShuffleCounters counters) {
    this.outputs = outputs;
    this.windows = windows;
    this.copies = copies;
    this.registers = registers;
    this.checksumKind = checksumKind;
    this.computeSums = computeSums;
    this.counters = counters;
  }

  /**
   * Writes the answer with what is in the caches; holds its ranges by the lease of the LOCATE. If
   * something loads then, the answer is not complete, and must be written again.
   */
  void write(OpenLocate newLocate, long newNowNs) {
    beginAnswer(newLocate, newNowNs);
    boolean overdue = nowNs - locate.deadlineNs() >= 0;
    boolean mayLoad = locate.isNew() && !overdue;
    int blocks = locate.request().blockCount();
    Result result = Result.WRITTEN;
    for (int block = 0; block < blocks && result != Result.FULL; block++) {
      result = locate.loading() > 0 ? Result.MISSING : writeBlock(block);
      if (result == Result.MISSING && mayLoad) {
        load(locate, block, nowNs);
      }
      if (result == Result.MISSING && locate.loading() == 0) {
        result = writeMissing(block, overdue);
      }
    }
    boolean empty = placedBytes == 0 && emptyBlocks == 0 && sentToTcp == 0;
    if (empty && locate.loading() == 0) {
      allByTcp(locate.keepsRemoved() ? Located.Kind.UNKNOWN : Located.Kind.BUSY);
    }
  }

  /** Nothing that the block needs loads. */
  private Result writeMissing(int block, boolean overdue) {
    if (overdue) {
      return byTcp(block, Located.Kind.OVERLOADED);
    }
    if (!locate.isNew()) {
      // Others of this LOCATE have the memory, or fill the answer, whatever their order.
      return Result.WRITTEN;
    }
    // Perhaps this answer's own ranges use up the memory: the reader releases them first.
    return placedBytes > 0 || emptyBlocks > 0 ? Result.FULL : byTcp(block, Located.Kind.BUSY);
  }

  /** Writes that all blocks must be fetched by TCP. */
  void refuseAll(OpenLocate newLocate, Located.Kind kind, long newNowNs) {
    beginAnswer(newLocate, newNowNs);
    allByTcp(kind);
  }

  private void allByTcp(Located.Kind kind) {
    for (int block = 0; block < locate.request().blockCount(); block++) {
      byTcp(block, kind);
    }
  }

  private void beginAnswer(OpenLocate newLocate, long newNowNs) {
    locate = newLocate;
    locate.beginAnswer();
    nowNs = newNowNs;
    placedBytes = 0;
    extentsFromWindows = 0;
    extentsFromCopies = 0;
    bytesFromCopies = 0;
    emptyBlocks = 0;
    sentToTcp = 0;
    answer.begin(locate.answer(), locate.request().requestId(), checksumKind);
  }

  /** Ends the answer that was written last, and counts it; returns its length in bytes. */
  int finish(long leaseId, int leaseRemainingMs) {
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, sentToTcp);
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
    sentToTcp++;
    return Result.WRITTEN;
  }

  private Result writeBlock(int block) {
    Locate request = locate.request();
    CachedOutput output =
        outputs.get(request.owner(), request.shuffleId(block), request.mapId(block));
    if (output == null || output.isLoading() || output.hasNoRoom()) {
      return Result.MISSING;
    }
    if (output.isFailed() || request.endReduceId(block) > output.mapOutput().partitions()) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    return writeExtents(request, block, output);
  }

  private Result writeExtents(Locate request, int block, CachedOutput output) {
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
    long at = start + from;
    boolean computes = computes(request, block, map);
    recorded.begin(map, first, last, at);
    while (at < end) {
      int room = answer.roomForSums();
      if (room < 0 || placedBytes >= Located.MAX_LOCATED_BYTES) {
        return Result.FULL;
      }
      ExtentChecksums sums = recorded;
      if (computes) {
        IndexCache.Sums cells = output.sums(start, end, at);
        if (cells == null || !cells.isReady()) {
          return missing(block, cells, false);
        }
        computed.begin(start, end, cells.start(), cells.values(), at);
        sums = computed;
      }
      long longest = sums.endOfFittingSums(at, end, room);
      if (longest == at) {
        return Result.FULL;
      }
      CachedRange range = rangeAt(output, at, longest, false, nowNs);
      if (range == null || !range.isReady()) {
        return missing(block, range, range != null && range.lacksMemory());
      }
      int length = (int) Math.min(longest - at, range.offset() + range.lengthBytes() - at);
      locate.lease().hold(range);
      writeExtent(block, range, start, end, at, length, sums);
      locate.addWanted(length);
      placedBytes += length;
      at += length;
    }
    return Result.WRITTEN;
  }

  /** The next bytes of a block are not ready; null when they are not even in a cache. */
  private Result missing(int block, CacheEntry entry, boolean lacksMemory) {
    boolean unreadable = entry != null && entry.isFailed() && !lacksMemory;
    return unreadable ? byTcp(block, Located.Kind.UNKNOWN) : Result.MISSING;
  }

  private boolean computes(Locate request, int block, MapOutput map) {
    return computeSums && (request.freshSums(block) || map.needsSums());
  }

  /**
   * Begins to load what is missing of a block, and keeps what is there until the answer, which
   * locates at most {@link Located#MAX_LOCATED_BYTES}.
   */
  void load(OpenLocate waiting, int block, long timeNs) {
    Locate request = waiting.request();
    CachedOutput output =
        outputs.getOrLoad(request.owner(), request.shuffleId(block), request.mapId(block));
    if (!output.isReady()) {
      waiting.keep(output, block, 0);
      return;
    }
    MapOutput map = output.mapOutput();
    int last = request.endReduceId(block);
    if (last > map.partitions()) {
      return;
    }
    if (outputs.mayKeep(output, output.partitions())) {
      waiting.keep(output, block, 0);
    }
    long start = map.offset(request.startReduceId(block));
    long end = map.offset(last);
    long at = start + Math.min(request.startOffset(block), end - start);
    while (at < end && waiting.wantedBytes() < Located.MAX_LOCATED_BYTES) {
      if (computes(request, block, map)) {
        waiting.keep(outputs.sums(output, start, end, at), block, 0);
      }
      CachedRange range = rangeAt(output, at, end, true, timeNs);
      if (range == null) {
        return;
      }
      long next = Math.min(end, range.offset() + range.lengthBytes());
      waiting.keep(range, block, next - at);
      at = next;
    }
  }

  /** The range with the next bytes of a block; null when there is no memory for it. */
  private CachedRange rangeAt(
      CachedOutput output, long at, long end, boolean mayLoad, long timeNs) {
    CachedRange range = registers ? windows.window(output, at, mayLoad, timeNs) : null;
    return range == null && copies != null
        ? copies.copy(output, at, end - at, mayLoad, timeNs)
        : range;
  }

  private void writeExtent(
      int block,
      CachedRange range,
      long start,
      long end,
      long at,
      int lengthBytes,
      ExtentChecksums sums) {
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
      extentsFromCopies++;
      bytesFromCopies += lengthBytes;
    } else {
      extentsFromWindows++;
    }
    sums.write(answer, start, count);
  }

  private Result writeEmpty(int block) {
    if (answer.roomForSums() < 0) {
      return Result.FULL;
    }
    answer.located(block, 0, 0, 0, 0, 0, 0);
    emptyBlocks++;
    return Result.WRITTEN;
  }
}
