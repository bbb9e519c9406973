// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import scala.Option;
import scala.Tuple2;

/** An application in this JVM, and map outputs of Spark's own writers. */
final class SparkOutputs implements AutoCloseable {
  /** Reduce partitions of every shuffle; one of them stays empty. */
  static final int PARTITIONS = 6;

  /** Map tasks of every shuffle. */
  static final int MAPS = 2;

  private static final int RECORDS = 1_200;
  private static final int SPILL_AFTER = 200;
  private static final long MIGRATED_MAP = 1_000_000;

  private final SparkConf conf;
  private final Path folder;
  private final JavaSparkContext spark;
  private final IndexShuffleBlockResolver resolver;

  /** One shuffle. */
  record Shuffle(int id, List<Long> maps) {}

  SparkOutputs(Path folder, Map<String, String> settings) {
    this.folder = folder;
    conf =
        LocalSpark.conf(1)
            .set("spark.local.dir", folder.toString())
            // Only the inspected files refer to the shuffles.
            .set("spark.cleaner.referenceTracking", "false")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.spill.numElementsForceSpillThreshold", "" + SPILL_AFTER);
    settings.forEach(conf::set);
    spark = new JavaSparkContext(conf);
    resolver = (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
  }

  SparkMapOutputs served() {
    return new SparkMapOutputs(resolver, List.of(folder), conf, true, new MissingLinks());
  }

  /** Writes without order or aggregation: UnsafeShuffleWriter, merging the spills of each task. */
  Shuffle byUnsafeWriter() throws SparkException {
    return run(records().partitionBy(new HashPartitioner(PARTITIONS)));
  }

  /** Aggregated by the map tasks: SortShuffleWriter, merging the spills of each task. */
  Shuffle bySortWriter() throws SparkException {
    return run(records().reduceByKey((a, b) -> a + b.substring(0, 2), PARTITIONS));
  }

  private JavaPairRDD<Integer, String> records() {
    // No key is PARTITIONS - 1 modulo PARTITIONS.
    return spark
        .parallelize(IntStream.range(0, RECORDS).boxed().toList(), MAPS)
        .mapToPair(
            n -> new Tuple2<>(n / (PARTITIONS - 1) * PARTITIONS + n % (PARTITIONS - 1), text(n)));
  }

  private static String text(int seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(60); i >= 0; i--) {
      text.append((char) (' ' + random.nextInt(90)));
    }
    return text.append("the same in all of them").toString();
  }

  /** Map tasks only: Spark itself cannot read an empty partition that is snappy and encrypted. */
  private Shuffle run(JavaPairRDD<Integer, String> shuffled) throws SparkException {
    assertThat(shuffled.getNumPartitions()).isEqualTo(PARTITIONS);
    var dependency = (ShuffleDependency<?, ?, ?>) shuffled.rdd().dependencies().head();
    assertThat(spark.sc().submitMapStage(dependency).get()).isNotNull();
    List<Long> maps = new ArrayList<>();
    var tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    for (MapStatus status : tracker.shuffleStatuses().apply(dependency.shuffleId()).mapStatuses()) {
      maps.add(status.mapId());
    }
    assertThat(maps).hasSize(MAPS);
    return new Shuffle(dependency.shuffleId(), maps);
  }

  /** The same map outputs after migration to another executor. */
  Shuffle migrated(Shuffle shuffle) throws IOException {
    SerializerManager serializers = SparkEnv.get().serializerManager();
    List<Long> maps = new ArrayList<>();
    for (long map : shuffle.maps()) {
      long migrated = MIGRATED_MAP + map;
      var index = new ShuffleIndexBlockId(shuffle.id(), migrated, 0);
      var data = new ShuffleDataBlockId(shuffle.id(), migrated, 0);
      put(
          resolver.putShuffleBlockAsStream(index, serializers),
          Files.readAllBytes(resolver.getIndexFile(shuffle.id(), map, Option.empty()).toPath()));
      put(
          resolver.putShuffleBlockAsStream(data, serializers),
          Files.readAllBytes(resolver.getDataFile(shuffle.id(), map).toPath()));
      maps.add(migrated);
    }
    return new Shuffle(shuffle.id(), maps);
  }

  private static void put(StreamCallbackWithID stream, byte[] bytes) throws IOException {
    stream.onData(stream.getID(), ByteBuffer.wrap(bytes));
    stream.onComplete(stream.getID());
  }

  /** The bytes that Spark's own transfer sends. */
  ManagedBuffer block(String name) {
    BlockId id = BlockId$.MODULE$.apply(name);
    return resolver.getBlockData(id, Option.empty());
  }

  byte[] bytes(String name) {
    try (var in = block(name).createInputStream()) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    spark.stop();
  }
}
