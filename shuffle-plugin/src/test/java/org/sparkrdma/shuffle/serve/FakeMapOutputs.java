// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.Adler32;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/** Map outputs of random bytes in a folder. */
final class FakeMapOutputs implements MapOutputs {
  private final Path folder;
  private final Map<String, MapOutput> known = new HashMap<>();
  private final Map<String, byte[]> contents = new HashMap<>();
  private int opened;
  private int disks = 1;

  FakeMapOutputs(Path folder) {
    this.folder = folder;
  }

  /** Spreads shuffles over disks: with two, odd shuffles are on disk 0, even ones on disk 1. */
  void spreadOver(int count) {
    disks = count;
  }

  @Override
  public int disks() {
    return disks;
  }

  @Override
  public int indexDisk(int shuffleId, long mapId) {
    return diskOf(shuffleId);
  }

  private int diskOf(int shuffleId) {
    return disks == 1 ? 0 : (shuffleId - 1) % disks;
  }

  @Override
  public int dataDisk(MapOutput mapOutput) {
    if (disks == 1) {
      return 0;
    }
    String[] name = mapOutput.dataFile().getFileName().toString().split("_", -1);
    return diskOf(Integer.parseInt(name[1]));
  }

  @Override
  public List<Path> directories() {
    return List.of();
  }

  /** Writes a map output with partitions of these lengths; returns its bytes. */
  byte[] write(int shuffleId, long mapId, Random random, boolean withSums, int... lengths)
      throws IOException {
    byte[] bytes = new byte[Arrays.stream(lengths).sum()];
    random.nextBytes(bytes);
    long[] offsets = new long[lengths.length + 1];
    long[] sums = new long[lengths.length];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
      Adler32 sum = new Adler32();
      sum.update(bytes, (int) offsets[i], lengths[i]);
      sums[i] = sum.getValue();
    }
    Path file = folder.resolve("shuffle_" + name(shuffleId, mapId) + ".data");
    if (bytes.length > 0) {
      Files.write(file, bytes);
    }
    add(shuffleId, mapId, new MapOutput(file, offsets, withSums ? sums : null));
    contents.put(name(shuffleId, mapId), bytes);
    return bytes;
  }

  void add(int shuffleId, long mapId, MapOutput output) {
    known.put(name(shuffleId, mapId), output);
  }

  /** Deletes the map outputs of a shuffle. */
  void delete(int shuffleId) throws IOException {
    for (Map.Entry<String, MapOutput> entry : known.entrySet()) {
      if (entry.getKey().startsWith(shuffleId + "_")) {
        Files.deleteIfExists(entry.getValue().dataFile());
      }
    }
    known.keySet().removeIf(name -> name.startsWith(shuffleId + "_"));
  }

  MapOutput get(int shuffleId, long mapId) {
    return known.get(name(shuffleId, mapId));
  }

  /** The bytes of adjacent partitions. */
  byte[] expected(int shuffleId, long mapId, int startReduceId, int endReduceId) {
    MapOutput output = get(shuffleId, mapId);
    return Arrays.copyOfRange(
        contents.get(name(shuffleId, mapId)),
        (int) output.offset(startReduceId),
        (int) output.offset(endReduceId));
  }

  /** Number of times that a map output was read from its files. */
  int opened() {
    return opened;
  }

  private static String name(int shuffleId, long mapId) {
    return shuffleId + "_" + mapId;
  }

  @Override
  public int checksumKind() {
    return 1;
  }

  @Override
  public MapOutput open(int shuffleId, long mapId) {
    opened++;
    return known.get(name(shuffleId, mapId));
  }
}
