// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Locates single blocks of LOCATEs, in lanes: opens the map output, loads the offsets of the block,
 * writes its pieces. Used with the server's lock.
 */
final class BlockLocator {
  /** The block is answered. */
  static final int NEXT = -1;

  /** The answer must end. */
  static final int FULL = -2;

  private static final Logger LOG = LoggerFactory.getLogger(BlockLocator.class);

  private final ServedOutputs outputs;

  BlockLocator(ServedOutputs outputs) {
    this.outputs = outputs;
  }

  /**
   * Locates a block, as far as the lane may. When the lane is abandoned meanwhile, the request must
   * not be read any more.
   *
   * @return {@link #NEXT}, {@link #FULL} or the disk that is needed
   */
  int locate(LocateLane lane, int block, long from) {
    Locate request = lane.task().request();
    int shuffleId = request.shuffleId(block);
    long mapId = request.mapId(block);
    if (!lane.uses(shuffleId, mapId)) {
      ServedOutput output = outputs.cached(shuffleId, mapId);
      if (output == null) {
        lane.use(null);
        int indexDisk = outputs.indexDisk(shuffleId, mapId);
        if (lane.disk() != indexDisk) {
          return indexDisk;
        }
        output = outputs.open(shuffleId, mapId);
        if (lane.isAbandoned()) {
          return NEXT;
        }
      }
      lane.use(output);
    }
    ServedOutput output = lane.output();
    if (output != null && !isLoaded(output, request, block)) {
      int indexDisk = outputs.indexDisk(shuffleId, mapId);
      if (lane.disk() != indexDisk) {
        return indexDisk;
      }
      boolean loaded = load(output, request, block);
      if (lane.isAbandoned()) {
        return NEXT;
      }
      output = loaded ? output : null;
    }
    return write(lane, block, from, output);
  }

  private static int write(LocateLane lane, int block, long from, ServedOutput output) {
    Locate request = lane.task().request();
    BlockWriter.Step step =
        output == null || request.endReduceId(block) > output.mapOutput().partitions()
            ? lane.writer().byTcp(block, Located.Kind.UNKNOWN)
            : lane.writer()
                .block(
                    block,
                    output,
                    request.startReduceId(block),
                    request.endReduceId(block),
                    from,
                    request.freshSums(block),
                    lane.disk() == output.disk());
    return switch (step) {
      case NEXT -> NEXT;
      case FULL -> FULL;
      case NEEDS_DISK -> output.disk();
    };
  }

  private static boolean isLoaded(ServedOutput output, Locate request, int i) {
    return request.endReduceId(i) > output.mapOutput().partitions()
        || output.mapOutput().isLoaded(request.startReduceId(i), request.endReduceId(i));
  }

  private boolean load(ServedOutput output, Locate request, int i) {
    try {
      outputs.load(output, request.startReduceId(i), request.endReduceId(i));
      return true;
    } catch (IOException e) {
      LOG.trace("Index cannot be read; the reader uses TCP", e);
      return false;
    }
  }

  /** Whether the lane has pieces of a block that another disk is needed for. */
  static boolean hasBegun(LocateLane lane, WaitingBlock block) {
    return reachedIn(lane, block.index(), block.from()) > block.from();
  }

  /** The offset up to which a lane has located a block that it began at an offset. */
  static long reachedIn(LocateLane lane, int block, long from) {
    Locate request = lane.task().request();
    return lane.uses(request.shuffleId(block), request.mapId(block))
            && isLoaded(lane.output(), request, block)
        ? lane.writer().reached()
        : from;
  }
}
