// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.apache.spark.FetchFailed;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.TaskKilledException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Blocks are verified where they are opened, and TCP decides when a checksum differs. */
@Timeout(60)
class FetchRequestTest {
  private static final int LENGTH = 150;
  private static final int HALF = 70;

  /** Same as in a LOCATED. */
  private static final int CRC32C_KIND = 3;

  private static final int MAP_INDEX = 41;
  private static final BlockManagerId ADDRESS =
      BlockManagerId.apply("7", "host7", 7_337, scala.Option.empty());

  private final byte[] content = new byte[LENGTH];
  private final ShuffleCounters counters = new ShuffleCounters();
  private final SparkClient spark = new SparkClient();
  private final TaskContextImpl task = TaskContext$.MODULE$.empty();
  private final List<ManagedBuffer> delivered = new ArrayList<>();
  private SoftPool soft;
  private ReceiveMemory receiveMemory;

  @BeforeEach
  void open() throws VerbsException {
    new Random(3).nextBytes(content);
    soft = new SoftPool(AccessFlag.LOCAL_WRITE, 64, 16);
    receiveMemory = TakenMemory.of(soft.pool(), counters);
  }

  @AfterEach
  void closeWithoutLeaks() {
    receiveMemory.closeOpenChunk();
    assertThat(soft.pool().chunksOut()).as("chunks still held").isZero();
    soft.close();
  }

  /** Keeps each request for the test to answer, or answers at once. */
  private static final class SparkClient extends BlockStoreClient {
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final CountDownLatch asked = new CountDownLatch(1);
    private volatile BlockFetchingListener held;
    private volatile boolean holds;
    private CountedBuffer answer;

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String executorId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      threads.add(Thread.currentThread());
      assertThat(host + port + executorId).isEqualTo("host77_3377".replace("_", ""));
      assertThat(files).isNull();
      held = listener;
      asked.countDown();
      if (holds) {
        return;
      }
      if (!failures.isEmpty()) {
        listener.onBlockFetchFailure(blockIds[0], failures.remove(0));
      } else {
        listener.onBlockFetchSuccess(blockIds[0], answer);
        answer.release();
      }
    }

