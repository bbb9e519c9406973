// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.verbs.contract.PeerProcess;

/**
 * Tasks post requests to a server whose process is killed while it answers them, and then to the
 * next one, for as many seconds as the property {@code stress.seconds} says. For minutes in the
 * guest.
 */
@Tag("slow")
@Timeout(900)
class KilledServersTest extends TransportFixture {
  private static final long SECONDS = Long.getLong("stress.seconds", 3);
  private static final int LEAST_KILLED = 3;
  private static final int TASKS = 4;
  private static final int MAPS = 4;
  private static final int PARTITIONS = 64;
  private static final int LONGEST_BLOCK = 64 << 10;
  private static final int MOST_BLOCKS_OF_A_REQUEST = 8;
  private static final int MOST_BLOCKS_OF_A_SERVER = 2_000;

  /** What a block costs a task by TCP. */
  private static final long TCP_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private static final String UP = "up ";

  private final ExecutorService tasks = Executors.newFixedThreadPool(TASKS);
  private final List<Future<?>> running = new ArrayList<>();
  private final List<Process> servers = new ArrayList<>();

  /** Permits: blocks that were read, and those that were left to TCP. */
  private final Semaphore read = new Semaphore(0);

  private final Semaphore byTcp = new Semaphore(0);
  private TestExecutor reader;

  /** Whom tasks ask. */
  private volatile Endpoint current;

  private volatile boolean over;

  /** The program of a server: writes map outputs, prints its port, and ends with its input. */
  static final class Server {
    /** Arguments: the engine, as in {@link TestEngine}, incarnation, and directory. */
    public static void main(String[] arguments) throws Exception {
      System.setProperty("test.engine", arguments[0]);
      var options = new TestExecutor.Options(Long.parseLong(arguments[1])).unwatched();
      try (var server = new TestExecutor(Path.of(arguments[2]), options.verify(false))) {
        writeTo(server.outputs());
        System.out.println(UP + server.endpoint().addresses().get(0).port());
        System.in.transferTo(OutputStream.nullOutputStream());
      }
    }
  }

  /** The same in each process, without checksums, which would hide wrong bytes. */
  private static void writeTo(TestOutputs outputs) throws IOException {
    int[] lengths = new Random(3).ints(PARTITIONS, 1, LONGEST_BLOCK).toArray();
    for (int map = 0; map < MAPS; map++) {
      outputs.write(map, new Random(map), lengths);
      outputs.forgetSums(map);
    }
  }

  @AfterEach
  void endTheProcesses() {
    over = true;
    tasks.shutdownNow();
    servers.forEach(Process::destroyForcibly);
  }

  @Test
  void shouldReadNoWrongByteAndKeepNothingOfServersThatAreKilled() throws Exception {
    reader = start(1);
    writeTo(reader.outputs());
    long beganNs = System.nanoTime();
    Endpoint next = startServer(2);
    current = next;
    for (int task = 0; task < TASKS; task++) {
      Random own = new Random(task);
      running.add(tasks.submit(() -> readUntilOver(own)));
    }
    int killed = 0;
    while (killed < LEAST_KILLED
        || System.nanoTime() - beganNs < TimeUnit.SECONDS.toNanos(SECONDS)) {
      next = startServer(3 + killed);
      await(read, 1 + random.nextInt(MOST_BLOCKS_OF_A_SERVER));
      servers.remove(0).destroyForcibly().waitFor();
      await(byTcp, 1);
      current = next;
      killed++;
    }
    await(read, 1);
    over = true;
    for (Future<?> task : running) {
      task.get();
    }
    Process last = servers.remove(0);
    last.getOutputStream().close();
    assertThat(last.waitFor()).as("exit code of the last server").isZero();

    for (int i = 0; i < 300 && reader.connections() > 0; i++) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
    assertThat(reader.connections()).as("connections to servers that have ended").isZero();
    assertThat(reader.losses()).isEmpty();
    System.out.printf(
        "killed servers: %d, blocks read: %d%n", killed, reader.count(Counter.RDMA_BLOCKS_READ));
  }

  private Endpoint startServer(long incarnation) throws IOException {
    // That of the server before the last one, which is dead.
    Path own = Files.createDirectories(directory.resolve("server-" + incarnation % 2));
    Process server =
        PeerProcess.java(
            List.of(),
            Server.class,
            List.of(
                System.getProperty("test.engine", "soft"),
                Long.toString(incarnation),
                own.toString()));
    servers.add(server);
    BufferedReader output = server.inputReader(StandardCharsets.UTF_8);
    String line = output.readLine();
    while (line != null && !line.startsWith(UP)) {
      line = output.readLine();
    }
    assertThat(line).as("the port of server %s", incarnation).isNotNull();
    int port = Integer.parseInt(line.substring(UP.length()));
    ListenerAddress ofReader = reader.endpoint().addresses().get(0);
    return TestExecutor.endpoint(
        incarnation, List.of(new ListenerAddress(ofReader.network(), port)));
  }

  /** Waits until so many more blocks have come in that way; a task that has failed ends it. */
  private void await(Semaphore blocks, int count) throws Exception {
    blocks.drainPermits();
    boolean came = blocks.tryAcquire(count, 60, TimeUnit.SECONDS);
    for (Future<?> task : running) {
      if (task.isDone()) {
        task.get();
      }
    }
    assertThat(came).as("%s more blocks", count).isTrue();
  }

  private Void readUntilOver(Random own) throws Exception {
    while (!over) {
      List<BlockRange> blocks =
          own.ints(1 + own.nextInt(MOST_BLOCKS_OF_A_REQUEST), 0, MAPS * PARTITIONS)
              .mapToObj(i -> block(i / PARTITIONS, i % PARTITIONS, i % PARTITIONS + 1))
              .toList();
      CollectedBlocks collected = fetch(reader, current, blocks);
      for (int i = 0; i < blocks.size(); i++) {
        if (collected.wasRead(i)) {
          byte[] expected = reader.outputs().expected(blocks.get(i));
          assertThat(Arrays.mismatch(collected.bytes(i), expected))
              .as("first wrong byte of %s", blocks.get(i))
              .isNegative();
          read.release();
        } else {
          byTcp.release();
          LockSupport.parkNanos(TCP_NS);
        }
      }
    }
    return null;
  }
}
