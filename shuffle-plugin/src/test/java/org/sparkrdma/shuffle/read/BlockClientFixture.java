// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** The client of a task, over doubles of the transport, the directory and Spark's own client. */
@Timeout(30)
abstract class BlockClientFixture {
  static final Endpoint PEER = Endpoints.of("7", "host7", 1);
  static final String HOST = "host7";

  final FakeSparkClient spark = new FakeSparkClient();
  final Map<String, CompletableFuture<Optional<Endpoint>>> directory = new HashMap<>();
  final ShuffleCounters counters = new ShuffleCounters();
  final AtomicInteger rechecks = new AtomicInteger();
  final FallbackThreads tcp = new FallbackThreads(request -> rechecks.incrementAndGet());
  final FetchContext context = new FetchContext(spark, tcp, counters, true, 1, new FallbackLog());
  final RecordingListener listener = new RecordingListener();
  final RdmaReads reads = new RdmaReads(context, this::find, () -> {});

  /** The one in use now. */
  FakeTransport transport = new FakeTransport();

  BlockClientFixture() {
    reads.useRdma(transport);
    context.missing().setEnd(reason -> reads.use(RdmaReads.Way.SPARKS));
  }

  @BeforeEach
  void start() {
    tcp.start();
  }

  @AfterEach
  void close() {
    tcp.close();
  }

  void rdmaIsUp() {
    directory.put("7", CompletableFuture.completedFuture(Optional.of(PEER)));
  }

  CompletableFuture<Optional<Endpoint>> find(BlockManagerAddress peer, int stage) {
    return directory.get(peer.executorId());
  }

  void fetch(String... blockIds) {
    client().fetchBlocks(HOST, 7_337, "7", blockIds, listener, null);
  }

  RdmaBlockClient client() {
    return reads.client(new FetchingTask(null));
  }

  /** Keeps requests for the test to answer. */
  static final class FakeTransport implements BlockTransport {
    final List<FetchRequest> requests = new ArrayList<>();

    /** Called with each request. */
    Consumer<FetchRequest> fetched = request -> {};

    /** Calls that follow a fetch. */
    final List<String> informed = new ArrayList<>();

    @Override
    public synchronized void fetch(FetchRequest request) {
      requests.add(request);
      fetched.accept(request);
    }

    @Override
    public void onSettled(FetchRequest request) {
      informed.add("settled");
    }

    @Override
    public void onCorruptData(FetchRequest request) {
      informed.add("corrupt");
    }
  }
}
