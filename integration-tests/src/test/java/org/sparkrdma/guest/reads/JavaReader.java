// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.reads;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.spi.EngineSettings;

/** The loop in Java, on the ibverbs engine; the same loop as in {@code read_loop.c}. */
final class JavaReader implements AutoCloseable {
  private static final int PORT = 7471;
  private static final int MEMORY_BYTES = 16 << 20;
  private static final int MAX_DEPTH = 64;
  private static final int SPINS = 100;
  private static final int POLLED = 16;
  private static final long LONG_NS = Duration.ofSeconds(10).toNanos();

  private final VerbsEngine engine;
  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final QueuePair queuePair;
  private final long remoteAddress;
  private final int remoteKey;
  private final WorkRequest[] requests = new WorkRequest[MAX_DEPTH];
  private final CompletionHandler handler = JavaReader::check;

  private JavaReader(VerbsEngine engine, String address) throws VerbsException {
    this.engine = engine;
    device = engine.open(engine.devices().get(0).name());
    channel = device.createCompletionChannel();
    completions = device.createCompletionQueue(2 * MAX_DEPTH, channel);
    memory = device.allocate(MEMORY_BYTES);
    ProtectionDomain domain = device.allocateProtectionDomain();
    region = domain.register(memory, 0, MEMORY_BYTES, Set.of(AccessFlag.LOCAL_WRITE));
    Arrays.setAll(requests, i -> new WorkRequest(1));
    ConnectionManager manager = device.createConnectionManager(channel);
    Connection connection =
        manager.resolve(new InetSocketAddress(address, PORT), null, Duration.ofSeconds(2));
    expect(ConnectionEvent.Type.RESOLVED, manager);
    queuePair =
        connection.createQueuePair(
            domain, new QueuePairSettings(completions, completions, MAX_DEPTH, 1, 1, 0, Set.of()));
    connection.connect(ConnectionParameters.of(new byte[0]));
    ByteBuffer privateData =
        ByteBuffer.wrap(expect(ConnectionEvent.Type.ESTABLISHED, manager).privateData());
    remoteAddress = privateData.getLong();
    remoteKey = privateData.getInt();
  }

  static JavaReader connect(String address) throws VerbsException {
    Verbs.Choice choice = Verbs.choose("ibverbs", EngineSettings.none());
    if (choice.engine() == null) {
      throw new IllegalStateException("no engine: reasons=" + choice.reasons());
    }
    return new JavaReader(choice.engine(), address);
  }

  private ConnectionEvent expect(ConnectionEvent.Type type, ConnectionManager manager) {
    long until = System.nanoTime() + LONG_NS;
    ConnectionEvent event = manager.pollEvent();
    while (event == null && until - System.nanoTime() > 0) {
      channel.await(until - System.nanoTime());
      event = manager.pollEvent();
    }
    if (event == null || event.type() != type) {
      throw new IllegalStateException("not connected: expected=" + type + " event=" + event);
    }
    return event;
  }

  /** Nanoseconds of all READs or of the median one. */
  long read(ReadCase one) {
    ByteBuffer bytes = memory.slice(0, one.lengthBytes() * one.depth());
    while (bytes.hasRemaining()) {
      bytes.put((byte) 0);
    }
    long took =
        switch (one.mode()) {
          case STREAM -> stream(one);
          case POLL -> single(one, false);
          case EVENTS -> single(one, true);
        };
    for (int i = 0; i < bytes.capacity(); i++) {
      if (bytes.get(i) != (byte) (i * 31 + (i >> 12))) {
        throw new IllegalStateException("wrong byte: case=" + one + " offset=" + i);
      }
    }
    return took;
  }

  private long stream(ReadCase one) {
    long started = System.nanoTime();
    int posted = 0;
    int done = 0;
    while (done < one.count()) {
      while (posted < one.count() && posted - done + one.batch() <= one.depth()) {
        post(one.lengthBytes(), posted % one.depth(), one.batch(), posted);
        posted += one.batch();
      }
      done += one.batch() * waitSpinning();
    }
    return System.nanoTime() - started;
  }

  private long single(ReadCase one, boolean events) {
    long[] took = new long[one.count()];
    for (int i = 0; i < took.length; i++) {
      long started = System.nanoTime();
      if (events) {
        completions.arm();
      }
      post(one.lengthBytes(), 0, 1, i);
      if (events) {
        channel.await(LONG_NS);
      }
      int found = poll();
      while (found == 0) {
        found = poll();
      }
      took[i] = System.nanoTime() - started;
    }
    Arrays.sort(took);
    return took[took.length / 2];
  }

  /** Posts {@code count} READs with one call; the last one is signalled. */
  private void post(int lengthBytes, int first, int count, long number) {
    for (int i = 0; i < count; i++) {
      long offset = (long) (first + i) * lengthBytes;
      requests[i]
          .read(number + i, remoteAddress + offset, remoteKey)
          .local(region, offset, lengthBytes);
    }
    requests[count - 1].signalled();
    int posted = queuePair.postSend(requests, 0, count);
    if (posted != count) {
      throw new IllegalStateException("queue full: posted=" + posted + " count=" + count);
    }
  }

  private int poll() {
    return completions.poll(POLLED, handler);
  }

  /** Waits for at least one completion: spins briefly, then sleeps. */
  private int waitSpinning() {
    while (true) {
      for (int spin = 0; spin < SPINS; spin++) {
        int found = poll();
        if (found > 0) {
          return found;
        }
      }
      completions.arm();
      int found = poll();
      if (found > 0) {
        return found;
      }
      channel.await(LONG_NS);
    }
  }

  private static void check(WorkCompletion completion) {
    if (completion.status() != WorkStatus.SUCCESS) {
      throw new IllegalStateException("READ failed: status=" + completion.status());
    }
  }

  @Override
  public void close() {
    device.close();
    engine.close();
  }
}
