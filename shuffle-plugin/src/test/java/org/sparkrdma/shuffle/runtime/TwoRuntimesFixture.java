// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RunningParts.OpenDevice;
import org.sparkrdma.shuffle.runtime.RunningParts.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import scala.Option;

/** Two runtimes with real transports on one scripted device; one reads a block of the other. */
@Tag("slow")
abstract class TwoRuntimesFixture extends RuntimeFixture {
  private static final int SHUFFLE = 0;
  private static final long MAP = 1;
  private static final int BYTES = 100_000;

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  final ScriptedLibrary library = DEVICE.library();
  final byte[] content = new byte[BYTES];
  private ScriptedHost host;
  Started reader;
  Started server;

  /** A runtime, and its transport of the last start. */
  final class Started implements TransportStart {
    private final TransportStart real;
    final RdmaRuntime runtime;
    private volatile StartedTransport transport;

    Started() {
      SparkEnv env = SparkEnv.get();
      Map<String, String> set =
          Map.of(
              // The scripted device reads the memory of this process only, not mapped files.
              "spark.shuffle.rdma.serve",
              "copy",
              // A READ that the device holds must not time out, however busy this machine is.
              "spark.shuffle.rdma.request.timeout",
              "10min");
      real =
          RunningParts.rdmaTransports(
              env, resolver(), ShuffleSettings.of(set), new ShuffleCounters());
      runtime = runtime((name, settings) -> choose(), this, List.of());
      runtime.start();
      runtime.require(WAIT);
    }

    @Override
    public StartedTransport start(OpenDevice open) throws VerbsException {
      transport = real.start(open);
      return transport;
    }

    boolean isLost() {
      return runtime.state() != State.UP;
    }

    void awaitReturn() {
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
    }
  }

  /** The only answer of a block: its bytes, or the reason why it uses TCP. */
  private static final class Answer implements FetchHandler {
    private final CompletableFuture<Object> answer = new CompletableFuture<>();

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      try (InputStream in = buffer.createInputStream()) {
        answer.complete(in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answer.complete(reason);
    }
  }

  @BeforeEach
  void startTwo() throws IOException {
    host = new ScriptedHost(root).withDeviceFiles();
    firstRestart = Duration.ofMillis(1);
    new Random(1).nextBytes(content);
    Files.write(resolver().getDataFile(SHUFFLE, MAP).toPath(), content);
    Files.write(
        resolver().getIndexFile(SHUFFLE, MAP, Option.empty()).toPath(),
        ByteBuffer.allocate(2 * Long.BYTES).putLong(0).putLong(BYTES).array());
    reader = new Started();
    server = new Started();
  }

  @AfterEach
  void closeBoth() {
    reader.runtime.close();
    server.runtime.close();
  }

  private static IndexShuffleBlockResolver resolver() {
    return (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
  }

  private Verbs.Choice choose() {
    try {
      return new Verbs.Choice(host.load(library), List.of());
    } catch (EngineUnavailableException e) {
      return new Verbs.Choice(null, List.of("ibverbs: " + e.getMessage()), e.isTransient());
    }
  }

  /** Fetches the block: its bytes, or the reason why it uses TCP. */
  final CompletableFuture<Object> fetch() {
    Answer handler = new Answer();
    FetchHandler.fetch(
        reader.transport,
        server.transport.endpoint(),
        List.of(new BlockRange(SHUFFLE, MAP, 0, 1)),
        handler);
    return handler.answer;
  }
}
