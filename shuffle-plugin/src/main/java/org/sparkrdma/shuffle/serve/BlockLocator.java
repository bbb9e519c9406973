// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Locates single blocks for the parts of LOCATEs: opens the map output, loads the offsets of the
 * block, writes its pieces. Used with the server's lock.
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
   * Locates a block, as far as the part may. When the part is abandoned meanwhile, the request must
   * not be read any more.
   *
   * @return {@link #NEXT}, {@link #FULL} or the disk that is needed
   */
  int locate(LocatePart part, int block, long from) {
    Locate request = part.task().request();
    int shuffleId = request.shuffleId(block);
    long mapId = request.mapId(block);
    if (!part.uses(shuffleId, mapId)) {
      ServedOutput output = outputs.cached(shuffleId, mapId);
      if (output == null) {
        part.use(null);
        int indexDisk = outputs.indexDisk(shuffleId, mapId);
        if (part.disk() != indexDisk) {
          return indexDisk;
        }
        output = outputs.open(shuffleId, mapId);
        if (part.isAbandoned()) {
          return NEXT;
        }
      }
      part.use(output);
    }
    ServedOutput output = part.output();
    if (output != null && !isLoaded(output, request, block)) {
      int indexDisk = outputs.indexDisk(shuffleId, mapId);
      if (part.disk() != indexDisk) {
        return indexDisk;
      }
      boolean loaded = load(output, request, block);
      if (part.isAbandoned()) {
        return NEXT;
      }
      output = loaded ? output : null;
    }
    return write(part, block, from, output);
  }

  private static int write(LocatePart part, int block, long from, ServedOutput output) {
    Locate request = part.task().request();
    BlockWriter.Step step =
        output == null || request.endReduceId(block) > output.mapOutput().partitions()
            ? part.writer().byTcp(block, Located.Kind.UNKNOWN)
            : part.writer()
                .block(
                    block,
                    output,
                    request.startReduceId(block),
                    request.endReduceId(block),
                    from,
                    request.freshSums(block),
                    part.disk() == output.disk());
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

  /** Whether the part has pieces of a block that another disk is needed for. */
  static boolean hasBegun(LocatePart part, WaitingBlock block) {
    return reachedIn(part, block.index(), block.from()) > block.from();
  }

  /** The offset up to which a part has located a block that it began at an offset. */
  static long reachedIn(LocatePart part, int block, long from) {
    Locate request = part.task().request();
    return part.uses(request.shuffleId(block), request.mapId(block))
            && isLoaded(part.output(), request, block)
        ? part.writer().reached()
        : from;
  }
}
