// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.Option;
import scala.Tuple2;

@Tag("slow")
@Timeout(120)
class IndexInMemoryManagerTest {
  private static final int REDUCERS = 4;

  private static String place(IndexShuffleBlockResolver resolver, int reducer) {
    return resolver.getBlockData(new ShuffleBlockId(0, 0, reducer), Option.empty()).toString();
  }

  /** The page of the benchmarks says both. */
  @Test
  void shouldReadAnIndexOnceWhereSparkReadsItForEachBlock(@TempDir Path folder) throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("index")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.local.dir", folder.toString());
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      List<Integer> numbers = List.of(1, 2, 3, 4, 5);
      spark.parallelize(numbers, 1).mapToPair(n -> new Tuple2<>(n, n)).groupByKey(REDUCERS).count();
      var sparks =
          (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
      var inMemory = new IndexInMemoryManager.Resolver(conf);
      for (int i = 0; i < REDUCERS; i++) {
        assertThat(place(inMemory, i)).isEqualTo(place(sparks, i));
      }
      String last = place(sparks, REDUCERS - 1);
      Files.delete(sparks.getIndexFile(0, 0, Option.empty()).toPath());
      assertThat(place(inMemory, REDUCERS - 1)).isEqualTo(last);
      assertThatThrownBy(() -> place(sparks, 0)).isInstanceOf(NoSuchFileException.class);
      inMemory.removeDataByMap(0, 0);
      assertThatThrownBy(() -> place(inMemory, 0)).hasCauseInstanceOf(NoSuchFileException.class);
    }
  }
}
