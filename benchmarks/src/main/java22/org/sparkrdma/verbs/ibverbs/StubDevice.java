// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The engine's own classes on a device that does nothing: {@code verbs_stub.c}, compiled here and
 * loaded under the names of the system's libraries before the engine asks for those. Once for each
 * process; of the thread that made it, which closes it.
 */
final class StubDevice implements AutoCloseable {
  static final int DEPTH = 64;
  private static final long LIMIT_NS = Duration.ofSeconds(10).toNanos();
  private static final int MEMORY_BYTES = 1 << 20;

  private final IbverbsEngine engine;
  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final ConnectionManager manager;
  private final MemoryRegion region;
  private final QueuePair queuePair;

  private StubDevice() throws VerbsException {
    var libraries = new Libraries(VerbsLibrary.load(), CmLibrary.load());
    engine =
        new IbverbsEngine(
            libraries, IbverbsSettings.of(EngineSettings.none()), NetworkLinks.ofSystem());
    device = engine.open("stub0");
    channel = device.createCompletionChannel();
    completions = device.createCompletionQueue(2 * DEPTH, channel);
    manager = device.createConnectionManager(channel);
    ProtectionDomain domain = device.allocateProtectionDomain();
    region =
        domain.register(
            device.allocate(MEMORY_BYTES), 0, MEMORY_BYTES, Set.of(AccessFlag.LOCAL_WRITE));
    var anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    Connection connection = manager.resolve(anywhere, null, Duration.ofSeconds(1));
    expect(ConnectionEvent.Type.RESOLVED);
    queuePair =
        connection.createQueuePair(
            domain, new QueuePairSettings(completions, completions, DEPTH, 1, 1, 0, Set.of()));
    connection.connect(ConnectionParameters.of(new byte[0]));
    expect(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Compiles and loads the stub, then connects without a peer. */
  static StubDevice open() throws VerbsException {
    try {
      Path directory = Files.createTempDirectory("verbs-stub");
      Path source = directory.resolve("verbs_stub.c");
      try (var resource = StubDevice.class.getResourceAsStream("/verbs/verbs_stub.c")) {
        Files.copy(resource, source);
      }
      load(directory, source, VerbsLibrary.FILE);
      load(directory, source, CmLibrary.FILE);
      Files.delete(source);
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new StubDevice();
  }

  /** A library that is loaded under this name is used by all later loads of the name. */
  private static void load(Path directory, Path source, String name) throws IOException {
    Path library = directory.resolve(name);
    Process compiler =
        new ProcessBuilder(
                "cc",
                "-O2",
                "-shared",
                "-fPIC",
                "-Wl,-soname," + name,
                "-o",
                library.toString(),
                source.toString())
            .inheritIO()
            .start();
    if (compiler.onExit().join().exitValue() != 0) {
      throw new IOException("no stub: install gcc, libibverbs-dev and librdmacm-dev");
    }
    System.load(library.toString());
    Files.delete(library);
  }

  /** The route is resolved on another thread, so its event comes a little later. */
  private void expect(ConnectionEvent.Type type) {
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    ConnectionEvent event = manager.pollEvent();
    while (event == null && System.nanoTime() - deadlineNs < 0) {
      Thread.onSpinWait();
      event = manager.pollEvent();
    }
    if (event == null || event.type() != type) {
      throw new IllegalStateException("not connected: expected=" + type + " event=" + event);
    }
  }

  CompletionChannel channel() {
    return channel;
  }

  CompletionQueue completions() {
    return completions;
  }

  ConnectionManager manager() {
    return manager;
  }

  MemoryRegion region() {
    return region;
  }

  /** Address of the device's context. */
  long context() {
    return ((IbverbsDevice) device).context();
  }

  QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public void close() {
    device.close();
    engine.close();
  }
}
