// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;

/**
 * A reader whose clock stands still unless the test moves it, and servers of its application; all
 * are closed after a test.
 */
@Timeout(120)
abstract class StoppedClockFixture {
  static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

  /** Incarnation of the server, and its executor id. */
  static final long PEER = 7;

  @TempDir Path directory;
  final AtomicLong nowNs = new AtomicLong(1_000_000_000_000L);
  private final List<AutoCloseable> open = new ArrayList<>();
  TestExecutor reader;

  @AfterEach
  void closeAllWithoutLeaks() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    open.clear();
  }

  void startReader(TestExecutor.Options options) throws Exception {
    reader =
        start("reader", options.requestTimeout(REQUEST_TIMEOUT).peerTimeout(Duration.ofHours(1)));
  }

  /** A server of the product. */
  TestExecutor startServer() throws Exception {
    return startServer(new TestExecutor.Options(PEER));
  }

  /** The same with other options. */
  TestExecutor startServer(TestExecutor.Options options) throws Exception {
    return start("server", options);
  }

  private TestExecutor start(String name, TestExecutor.Options options) throws Exception {
    Path own = Files.createDirectory(directory.resolve(name));
    TestExecutor executor = new TestExecutor(own, options.nanoClock(nowNs::get));
    open.add(executor);
    return executor;
  }

  /** A server with this behaviour. */
  HostileServer startServer(HostileServer.Script script) throws Exception {
    HostileServer server = new HostileServer(PEER, script);
    open.add(server);
    return server;
  }

  void pass(Duration time) {
    nowNs.addAndGet(time.toNanos());
  }

  /** The agent of the reader works with the new time when this returns. */
  void passForReader(Duration time) {
    pass(time);
    // A turn reads the time at its beginning, so the present one may have the time before.
    awaitTurn();
    awaitTurn();
  }

  private void awaitTurn() {
    CountDownLatch turn = new CountDownLatch(1);
    reader.transport().agent.execute(turn::countDown);
    try {
      // The agent has no turn any more when the test is over.
      turn.await(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  CollectedBlocks begin(Endpoint peer, int blocks) {
    return begin(reader, peer, blocks);
  }

  static CollectedBlocks begin(TestExecutor by, Endpoint peer, int blocks) {
    List<BlockRange> wanted =
        LongStream.range(0, blocks).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    CollectedBlocks collected = new CollectedBlocks(wanted);
    FetchHandler.fetch(by.transport(), peer, wanted, collected);
    return collected;
  }
}
