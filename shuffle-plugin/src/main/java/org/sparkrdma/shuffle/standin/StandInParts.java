// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointCache;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * What an executor uses of this package: with the external shuffle service all of it, without it
 * nothing. Safe for any thread.
 */
public final class StandInParts {
  /** Maximum wait of blocks for an answer of the service. */
  private static final Duration SERVICE_LIMIT = Duration.ofSeconds(5);

  private final EndpointCache endpoints;
  private final FallbackThreads tcp = new FallbackThreads(this::onFault);

  /** Null without the service, as the next one. */
  private final StandIns standIns;

  private final ServiceDirectories service;

  /** Those of an executor. */
  public StandInParts(SparkEnv env, EndpointCache endpoints) {
    BlockManager blocks = env.blockManager();
    this.endpoints = endpoints;
    if (!blocks.externalShuffleServiceEnabled()) {
      standIns = null;
      service = null;
      return;
    }
    standIns = new StandIns(endpoints, env.executorId(), System::nanoTime);
    service =
        new ServiceDirectories(
            blocks.blockStoreClient(),
            blocks::shuffleServerId,
            work -> tcp.tryRun(ServiceDirectories.class.getName(), work),
            () -> Mounts.of(new SystemFiles(Path.of("/"))),
            Stream.of(blocks.diskBlockManager().localDirsString()).map(Path::of).toList(),
            System::nanoTime,
            SERVICE_LIMIT);
  }

  /** Threads of blocks that RDMA cannot fetch; not started. */
  public FallbackThreads tcp() {
    return tcp;
  }

  private void onFault(FetchRequest request) {
    if (standIns != null) {
      standIns.onFault(request.endpoint());
    }
    endpoints.recheck();
  }

  /** Same as {@link StandIns#find}; without the service as {@link EndpointCache#find}. */
  public CompletableFuture<Optional<Endpoint>> find(BlockManagerAddress peer, int stage) {
    return standIns == null ? endpoints.find(peer.executorId()) : standIns.find(peer, stage);
  }

  /** The map outputs that this executor serves. */
  public MapOutputs served(SparkMapOutputs own) {
    return service == null ? own : new StandInOutputs(own, service);
  }
}
