// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.StorageLevel;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.reflect.ClassTag$;

/** Pieces in the driver's block manager, and what its executors receive. */
@Timeout(120)
final class BroadcastDriverTest {
  private static final int PIECE_BYTES = 4_096;
  private static final int LAST_BYTES = 100;
  private static final long ID = 1_000;

  private final Random random = new Random(2);
  private final byte[][] bytes = new byte[BroadcastDriver.MIN_PIECES][];

  /** Messages to the only executor. */
  private final Queue<Object> received = new ConcurrentLinkedQueue<>();

  /** Work of the driver's thread, which the test runs. */
  private final Queue<Runnable> work = new ConcurrentLinkedQueue<>();

  /** What the driver has found. */
  private final Queue<SparkContext> contexts = new ConcurrentLinkedQueue<>();

  private JavaSparkContext spark;
  private BlockManager blocks;
  private BroadcastDriver driver;
  private RpcEndpointRef executor;
  private RpcEndpointRef ref;

  @BeforeEach
  void start() throws TimeoutException {
    spark = new JavaSparkContext(BroadcastFetchTest.conf().set("spark.broadcast.blockSize", "4k"));
    SparkEnv env = SparkEnv.get();
    blocks = env.blockManager();
    driver = new BroadcastDriver(env, "driver", work::add, contexts::add);
    BroadcastEndpoint endpoint =
        new BroadcastEndpoint(env.rpcEnv(), (message, call) -> received.add(message));
    executor = env.rpcEnv().setupEndpoint("executor", endpoint);
    ref = env.rpcEnv().setupEndpointRef(env.rpcEnv().address(), "driver");
    assertThat(ask(BroadcastDriver.REGISTER, "1", "host", 1, executor)).isEqualTo(true);
    runAll();
  }

  @AfterEach
  void stop() {
    driver.close();
    spark.stop();
  }

  private Object ask(Object... fields) {
    return ref.askSync(new ArrayList<>(List.of(fields)), ClassTag$.MODULE$.apply(Object.class));
  }

  /** Runs the driver's work after all events, until its messages have arrived. */
  private void runAll() throws TimeoutException {
    spark.sc().listenerBus().waitUntilEmpty();
    new ArrayDeque<>(work).forEach(Runnable::run);
    work.clear();
    // Messages to an endpoint keep their order.
    executor.send("end");
    while (!received.contains("end")) {
      Thread.onSpinWait();
    }
    received.remove("end");
  }

  private void put(int piece, int lengthBytes, StorageLevel level) {
    bytes[piece] = new byte[lengthBytes];
    random.nextBytes(bytes[piece]);
    BroadcastFetchTest.put(Pieces.block(ID, piece), level, true, ByteBuffer.wrap(bytes[piece]));
  }

  private void put(int count, int lastBytes) throws TimeoutException {
    for (int i = 0; i < count; i++) {
      put(i, i == count - 1 ? lastBytes : PIECE_BYTES, StorageLevel.MEMORY_AND_DISK_SER());
    }
    spark.sc().listenerBus().waitUntilEmpty();
  }

  @Test
  void shouldAnnounceALargeVariableAndItsEnd() throws TimeoutException {
    put(BroadcastDriver.MIN_PIECES, LAST_BYTES);
    runAll();
    Pieces pieces = Pieces.decode(received.remove());
    assertThat(pieces.lengthBytes())
        .isEqualTo((BroadcastDriver.MIN_PIECES - 1L) * PIECE_BYTES + LAST_BYTES);
    for (int i = 0; i < pieces.count(); i++) {
      assertThat(pieces.sums()[i]).isEqualTo(BroadcastFetch.crc32c(ByteBuffer.wrap(bytes[i])));
    }
    assertThat(ask(BroadcastDriver.NEXT, "1", ID, BroadcastTracker.NONE, ""))
        .asInstanceOf(InstanceOfAssertFactories.LIST)
        .hasSize(4)
        .contains(BroadcastTracker.DRIVER);
    blocks.removeBroadcast(ID, true);
    runAll();
    assertThat(received).containsExactly(ID);
    assertThat(ask(BroadcastDriver.NEXT, "1", ID, BroadcastTracker.NONE, "")).isEqualTo(List.of());
  }

  /** Spark's bus drops events when its queue is full. */
  @Test
  void shouldForgetVariablesAndExecutorsWhoseEndSparkHasNotReported() throws TimeoutException {
    put(BroadcastDriver.MIN_PIECES, LAST_BYTES);
    runAll();
    received.clear();
    driver.look();
    runAll();
    assertThat(received).as("it is still there").isEmpty();
    boolean tellsMaster = false;
    blocks.removeBroadcast(ID, tellsMaster);
    driver.look();
    runAll();
    assertThat(received).containsExactly(ID);
    assertThat(ask(BroadcastDriver.NEXT, "1", ID, BroadcastTracker.NONE, "")).isEqualTo(List.of());
    assertThat(driver.executors()).containsExactly("1");
    driver.removeExecutor("1");
    assertThat(driver.executors()).isEmpty();
    assertThat(contexts).containsExactly(spark.sc());
  }

  @Test
  void shouldNotSumBytesThatWereOnADisk() throws TimeoutException {
    put(BroadcastDriver.MIN_PIECES, LAST_BYTES);
    // As after an eviction before the sum.
    blocks.removeBlock(Pieces.block(ID, 3), false);
    put(3, PIECE_BYTES, StorageLevel.DISK_ONLY());
    runAll();
    assertThat(received).isEmpty();
    blocks.removeBroadcast(ID, true);
    runAll();
    assertThat(received).as("nothing was announced").isEmpty();
  }

  @Test
  void shouldAnnounceNothingThatIsGone() throws TimeoutException {
    put(BroadcastDriver.MIN_PIECES, LAST_BYTES);
    blocks.removeBroadcast(ID, true);
    runAll();
    assertThat(received).isEmpty();
  }

  @Test
  void shouldNotJoinTheContextAfterOneThatFailed() {
    RpcEnv rpc = SparkEnv.get().rpcEnv();
    BroadcastDriver late = new BroadcastDriver(SparkEnv.get(), "late", work::add, contexts::add);
    rpc.setupEndpointRef(rpc.address(), "late")
        .askSync(
            new ArrayList<>(List.of(BroadcastDriver.REGISTER, "1", "host", 1, executor)),
            ClassTag$.MODULE$.apply(Object.class));
    // With another manager nothing closes the driver's part.
    spark.stop();
    work.remove().run();
    late.close();
  }

  @Test
  void shouldRefuseWrongMessages() {
    for (Object[] wrong :
        new Object[][] {
          {"unknown"}, {BroadcastDriver.REGISTER, "1"}, {BroadcastDriver.NEXT, "1", ID, "0", ""}
        }) {
      assertThatThrownBy(() -> ask(wrong))
          .hasRootCauseInstanceOf(IllegalArgumentException.class)
          .hasRootCauseMessage("no such message");
    }
    assertThat(ask(BroadcastDriver.NEXT, "lost", ID, BroadcastTracker.NONE, ""))
        .as("an executor that is lost for Spark")
        .isEqualTo(List.of());
  }
}
