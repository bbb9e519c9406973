// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.benchmarks.transfer.ExecutorAddress;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.transport.RdmaTransport;
import org.sparkrdma.shuffle.transport.TransportEnvironment;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;

/**
 * Further transports in the serving executor. Each has a device, an agent, a block server and an
 * endpoint of its own in the driver's directory, and serves the map outputs of that executor, so
 * that the client has as many peers. They stay open from round to round. Safe for any thread.
 */
final class FurtherPeers {
  private static final String ID = "benchmark-peer-";
  private static final long PUBLISH_SECONDS = 60;
  private static final long PAGE_BYTES = 4096;

  private static final Deque<AutoCloseable> RESOURCES = new ArrayDeque<>();
  private static final List<RdmaTransport> TRANSPORTS = new ArrayList<>();

  private FurtherPeers() {}

  /** The server and as many of its further transports that there are {@code count} in all. */
  static List<ExecutorAddress> with(ExecutorAddress server, int count) {
    List<ExecutorAddress> peers = new ArrayList<>(List.of(server));
    for (int i = 1; i < count; i++) {
      peers.add(new ExecutorAddress(ID + i, server.host(), server.port()));
    }
    return peers;
  }

  /** Opens and publishes further ones until there are this many. */
  static synchronized void open(SparkEnv env, int count) throws IOException, InterruptedException {
    if (TRANSPORTS.size() >= count) {
      return;
    }
    ShuffleSettings settings = ShuffleSettings.of(env.conf());
    DirectoryClient directory =
        keep(new DirectoryClient(env, settings.lookupTimeout(), new ControlThread()));
    VerbsEngine engine = keep(Verbs.choose(settings.engine(), settings.engineSettings()).engine());
    while (TRANSPORTS.size() < count) {
      String executorId = ID + (TRANSPORTS.size() + 1);
      try {
        TRANSPORTS.add(open(env, settings, engine, executorId));
      } catch (VerbsException e) {
        throw new IOException("could not open the transport of " + executorId, e);
      }
      publish(directory, TRANSPORTS.get(TRANSPORTS.size() - 1).endpoint());
    }
  }

  private static void publish(DirectoryClient directory, Endpoint endpoint)
      throws IOException, InterruptedException {
    try {
      if (!directory.publish(endpoint).get(PUBLISH_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("the driver refused the endpoint of " + endpoint.executorId());
      }
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("could not publish the endpoint of " + endpoint.executorId(), e);
    }
  }

  private static RdmaTransport open(
      SparkEnv env, ShuffleSettings settings, VerbsEngine engine, String executorId)
      throws VerbsException, IOException {
    long pinnedBytes = settings.pinnedMaxBytes().orElseThrow();
    PinnedBudget budget = new PinnedBudget(pinnedBytes, PAGE_BYTES);
    Device device = keep(engine.open(engine.devices().get(0).name()));
    keep(budget);
    SecureRandom random = new SecureRandom();
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    random.nextBytes(token);
    long incarnation = random.nextLong();
    String host = env.blockManager().blockManagerId().host();
    return keep(
        RdmaTransport.open(
            settings.transport(pinnedBytes),
            settings.serve(),
            new TransportEnvironment(
                device,
                budget,
                new SparkMapOutputs(
                    (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
                    Stream.of(env.blockManager().diskBlockManager().localDirsString())
                        .map(Path::of)
                        .toList(),
                    env.conf()),
                List.of(NetworkAddress.ofHost(InetAddress.getByName(host))),
                settings.listenPort(),
                0,
                addresses ->
                    new Endpoint(
                        executorId,
                        addresses,
                        device.info().engine(),
                        Hello.PROTOCOL,
                        incarnation,
                        token),
                new byte[0],
                settings.trustedFabric(),
                reason -> {},
                new ShuffleCounters(),
                System::nanoTime)));
  }

  private static <T extends AutoCloseable> T keep(T resource) {
    RESOURCES.push(resource);
    return resource;
  }

  static synchronized void unregisterShuffle(int shuffleId) {
    TRANSPORTS.forEach(transport -> transport.unregisterShuffle(shuffleId, () -> {}));
  }

  /** Closes all. */
  static synchronized void close() throws IOException {
    TRANSPORTS.clear();
    while (!RESOURCES.isEmpty()) {
      try {
        RESOURCES.pop().close();
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IOException("could not close", e);
      }
    }
  }
}
