// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** Receives the results of a request by the index of the block, in the place of Spark and TCP. */
public interface FetchHandler {
  /** A block was delivered; the request releases its reference afterwards. */
  void onFetched(int index, ManagedBuffer buffer);

  /** A block was handed to TCP. */
  void onFailed(int index, FallbackReason reason, String detail);

  /**
   * A block is handed to TCP for the time that it takes.
   *
   * @param to takes that time in nanoseconds
   */
  default void onProbe(LongConsumer to) {}

  /** Spark's client, which fetches blocks whose checksum differs. */
  default BlockStoreClient spark() {
    return null;
  }

  /** Counters of the reader. */
  default ShuffleCounters counters() {
    return new ShuffleCounters();
  }

  /** Reader of the blocks. */
  default FetchingTask reader() {
    return new FetchingTask(null);
  }

  /** Map outputs of which the reader knows wrong checksums. */
  default UnusableChecksums unusable() {
    return new UnusableChecksums();
  }

  /** A request with this handler that is not begun. */
  private static FetchRequest notBegun(
      String executorId, List<BlockRange> blocks, FetchHandler handler) {
    String[] names = new String[blocks.size()];
    for (int i = 0; i < names.length; i++) {
      names[i] = Integer.toString(i);
    }
    BlockRanges ranges = new BlockRanges(blocks.size());
    blocks.forEach(
        block ->
            ranges.add(
                block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId()));
    FetchRequest.Fallback failed =
        (request, indexes, reason, detail) -> {
          if (request.probed() != null) {
            handler.onProbe(request.probed()::add);
          }
          Arrays.stream(indexes).forEach(i -> handler.onFailed(i, reason, detail));
        };
    return new FetchRequest(
        new FetchContext(
            handler.spark(),
            failed,
            handler.counters(),
            true,
            1,
            handler.unusable(),
            new FallbackLog(),
            new MissingLinks()),
        new BlockManagerAddress(executorId, "host", 1),
        names,
        ranges,
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String name, ManagedBuffer buffer) {
            handler.onFetched(Integer.parseInt(name), buffer);
          }

          @Override
          public void onBlockFetchFailure(String name, Throwable failure) {
            throw new AssertionError("block " + name, failure);
          }
        },
        handler.reader());
  }

  /** A request of a peer that is begun with nothing. */
  static FetchRequest request(Endpoint peer, List<BlockRange> blocks, FetchHandler handler) {
    FetchRequest request = notBegun(peer.executorId(), blocks, handler);
    request.fetchByRdma(begun -> {}, peer);
    return request;
  }

  /** Fetches blocks. */
  static void fetch(
      BlockTransport transport, Endpoint peer, List<BlockRange> blocks, FetchHandler handler) {
    fetchOf(peer.executorId(), transport, peer, blocks, handler);
  }

  /** Fetches blocks of an executor, which another one serves. */
  static void fetchOf(
      String executorId,
      BlockTransport transport,
      Endpoint standIn,
      List<BlockRange> blocks,
      FetchHandler handler) {
    notBegun(executorId, blocks, handler).fetchByRdma(transport, standIn);
  }
}
