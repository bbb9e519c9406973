// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.ReaderBlocks;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.transport.Identity;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.transport.TransportEnvironment;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * A server and a reader of map outputs on two loopback devices, and the reader's block client for
 * Spark's fetcher.
 */
final class ReadingPair implements AutoCloseable {
  private final End server;
  private final End reader;
  private final FallbackThreads tcp;
  private final RdmaBlockClient client;

  /**
   * @param faults fault plan of the reader's loopback engine
   */
  ReadingPair(MapOutputs outputs, FakeSparkClient spark, String faults) throws VerbsException {
    server = new End(outputs, 1, "");
    reader = new End(new NoOutputs(), 2, faults);
    tcp = new FallbackThreads(() -> {});
    tcp.start();
    client =
        new RdmaBlockClient(
                new FetchContext(spark, tcp, reader.counters, true, 1, new FallbackLog()),
                () -> reader.transport,
                executorId ->
                    CompletableFuture.completedFuture(Optional.of(server.transport.endpoint())),
                () -> true)
            .forReader(new ReaderBlocks(null));
  }

  /** Fetches blocks like Spark's iterator; returns when all are answered. */
  Answers fetch(List<String> blockIds) throws InterruptedException, IOException {
    Answers answers = new Answers(blockIds.size());
    client.fetchBlocks("host", 1, "1", blockIds.toArray(String[]::new), answers, null);
    return answers.await();
  }

  /** A counter of the reader. */
  long count(Counter counter) {
    return reader.counters.value(counter);
  }

  long count(FallbackReason reason) {
    return reader.counters.value(reason);
  }

  /** Number of all blocks by TCP, for any reason. */
  long fallbacks() {
    long all = 0;
    for (FallbackReason reason : FallbackReason.values()) {
      all += count(reason);
    }
    return all;
  }

  @Override
  public void close() {
    tcp.close();
    reader.close();
    server.close();
  }

  /** Has no map outputs. */
  private static final class NoOutputs implements MapOutputs {
    @Override
    public MapOutput open(int shuffleId, long mapId) {
      return null;
    }

    @Override
    public List<Path> directories() {
      return List.of();
    }
  }

  /** A transport and its resources. */
  private static final class End implements AutoCloseable {
    private final ShuffleCounters counters = new ShuffleCounters();
    private final PinnedBudget budget = new PinnedBudget(64L << 20, 4_096);
    private final VerbsEngine engine;
    private final Device device;
    private final RdmaTransport transport;

    End(MapOutputs outputs, int number, String faults) throws VerbsException {
      engine = Verbs.choose("soft", EngineSettings.of(Map.of("soft.faults", faults))).engine();
      device = engine.open(engine.devices().get(0).name());
      transport =
          RdmaTransport.open(
              new TransportSettings(
                  8L << 20,
                  64 << 10,
                  16L << 20,
                  Duration.ofSeconds(5),
                  Duration.ofSeconds(10),
                  Duration.ofMinutes(1),
                  Duration.ofMillis(1),
                  Duration.ofMinutes(1),
                  16,
                  16,
                  new PacketSettings(OptionalInt.empty(), 17, 6),
                  false,
                  0,
                  false),
              new ServeSettings(
                  ServeSettings.Mode.AUTO,
                  1 << 20,
                  1 << 20,
                  4,
                  Duration.ofMinutes(1),
                  100,
                  1024,
                  Duration.ofMinutes(1),
                  true),
              new TransportEnvironment(
                  device,
                  budget,
                  outputs,
                  List.of(NetworkAddress.ofHost(InetAddress.getLoopbackAddress())),
                  0,
                  addresses ->
                      new Identity(
                          new Endpoint(
                              Integer.toString(number),
                              addresses,
                              "soft",
                              Messages.PROTOCOL,
                              number,
                              new byte[Endpoint.TOKEN_BYTES]),
                          new byte[0]),
                  reason -> {},
                  counters,
                  System::nanoTime));
    }

    @Override
    public void close() {
      transport.close();
      device.close();
      engine.close();
      budget.close();
    }
  }
}
