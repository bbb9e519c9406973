// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import com.codahale.metrics.Meter;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkConf;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.network.shuffle.protocol.BlockTransferMessage;
import org.apache.spark.network.shuffle.protocol.GetLocalDirsForExecutors;
import org.apache.spark.network.util.TransportConf;
import scala.Option;

/**
 * Spark's external shuffle service in this JVM, on all its addresses. It also merges pushed blocks,
 * like the service in YARN. Safe for any thread; closed by its creator after the application.
 */
public final class ShuffleService implements AutoCloseable {
  private static final int THREADS = 2;

  private final Merging merging;
  private final ExternalBlockHandler handler;
  private final TransportContext context;
  private final TransportServer server;
  private final AtomicInteger directoriesAsked = new AtomicInteger();

  private ShuffleService(TransportConf conf) throws IOException {
    merging = new Merging(conf);
    handler =
        new ExternalBlockHandler(conf, null, merging) {
          @Override
          protected void handleMessage(
              BlockTransferMessage message, TransportClient client, RpcResponseCallback answer) {
            if (message instanceof GetLocalDirsForExecutors) {
              directoriesAsked.incrementAndGet();
            }
            super.handleMessage(message, client, answer);
          }
        };
    context = new TransportContext(conf, handler);
    server = context.createServer();
  }

  /** Starts a service on a free port. */
  public static ShuffleService start(SparkConf conf) throws IOException {
    return new ShuffleService(
        SparkTransportConf.fromSparkConf(conf, "shuffle", THREADS, Option.empty(), Option.empty()));
  }

  public int port() {
    return server.getPort();
  }

  /** Requested bytes, including merged blocks. */
  public long bytesServed() {
    return ((Meter) handler.getAllMetrics().getMetrics().get("blockTransferRateBytes")).getCount();
  }

  /** Number of requests for directories of executors. */
  public int directoriesAsked() {
    return directoriesAsked.get();
  }

  /** Whether requests for merged blocks fail from now on. */
  public void rejectMerged(boolean rejects) {
    merging.rejectsMerged = rejects;
  }

  /** Requested merged chunks. */
  public int chunksServed() {
    return merging.chunks.get();
  }

  /** Bytes of the requested merged chunks. */
  public long chunkBytesServed() {
    return merging.chunkBytes.get();
  }

  /** Number of requests for the list of merged blocks. */
  public int metaAsked() {
    return merging.metas.get();
  }

  @Override
  public void close() {
    server.close();
    context.close();
  }

  private static final class Merging extends RemoteBlockPushResolver {
    private final AtomicInteger chunks = new AtomicInteger();
    private final AtomicLong chunkBytes = new AtomicLong();
    private final AtomicInteger metas = new AtomicInteger();
    private volatile boolean rejectsMerged;

    Merging(TransportConf conf) throws IOException {
      super(conf, null);
    }

    @Override
    public MergedBlockMeta getMergedBlockMeta(
        String appId, int shuffleId, int shuffleMergeId, int reduceId) {
      metas.incrementAndGet();
      if (rejectsMerged) {
        throw new IllegalStateException("merged blocks are rejected");
      }
      return super.getMergedBlockMeta(appId, shuffleId, shuffleMergeId, reduceId);
    }

    @Override
    public ManagedBuffer getMergedBlockData(
        String appId, int shuffleId, int shuffleMergeId, int reduceId, int chunkId) {
      ManagedBuffer chunk =
          super.getMergedBlockData(appId, shuffleId, shuffleMergeId, reduceId, chunkId);
      chunks.incrementAndGet();
      chunkBytes.addAndGet(chunk.size());
      return chunk;
    }
  }
}
