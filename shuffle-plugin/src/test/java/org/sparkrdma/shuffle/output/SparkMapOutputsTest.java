// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import scala.Option;
import scala.Tuple2;

/** Tests on the files of a real Spark shuffle. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SparkMapOutputsTest {
  private static final int PARTITIONS = 7;
  private static final int SHUFFLE = 0;
  private static final long MAP = 1;
  private static final String ENABLED = "spark.shuffle.checksum.enabled";
  private final MissingLinks missing = new MissingLinks();
  private SparkConf conf;
  private JavaSparkContext spark;
  private JavaPairRDD<Integer, Iterable<Integer>> shuffled;
  private IndexShuffleBlockResolver resolver;
  private MapOutputs outputs;

  @BeforeAll
  void shuffleOnce(@TempDir Path folder) {
    conf =
        LocalSpark.conf(1)
            .set("spark.local.dir", folder.toString())
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.checksum.algorithm", "CRC32C");
    spark = new JavaSparkContext(conf);
    List<Integer> numbers = IntStream.range(0, 2000).boxed().toList();
    // Keys 0 to 4 leave two of the seven partitions empty.
    shuffled =
        spark.parallelize(numbers, 2).mapToPair(n -> new Tuple2<>(n % 5, n)).groupByKey(PARTITIONS);
    assertThat(shuffled.count()).isEqualTo(5);
    resolver = (IndexShuffleBlockResolver) SparkEnv.get().shuffleManager().shuffleBlockResolver();
    outputs = new SparkMapOutputs(resolver, List.of(), conf, true, missing);
  }

  @AfterAll
  void stop() {
    spark.stop();
  }

  @Test
  void shouldFindTheBlocksAndSumsThatSparkWrote() throws IOException {
    assertThat(outputs.checksumKind()).isEqualTo(3);
    for (long map = 0; map < 2; map++) {
      MapOutput output = outputs.open(SHUFFLE, map);
      assertThat(output.partitions()).isEqualTo(PARTITIONS);
      assertThat(output.dataFile()).isEqualTo(resolver.getDataFile(SHUFFLE, map).toPath());
      long[] sums =
          resolver.getChecksums(
              resolver.getChecksumFile(SHUFFLE, map, "CRC32C", Option.empty()), PARTITIONS);
      for (int i = 0; i < PARTITIONS; i++) {
        var segment =
            (FileSegmentManagedBuffer)
                resolver.getBlockData(new ShuffleBlockId(SHUFFLE, map, i), Option.empty());
        assertThat(output.offset(i)).isEqualTo(segment.getOffset());
        assertThat(output.offset(i + 1)).isEqualTo(segment.getOffset() + segment.getLength());
        assertThat(output.sum(i)).isEqualTo(sums[i]);
      }
      assertThat(output.lengthBytes()).isEqualTo(Files.size(output.dataFile())).isPositive();
    }
  }

  @Test
  void shouldReadARangeOfAnIndexThatIsTooLongToBeReadAsAWhole() throws IOException {
    MapOutput whole = outputs.open(SHUFFLE, MAP);
    for (int first = 0; first < PARTITIONS; first++) {
      for (int end = first + 1; end <= PARTITIONS; end++) {
        MapOutput part =
            outputs.openRange(
                Locate.OWN,
                SHUFFLE,
                MAP,
                new PartitionRange(first, end, count -> count < PARTITIONS));
        assertThat(part.isWhole()).isEqualTo(end - first == PARTITIONS);
        assertThat(part.partitions()).isEqualTo(PARTITIONS);
        assertThat(part.hasSums()).isTrue();
        for (int i = first; i < end; i++) {
          assertThat(part.offset(i)).isEqualTo(whole.offset(i));
          assertThat(part.offset(i + 1)).isEqualTo(whole.offset(i + 1));
          assertThat(part.sum(i)).isEqualTo(whole.sum(i));
        }
      }
    }
    assertThat(
            outputs.openRange(
                Locate.OWN, SHUFFLE, MAP, new PartitionRange(2, 3, count -> count <= PARTITIONS)))
        .matches(MapOutput::isWhole);
    assertThatThrownBy(
            () ->
                outputs.openRange(
                    Locate.OWN,
                    SHUFFLE,
                    MAP,
                    new PartitionRange(0, PARTITIONS + 1, count -> false)))
        .isInstanceOf(IOException.class);
  }

  /** An Error on a thread of a disk would end the executor. */
  @Test
  void shouldKnowNoBlockWhereAMethodOfSparkIsMissing() {
    MissingLinks links = new MissingLinks();
    var broken =
        new IndexShuffleBlockResolver(conf, null, new ConcurrentHashMap<>()) {
          @Override
          public File getIndexFile(int shuffleId, long mapId, Option<String[]> directories) {
            throw new NoSuchMethodError("gone");
          }
        };
    var unlinked = new SparkMapOutputs(broken, List.of(), conf, true, links);
    assertThatThrownBy(() -> unlinked.open(SHUFFLE, MAP)).isInstanceOf(IOException.class);
    assertThat(links.reason().orElseThrow()).contains("gone");
  }

  @Test
  void shouldNotFindAMissingMapOutput() throws IOException {
    assertThat(outputs.open(SHUFFLE, 99)).isNull();
    assertThat(outputs.open(99, MAP)).isNull();
  }

  @Test
  void shouldHaveNoSumsWithoutVerificationOrAUsableFileOfThem() throws IOException {
    var off =
        new SparkMapOutputs(resolver, List.of(), conf.clone().set(ENABLED, "false"), true, missing);
    assertThat(off.checksumKind()).isEqualTo(Located.NO_CHECKSUM);
    assertThat(off.open(SHUFFLE, MAP).hasSums()).isFalse();
    var unverified = new SparkMapOutputs(resolver, List.of(), conf, false, missing);
    assertThat(unverified.checksumKind()).isEqualTo(Located.NO_CHECKSUM);
    assertThat(unverified.open(SHUFFLE, MAP).hasSums()).isFalse();

    Path sums = resolver.getChecksumFile(SHUFFLE, MAP, "CRC32C", Option.empty()).toPath();
    byte[] right = Files.readAllBytes(sums);
    for (int length : new int[] {0, 8, right.length - 1}) {
      Files.write(sums, Arrays.copyOf(right, length));
      assertThat(outputs.open(SHUFFLE, MAP).hasSums()).isFalse();
    }
    try (RandomAccessFile longest = new RandomAccessFile(sums.toFile(), "rw")) {
      longest.setLength(1L << 31);
    }
    assertThat(outputs.open(SHUFFLE, MAP).hasSums()).as("larger than an array").isFalse();
    Files.delete(sums);
    assertThat(outputs.open(SHUFFLE, MAP).hasSums()).isFalse();
    Files.write(sums, right);
    assertThat(outputs.open(SHUFFLE, MAP).hasSums()).isTrue();
  }

  @Test
  void shouldRefuseAnIndexThatIsCutOffOrInconsistent() throws IOException {
    Path index = resolver.getIndexFile(SHUFFLE, MAP, Option.empty()).toPath();
    byte[] right = Files.readAllBytes(index);
    byte[] goesDown = right.clone();
    ByteBuffer.wrap(goesDown).putLong(8, Long.MAX_VALUE);
    byte[] beginsLate = right.clone();
    ByteBuffer.wrap(beginsLate).putLong(0, 1);
    byte[] tooLong = right.clone();
    long end = ByteBuffer.wrap(right).getLong(right.length - 8);
    ByteBuffer.wrap(tooLong).putLong(right.length - 8, end + 1);
    for (byte[] wrong :
        List.of(
            new byte[0],
            new byte[8],
            Arrays.copyOf(right, right.length - 1),
            goesDown,
            beginsLate,
            tooLong)) {
      Files.write(index, wrong);
      assertThatThrownBy(() -> outputs.open(SHUFFLE, MAP)).isInstanceOf(IOException.class);
    }
    Files.write(index, right);
    assertThat(outputs.open(SHUFFLE, MAP)).isNotNull();
  }

  @Test
  void shouldFindMapOutputsInDirectoriesOfAnotherExecutor(@TempDir Path folder) throws IOException {
    Path mine = Files.createDirectories(folder.resolve("mine"));
    Path others = Files.createDirectories(folder.resolve("others"));
    Path local = Path.of(SparkEnv.get().blockManager().diskBlockManager().localDirsString()[0]);
    try (Stream<Path> all = Files.walk(local)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        Path copy = others.resolve(local.relativize(file));
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
    var two = new SparkMapOutputs(resolver, List.of(local, mine), conf, true, missing);
    String[] names = {others.toString()};

    MapOutput output = two.openIn(names, data -> mine, SHUFFLE, MAP, PartitionRange.WHOLE);

    assertThat(output.dataFile()).startsWith(others);
    assertThat(output.hasSums()).isTrue();
    assertThat(output.lengthBytes()).isEqualTo(outputs.open(SHUFFLE, MAP).lengthBytes());
    assertThat(two.dataDisk(output)).as("that of the own directory on its mount").isEqualTo(1);
    assertThat(output.isIn(List.of(mine))).as("with its rule").isTrue();
    assertThat(output.isIn(List.of(local))).isFalse();
    assertThat(two.openIn(names, data -> mine, 99, MAP, PartitionRange.WHOLE)).isNull();
  }

  @Test
  void shouldRequireADataFileOnlyForNonEmptyOutputs() throws IOException {
    Path data = resolver.getDataFile(SHUFFLE, MAP).toPath();
    byte[] right = Files.readAllBytes(data);
    Files.delete(data);
    assertThatThrownBy(() -> outputs.open(SHUFFLE, MAP)).isInstanceOf(IOException.class);
    Path index = resolver.getIndexFile(SHUFFLE, MAP, Option.empty()).toPath();
    byte[] rightIndex = Files.readAllBytes(index);
    Files.write(index, new byte[rightIndex.length]);
    assertThat(outputs.open(SHUFFLE, MAP).lengthBytes()).isZero();
    Files.write(index, rightIndex);
    Files.write(data, right);
  }
}