    @Override
    public void close() {}
  }

  /** A delivered block with a wrong checksum of its second partition. */
  private FetchedBlock block() {
    FetchedBlock block = TakenMemory.take(receiveMemory, LENGTH);
    int placed = 0;
    for (int i = 0; i < block.count(); i++) {
      int step = block.lengthBytes(i);
      block.chunk(i).slice(block.offset(i), step).put(content, placed, step);
      placed += step;
    }
    block.addSum(CRC32C_KIND, HALF, sum(0, HALF));
    block.addSum(CRC32C_KIND, LENGTH, sum(HALF, LENGTH) + 1);
    FetchRequest request =
        request(new RecordingListener((name, buffer) -> delivered.add(buffer.retain())));
    request.fetchByRdma(begun -> {}, Endpoints.of("7", "host7", 1));
    request.onFetched(0, block);
    assertThat(delivered).containsExactly(block);
    assertThat(spark.threads).as("nothing is verified before it is opened").isEmpty();
    return block;
  }

  private FetchRequest request(RecordingListener listener) {
    return request(
        listener,
        (request, blocks, reason, detail) -> {
          throw new AssertionError("by TCP: " + reason);
        },
        "shuffle_3_11_5_7");
  }

  private FetchRequest request(
      BlockFetchingListener listener, FetchRequest.Fallback fallback, String... names) {
    FetchContext context = new FetchContext(spark, fallback, counters, true, 2, new FallbackLog());
    BlockRanges ranges = new BlockRanges(names.length);
    for (int i = 0; i < names.length; i++) {
      ranges.add(3, 11 + i, 5, 7);
    }
    FetchingTask reading = new FetchingTask(task);
    var known =
        reading.outputs().remember(CollectionConverters.asScala(List.of(located()).iterator()));
    while (known.hasNext()) {
      known.next();
    }
    return new FetchRequest(
        context, new BlockManagerAddress("7", "host7", 7_337), names, ranges, listener, reading);
  }

  private static Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> located() {
    List<Tuple3<BlockId, Object, Object>> blocks =
        List.of(
            new Tuple3<>(new ShuffleBlockId(3, 10, 5), 9L, 40),
            new Tuple3<>(new ShuffleBlockId(3, 11, 5), 9L, MAP_INDEX),
            new Tuple3<>(new ShuffleBlockId(3, 11, 6), 9L, MAP_INDEX));
    return new Tuple2<>(ADDRESS, CollectionConverters.asScala(blocks).toSeq());
  }

  private long sum(int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(content, from, to - from);
    return crc.getValue();
  }

  @Test
  void shouldVerifyBlocksForNettyToo() throws IOException {
    spark.answer = new CountedBuffer(content);
    FetchedBlock block = block();
    assertThat(block.convertToNetty()).isNotNull();
    assertThat(spark.threads).hasSize(1);
    block.release();
  }

  /** Spark's listener is Scala code; it waits for a queue. */
  @Test
  void shouldFailABlockWhoseDeliveryThrowsACheckedException() {
    RecordingListener refusing =
        new RecordingListener(
            (name, buffer) -> {
              if (buffer != null) {
                throw TaskOutputs.<RuntimeException>unchecked(new InterruptedException(name));
              }
            });
    request(refusing).onFetched(0, TakenMemory.take(receiveMemory, LENGTH));
    assertThat(refusing.failures()).containsOnlyKeys("shuffle_3_11_5_7");
  }

  @Test
  void shouldNameTheMapOutputAndReleaseTheBlockWhenTcpFails() {
    spark.failures.add(new IOException("on purpose"));
    FetchedBlock block = block();
    Throwable thrown = catchThrowable(block::createInputStream);
    assertThat(thrown).isInstanceOf(FetchFailedException.class).hasRootCauseMessage("on purpose");
    FetchFailed failed = (FetchFailed) ((FetchFailedException) thrown).toTaskFailedReason();
    assertThat(failed.bmAddress()).isEqualTo(ADDRESS);
    assertThat(failed.shuffleId()).isEqualTo(3);
    assertThat(failed.mapId()).isEqualTo(11);
    assertThat(failed.mapIndex()).isEqualTo(MAP_INDEX);
    assertThat(failed.reduceId()).isEqualTo(5);
    assertThatThrownBy(block::release).as("released before").isInstanceOf(RuntimeException.class);
  }

  @Test
  void shouldReleaseTheBufferOfTcpThatCannotBeRead() {
    spark.answer =
        new CountedBuffer(content) {
          @Override
          public ByteBuffer nioByteBuffer() {
            throw new IllegalStateException("on purpose");
          }
        };
    FetchedBlock block = block();
    assertThatThrownBy(block::createInputStream)
        .isInstanceOf(FetchFailedException.class)
        .hasRootCauseMessage("on purpose");
    assertThat(spark.answer.references()).isZero();
  }

  @Test
  void shouldAskAgainWhenSparksClientHasNoDirectMemory() throws Exception {
    spark.answer = new CountedBuffer(content);
    spark.failures.add(noDirectMemory());
    spark.failures.add(noDirectMemory());
    FetchedBlock block = block();
    assertThat(block.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(content));
    assertThat(spark.threads).hasSize(3);
    block.release();
    assertThat(spark.answer.references()).isZero();
  }

  private static OutOfDirectMemoryError noDirectMemory() throws ReflectiveOperationException {
    Constructor<OutOfDirectMemoryError> constructor =
        OutOfDirectMemoryError.class.getDeclaredConstructor(String.class);
    constructor.setAccessible(true);
    return constructor.newInstance("on purpose");
  }

  /** Spark's iterator takes such a failure for the end of the request. */
  @Test
  void shouldReportALackOfDirectMemoryAfterAllOtherAnswers() throws Exception {
    List<String> answers = new ArrayList<>();
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String block, ManagedBuffer bytes) {
            answers.add(block);
          }

          @Override
          public void onBlockFetchFailure(String block, Throwable failure) {
            answers.add(block + " " + failure.getMessage());
          }
        };
    FetchRequest request =
        request(
            listener,
            (of, blocks, reason, detail) -> {
              of.addFailed(blocks);
              of.fetchFailedByTcp(true);
            },
            "a",
            "b",
            "c",
            "d");
    request.fetchByRdma(begun -> {}, Endpoints.of("7", "host7", 1));
    spark.failures.add(noDirectMemory());
    spark.failures.add(noDirectMemory());
    spark.failures.add(new IOException("lost"));
    request.leaveToTcp(1, FallbackReason.PEER_BUSY, "");
    request.leaveToTcp(3, FallbackReason.PEER_BUSY, "");
    request.leaveToTcp(2, FallbackReason.PEER_BUSY, "");
    assertThat(answers).containsExactly("c lost");
    request.onFetched(0, TakenMemory.take(receiveMemory, LENGTH));
    assertThat(answers).containsExactly("c lost", "a", "b on purpose", "d on purpose");
  }

  @Test
  void shouldLeaveTheWaitForTcpWhenTheTaskIsKilled() throws Exception {
    assertLeavesTheWait(
        reading -> task.markInterrupted("killed by the test"), TaskKilledException.class);
  }

  @Test
  void shouldLeaveTheWaitForTcpWhenTheThreadIsInterrupted() throws Exception {
    assertLeavesTheWait(Thread::interrupt, InterruptedException.class);
  }

  private void assertLeavesTheWait(Consumer<Thread> end, Class<?> thrown) throws Exception {
    spark.holds = true;
    FetchedBlock block = block();
    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    Thread reading =
        new Thread(() -> ended.complete(catchThrowable(block::createInputStream)), "task");
    reading.start();
    spark.asked.await();
    end.accept(reading);
    assertThat(ended.get()).isInstanceOf(thrown);
    assertThatThrownBy(block::release).as("released before").isInstanceOf(RuntimeException.class);
    CountedBuffer late = new CountedBuffer(content);
    spark.held.onBlockFetchSuccess("shuffle_3_11_5_7", late);
    late.release();
    assertThat(late.references()).isZero();
  }
}
