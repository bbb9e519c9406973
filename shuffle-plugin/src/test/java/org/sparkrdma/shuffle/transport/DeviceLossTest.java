// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * Two executors on the ibverbs engine, whose scripted device is lost while they are connected, or
 * whose calls fail while blocks are fetched.
 */
@Tag("slow")
@Timeout(60)
class DeviceLossTest {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  private static final String NOT_RELEASED = "The RDMA device does not release an object";

  private static final int EIO = 5;
  private static final int EBUSY = 16;
  private static final int ENOMEM = 12;
  private static final int EFAULT = 14;
  private static final int EINVAL = 22;

  private static ScriptedLibrary library;

  @TempDir private Path directory;
  private final List<TestExecutor> executors = new ArrayList<>();

  @BeforeAll
  static void load() throws Exception {
    library = ScriptedLibrary.load();
  }

  @AfterEach
  void leaveNothing() {
    executors.forEach(TestExecutor::close);
    executors.clear();
    library.reset();
    ScriptedEngine.forgetRefusals();
    assertThat(library.outstanding()).as("objects left in the device").isZero();
  }

  private TestExecutor start(long incarnation) throws Exception {
    return start(incarnation, options -> options.mode(ServeSettings.Mode.COPY));
  }

  private TestExecutor start(long incarnation, UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + incarnation));
    TestExecutor executor =
        new TestExecutor(
            own,
            with.apply(new TestExecutor.Options(incarnation).on(ScriptedEngine.over(library))));
    executors.add(executor);
    return executor;
  }

  static Stream<Arguments> losses() {
    return Stream.of(
        loss("the device failed", device -> device.raise(8, 0)),
        loss("a port of the device is down", device -> device.raise(10, 1)),
        loss("the device was removed", device -> device.raiseOnListeners(11)),
        loss("the listener's address moved", device -> device.raiseOnListeners(14)),
        loss("the device was removed", ScriptedLibrary::killDescriptors));
  }

  private static Arguments loss(String reason, Consumer<ScriptedLibrary> event) {
    return Arguments.of(reason, event);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("losses")
  void shouldReportThatTheDeviceIsLostAndAnswerEveryBlock(
      String reason, Consumer<ScriptedLibrary> event) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 1000);
    assertThat(fetch(reader, server).await().bytes(0)).hasSize(1000);

    event.accept(library);
    while (reader.outOfService().isEmpty() || server.outOfService().isEmpty()) {
      Thread.onSpinWait();
    }

    assertThat(reader.outOfService().get(0)).startsWith(reason);
    assertThat(server.outOfService().get(0)).startsWith(reason);
    CollectedBlocks open = fetch(reader, server);
    reader.transport().close();
    server.transport().close();
    open.await();
  }

  /** The device is gone, so the kernel refuses to destroy what the process has. */
  @Test
  void shouldReleaseObjectsAndDescriptorsOfARemovedDevice() throws Exception {
    long before = eventDescriptors();
    try (CapturedLog log = new CapturedLog()) {
      connectAndClose(() -> library.limit("removed", 1));

      assertThat(library.outstanding()).as("objects left in the process").isZero();
      assertThat(eventDescriptors()).as("descriptors").isEqualTo(before);
      assertThat(log.warnings()).noneMatch(line -> line.startsWith(NOT_RELEASED));
    }
  }

  @Test
  void shouldLogOneErrorForEachDeviceThatReleasesNothing() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      connectAndClose(() -> library.fail("ibv_dereg_mr", EBUSY, 1, ScriptedLibrary.FOR_EVER));

      assertThat(library.outstanding()).as("objects left in the device").isGreaterThan(2);
      assertThat(log.warnings().stream().filter(line -> line.startsWith(NOT_RELEASED)))
          .hasSize(2)
          .allMatch(line -> line.contains("ibv_dereg_mr failed: errno=16 ("));
    }
  }

  /** The device of two connected executors is removed after a step of the script. */
  private void connectAndClose(Runnable script) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 1000);
    assertThat(fetch(reader, server).await().bytes(0)).hasSize(1000);
    script.run();
    library.raiseOnListeners(11);
    while (reader.outOfService().isEmpty() || server.outOfService().isEmpty()) {
      Thread.onSpinWait();
    }
    executors.forEach(TestExecutor::close);
    executors.clear();
  }

  /** Open descriptors of eventfd(2), as the engine and the simulated device have them. */
  private static long eventDescriptors() throws IOException {
    long found = 0;
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        found += isEventDescriptor(descriptor) ? 1 : 0;
      }
    }
    return found;
  }

  private static boolean isEventDescriptor(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().equals("anon_inode:[eventfd]");
    } catch (IOException e) {
      // It was that of the listing.
      return false;
    }
  }

  /** The host ends the stale connection, so the peer is not quarantined. */
  @Test
  void shouldConnectAgainWhenTheHostOfAPeerHasAStaleConnection() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 1000);
    library.limit("stale", 2);

    CollectedBlocks blocks = fetch(reader, server).await();

    assertThat(library.hits()).isEqualTo(2);
    assertThat(blocks.bytes(0)).hasSize(1000);
    assertThat(reader.counters().quarantined().text()).isEmpty();
  }

  private static CollectedBlocks fetch(TestExecutor reader, TestExecutor server) {
    return fetch(reader, server, BLOCKS);
  }

  private static CollectedBlocks fetch(
      TestExecutor reader, TestExecutor server, List<BlockRange> blocks) {
    CollectedBlocks collected = new CollectedBlocks(blocks);
    reader.transport().fetch(server.endpoint(), blocks, null, collected);
    return collected;
  }

  /** The time from which calls fail. */
  private enum When {
    /** Before there is a connection. */
    UNCONNECTED,
    /** The executors are connected, and the server has registered the blocks. */
    CONNECTED,
    /** The executors are connected, and the blocks are of another map output. */
    CONNECTED_OTHER_OUTPUT
  }

  /**
   * @param serve copies, or windows on demand: others are not mapped while they are registered, so
   *     the simulated device cannot read them
   * @param endsService whether the transport is out of service afterwards
   * @param reasons of blocks by TCP that are allowed, separated by spaces
   */
  private record Failure(
      String name,
      When when,
      ServeSettings.Mode serve,
      boolean endsService,
      String reasons,
      Consumer<ScriptedLibrary> script) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Failure fails(
      String call, int errno, int from, int count, When when, String reasons) {
    String times = count == ScriptedLibrary.FOR_EVER ? "for ever" : count + " times";
    return new Failure(
        call + " from number " + from + " fails " + times + " with errno " + errno + ", " + when,
        when,
        call.equals("ibv_reg_mr") ? ServeSettings.Mode.ODP : ServeSettings.Mode.COPY,
        false,
        reasons,
        device -> device.fail(call, errno, from, count));
  }

  private static Failure ends(String call, int errno, When when, String reasons) {
    Failure failure = fails(call, errno, 1, ScriptedLibrary.FOR_EVER, when, reasons);
    return new Failure(failure.name, when, failure.serve, true, reasons, failure.script);
  }

  private static Failure reads(String name, int failing) {
    return new Failure(
        name,
        When.CONNECTED,
        ServeSettings.Mode.COPY,
        false,
        "read-error lost-peer",
        device -> device.limit("failing_reads", failing));
  }

  static Stream<Failure> failures() {
    int always = ScriptedLibrary.FOR_EVER;
    return Stream.of(
        fails("ibv_post_send", EIO, 1, 1, When.CONNECTED, "lost-peer"),
        fails("ibv_post_send", EIO, 2, 1, When.CONNECTED, "lost-peer"),
        fails("ibv_post_send", EIO, 3, 1, When.CONNECTED, "lost-peer"),
        fails("ibv_post_send", EIO, 1, always, When.CONNECTED, "lost-peer connect-failed"),
        fails("ibv_post_send", ENOMEM, 1, 5, When.CONNECTED, ""),
        fails("ibv_post_recv", EIO, 1, 1, When.CONNECTED, "lost-peer"),
        fails("ibv_post_recv", ENOMEM, 1, 1, When.CONNECTED, "lost-peer"),
        fails("ibv_post_recv", ENOMEM, 1, 1, When.UNCONNECTED, "pool-empty"),
        ends("ibv_poll_cq", EIO, When.CONNECTED, "stopped"),
        ends("ibv_req_notify_cq", EIO, When.CONNECTED, "stopped"),
        // The window of a map output, at the server.
        fails("ibv_reg_mr", ENOMEM, 1, 1, When.CONNECTED_OTHER_OUTPUT, ""),
        fails("ibv_reg_mr", EFAULT, 1, always, When.CONNECTED_OTHER_OUTPUT, "peer-busy pool-empty"),
        // More receive memory, at the reader.
        fails("ibv_reg_mr", ENOMEM, 1, always, When.CONNECTED, "pool-empty"),
        fails("rdma_connect", EINVAL, 1, 1, When.UNCONNECTED, "connect-failed"),
        fails("rdma_accept", EINVAL, 1, 1, When.UNCONNECTED, "connect-failed"),
        fails("rdma_create_qp", ENOMEM, 1, 1, When.UNCONNECTED, "pool-empty"),
        fails("rdma_create_qp", ENOMEM, 2, 1, When.UNCONNECTED, "connect-failed"),
        ends("ibv_modify_qp", EINVAL, When.UNCONNECTED, "connect-failed lost-peer"),
        reads("a READ completes with an error", 1),
        reads("all READs complete with an error", Integer.MAX_VALUE));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void shouldAnswerEveryBlockOnceWhenACallFails(Failure failure) throws Exception {
    library.limit("odp", 1);
    TestExecutor reader = start(1, options -> options.pinned(256L << 20, 1 << 20));
    TestExecutor server = start(2, options -> options.mode(failure.serve));
    int[] partitions = IntStream.generate(() -> 100_000).limit(10).toArray();
    server.outputs().write(1, new Random(1), partitions);
    server.outputs().write(2, new Random(2), partitions);
    if (failure.when != When.UNCONNECTED) {
      assertThat(fetch(reader, server).await().bytes(0)).hasSize(100_000);
    }
    int mapId = failure.when == When.CONNECTED_OTHER_OUTPUT ? 2 : 1;
    List<BlockRange> blocks =
        IntStream.range(1, 10).mapToObj(i -> new BlockRange(0, mapId, i, i + 1)).toList();

    failure.script.accept(library);
    CollectedBlocks collected = fetch(reader, server, blocks).await();

    assertThat(library.hits()).as("the script took effect").isPositive();
    for (int i = 0; i < blocks.size(); i++) {
      if (!collected.failed(i)) {
        assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
      }
    }
    System.out.printf("%s: %s of %d%n", failure, collected.reasons(), blocks.size());
    assertThat(List.of(failure.reasons.split(" "))).containsAll(collected.reasons().keySet());
    if (failure.endsService) {
      while (reader.outOfService().isEmpty() && server.outOfService().isEmpty()) {
        Thread.onSpinWait();
      }
      return;
    }
    library.reset();
    fetch(reader, server, blocks).await();
    assertThat(reader.outOfService()).isEmpty();
    assertThat(server.outOfService()).isEmpty();
  }
}
