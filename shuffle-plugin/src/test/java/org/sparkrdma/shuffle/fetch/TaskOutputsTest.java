// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.FetchFailed;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

@Timeout(60)
class TaskOutputsTest {
  private static final int MAPS = 100;
  private static final int PARTITIONS = 3;

  private final TaskOutputs outputs = new TaskOutputs();

  private static BlockManagerId address(int executor) {
    return BlockManagerId.apply("" + executor, "host", 7_337, scala.Option.empty());
  }

  /** Three partitions of each map output: its id is a thousand times its index. */
  private static Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> source(int executor) {
    List<Tuple3<BlockId, Object, Object>> blocks = new ArrayList<>();
    for (int map = executor * MAPS; map < (executor + 1) * MAPS; map++) {
      for (int reduce = 0; reduce < PARTITIONS; reduce++) {
        blocks.add(new Tuple3<>(new ShuffleBlockId(3, map * 1_000L, reduce), 9L, map));
      }
    }
    return new Tuple2<>(address(executor), CollectionConverters.asScala(blocks).toSeq());
  }

  private Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> twoExecutors() {
    return outputs.remember(CollectionConverters.asScala(List.of(source(0), source(1)).iterator()));
  }

  private FetchFailed failure(int shuffleId, long mapId) {
    Throwable thrown =
        catchThrowable(
            () ->
                outputs.fetchFailed(
                    new BlockManagerAddress("9", "other", 1),
                    new BlockRange(shuffleId, mapId, 1, 2),
                    "lost",
                    null));
    return (FetchFailed) ((FetchFailedException) thrown).toTaskFailedReason();
  }

  @Test
  void shouldNameTheMapOutputAndItsExecutor() {
    twoExecutors().foreach(source -> source);
    for (int map : new int[] {0, MAPS - 1, MAPS, 2 * MAPS - 1}) {
      FetchFailed failed = failure(3, map * 1_000L);
      assertThat(failed.mapIndex()).isEqualTo(map);
      assertThat(failed.bmAddress()).isEqualTo(address(map / MAPS));
    }
    assertThat(failure(3, 1).mapIndex()).as("of a merged block").isEqualTo(-1);
    assertThat(failure(4, 1_000).mapIndex()).as("of another shuffle").isEqualTo(-1);
    assertThat(failure(4, 1_000).bmAddress().executorId()).isEqualTo("9");
  }

  /** A task may read 100,000 map outputs, and Spark has dropped its list of them. */
  @Test
  void shouldNotKeepSparksListOfMapOutputs() {
    List<WeakReference<Object>> sparks = new ArrayList<>();
    twoExecutors().foreach(source -> sparks.add(new WeakReference<>(source._2().apply(1))));
    assertThat(sparks).hasSize(2);
    for (int i = 0; i < 100 && sparks.stream().anyMatch(block -> block.get() != null); i++) {
      System.gc();
    }
    assertThat(sparks).allMatch(block -> block.get() == null);
    assertThat(failure(3, 1_000).mapIndex()).isEqualTo(1);
  }
}
