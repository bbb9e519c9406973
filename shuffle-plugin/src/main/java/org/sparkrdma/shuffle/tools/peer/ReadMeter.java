// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.TransportType;

/**
 * One connection to a {@link PeerListener}, and the time of READs over it. Confined to one thread;
 * its creator closes it, and then the device, which closes the rest.
 */
final class ReadMeter extends Meter {
  private static final int SPINS = 100;
  private static final int POSTS = 2_000;
  private static final Duration LIMIT = Duration.ofSeconds(5);

  /** After this time a first READ without a completion is followed by another. */
  private static final Duration FIRST = Duration.ofSeconds(1);

  private final Device device;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final ProtectionDomain domain;
  private final HostMemory memory;
  private final MemoryRegion region;
  private final ConnectionManager manager;
  private final WorkRequest request = new WorkRequest(1);
  private Connection connection;
  private QueuePair queuePair;
  private SharedRegion peer;
  private WorkStatus failure;
  private boolean armed;

  ReadMeter(Device device) throws VerbsException {
    this.device = device;
    channel = device.createCompletionChannel();
    completions = device.createCompletionQueue(2 * MAX_AT_ONCE, channel);
    domain = device.allocateProtectionDomain();
    memory = device.allocate(SharedRegion.BYTES);
    region = domain.register(memory, 0, SharedRegion.BYTES, Set.of(AccessFlag.LOCAL_WRITE));
    manager = device.createConnectionManager(channel);
  }

  /**
   * Connects, and shows by a READ that the peer's memory can be reached.
   *
   * @return time at which the connection was established, as of {@link System#nanoTime}
   * @throws VerbsException when there is no route, no answer, a refusal, or no completion
   */
  long connect(AddressPair pair) throws VerbsException {
    connection = manager.resolve(pair.destination(), pair.source(), LIMIT);
    expect(ConnectionEvent.Type.RESOLVED);
    queuePair =
        connection.createQueuePair(
            domain, new QueuePairSettings(completions, completions, MAX_AT_ONCE, 1, 1, Set.of()));
    connection.connect(ConnectionParameters.of(new byte[0]));
    peer = SharedRegion.of(expect(ConnectionEvent.Type.ESTABLISHED).privateData());
    long establishedNs = System.nanoTime();
    post(0, 1);
    if (!awaitOne(FIRST)) {
      // Linux's siw may not see the first message of a connection until another comes: it sends the
      // MPA reply before its socket has the queue pair's callback (siw_cm.c, siw_accept).
      post(0, 1);
      awaitOne();
      awaitOne();
    }
    return establishedNs;
  }

  private ConnectionEvent expect(ConnectionEvent.Type type) throws VerbsException {
    long end = System.nanoTime() + 2 * LIMIT.toNanos();
    ConnectionEvent event = manager.pollEvent();
    while (event == null && end - System.nanoTime() > 0) {
      channel.await(end - System.nanoTime());
      event = manager.pollEvent();
    }
    if (event == null || event.type() != type) {
      throw new VerbsException(
          "connect", event == null ? "no answer" : event.type() + " " + event.reason());
    }
    return event;
  }

  /**
   * The costs of files in a directory.
   *
   * @param files of this machine
   * @param measured takes each as it is measured
   * @throws VerbsException when files are not registered there, or not one of that length; its
   *     message is a sentence
   */
  void registrations(Path directory, SystemFiles files, List<CardPrices.Registration> measured)
      throws IOException, VerbsException {
    Optional<String> objection =
        !device.info().can(Capability.FILE_REGIONS)
            ? Optional.of("the device registers no files")
            : device.info().transport() == TransportType.LOOPBACK
                ? Optional.empty()
                : WritePins.of(files, domain).objection(directory);
    if (objection.isPresent()) {
      throw new VerbsException(
          "ibv_reg_mr", "files are not registered here, so blocks are copied: " + objection.get());
    }
    CardPrices.measureFiles(domain, directory, measured);
  }

  /** Time of a post while that many threads post at once; 0 where they may not. */
  long postNs(int threads) throws VerbsException {
    if (!new DeviceFitness(device.info()).tasksPost()) {
      return 0;
    }
    // The first ones are of code that is not compiled yet.
    postAll(threads);
    return postAll(threads) / POSTS;
  }

  private long postAll(int threads) throws VerbsException {
    AtomicLong spentNs = new AtomicLong();
    AtomicInteger left = new AtomicInteger(POSTS);
    for (int i = 0; i < threads; i++) {
      Thread poster = new Thread(() -> postAll(left, spentNs), "perf-post-" + i);
      // A device that takes no more ends the command, not its posters.
      poster.setDaemon(true);
      poster.start();
    }
    for (int i = 0; i < POSTS; i++) {
      awaitOne();
    }
    return spentNs.get();
  }

  private void postAll(AtomicInteger left, AtomicLong spentNs) {
    WorkRequest own = new WorkRequest(1);
    while (left.getAndDecrement() > 0) {
      own.read(0, peer.address(), peer.key()).local(region, 0, Long.BYTES).signalled();
      long beganNs = System.nanoTime();
      while (!queuePair.postSend(own)) {
        Thread.onSpinWait();
        beganNs = System.nanoTime();
      }
      spentNs.addAndGet(System.nanoTime() - beganNs);
    }
  }

  @Override
  void begin(long number, int lengthBytes) throws VerbsException {
    post((int) (number % slots(lengthBytes)) * lengthBytes, lengthBytes);
  }

  @Override
  void finish(int lengthBytes) throws VerbsException {
    awaitOne();
  }

  @Override
  void verify(long transfers, int lengthBytes) throws VerbsException {
    int bytes = (int) Math.min(transfers, slots(lengthBytes)) * lengthBytes;
    int wrong = SharedRegion.firstWrong(memory.slice(0, bytes));
    if (wrong >= 0) {
      throw new VerbsException("read", "wrong byte: offset=" + wrong);
    }
  }

  /** Transfers that have a place of their own in the memory. */
  private static int slots(int lengthBytes) {
    return SharedRegion.BYTES / lengthBytes;
  }

  private void post(int offset, int lengthBytes) throws VerbsException {
    request
        .read(offset, peer.address() + offset, peer.key())
        .local(region, offset, lengthBytes)
        .signalled();
    if (!queuePair.postSend(request)) {
      throw new VerbsException("read", "the send queue is full");
    }
  }

  private void awaitOne() throws VerbsException {
    if (!awaitOne(LIMIT)) {
      throw new VerbsException("read", "no completion in " + LIMIT.toSeconds() + " s");
    }
  }

  /** Whether a READ has ended within the limit. */
  private boolean awaitOne(Duration limit) throws VerbsException {
    long end = System.nanoTime() + limit.toNanos();
    for (int polls = 1; completions.poll(1, this::onCompletion) == 0; polls++) {
      if (System.nanoTime() - end > 0) {
        return false;
      }
      if (polls % SPINS == 0) {
        sleep(end - System.nanoTime());
      }
    }
    if (failure != null) {
      throw new VerbsException("read", "status=" + failure);
    }
    return true;
  }

  /** Returns at the next completion, or at once if one came in the meantime. */
  private void sleep(long limitNs) {
    if (armed) {
      channel.await(limitNs);
    } else {
      completions.arm();
    }
    armed = !armed;
  }

  private void onCompletion(WorkCompletion completion) {
    if (completion.status() != WorkStatus.SUCCESS) {
      failure = completion.status();
    }
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.disconnect();
      connection.close();
    }
  }
}
