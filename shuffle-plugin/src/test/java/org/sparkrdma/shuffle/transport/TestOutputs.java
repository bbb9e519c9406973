// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32C;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.wire.Locate;

/** Map outputs of random bytes in real files, by default with right checksums. */
public final class TestOutputs implements MapOutputs {
  private static final int CRC32C_KIND = 3;

  private final Path directory;
  private final List<Path> directories;
  private final Map<Task, byte[]> contents = new HashMap<>();
  private final Map<Task, MapOutput> outputs = new HashMap<>();

  /** Those of executors that have ended, by their owner. */
  private final Map<Integer, TestOutputs> ended = new ConcurrentHashMap<>();

  private volatile CompletableFuture<Integer> diskOfEnded = CompletableFuture.completedFuture(0);

  private long blockedMapId = -1;
  private CountDownLatch blocked;
  private int opened;
  private Runnable duringOpen = () -> {};

  private record Task(int shuffleId, long mapId) {}

  /**
   * @param second another directory, thus perhaps another disk; null without one
   */
  public TestOutputs(Path directory, Path second) {
    this.directory = directory;
    directories = second == null ? List.of(directory) : List.of(directory, second);
  }

  @Override
  public int disks() {
    return directories.size();
  }

  @Override
  public synchronized int indexDisk(int shuffleId, long mapId) {
    MapOutput output = get(shuffleId, mapId);
    return output == null ? 0 : dataDisk(output);
  }

  @Override
  public int dataDisk(MapOutput output) {
    return Math.max(0, directories.indexOf(output.dataFile().getParent()));
  }

  @Override
  public List<Path> directories() {
    return directories;
  }

  /** Serves those of an executor that has ended. */
  public void standInFor(String executorId, TestOutputs outputsOfIt) {
    ended.put(Locate.owner(executorId), outputsOfIt);
  }

  /** The index of the disk of all map outputs of executors that have ended; it may come later. */
  public void ownedBy(CompletableFuture<Integer> disk) {
    diskOfEnded = disk;
  }

  @Override
  public CompletableFuture<Integer> indexDiskOf(int owner, int shuffleId, long mapId) {
    return owner == Locate.OWN
        ? CompletableFuture.completedFuture(indexDisk(shuffleId, mapId))
        : diskOfEnded;
  }

  @Override
  public MapOutput openOf(int owner, int shuffleId, long mapId) throws IOException {
    return (owner == Locate.OWN ? this : ended.get(owner)).open(shuffleId, mapId);
  }

  /** Writes a map output of shuffle 0 whose partitions have these lengths. */
  public void write(long mapId, Random random, int... partitionBytes) throws IOException {
    writeIn(directory, 0, mapId, random, partitionBytes);
  }

  /** Likewise, of a shuffle and in this directory. */
  public synchronized void writeIn(
      Path folder, int shuffleId, long mapId, Random random, int... partitionBytes)
      throws IOException {
    long[] offsets = new long[partitionBytes.length + 1];
    long[] sums = new long[partitionBytes.length];
    for (int i = 0; i < partitionBytes.length; i++) {
      offsets[i + 1] = offsets[i] + partitionBytes[i];
    }
    byte[] bytes = new byte[(int) offsets[partitionBytes.length]];
    random.nextBytes(bytes);
    for (int i = 0; i < partitionBytes.length; i++) {
      CRC32C crc = new CRC32C();
      crc.update(bytes, (int) offsets[i], partitionBytes[i]);
      sums[i] = crc.getValue();
    }
    Path file = folder.resolve("shuffle_" + shuffleId + "_" + mapId + "_0.data");
    if (bytes.length > 0) {
      Files.write(file, bytes);
    }
    contents.put(new Task(shuffleId, mapId), bytes);
    add(shuffleId, mapId, new MapOutput(file, offsets, sums));
  }

  public synchronized void add(int shuffleId, long mapId, MapOutput output) {
    outputs.put(new Task(shuffleId, mapId), output);
  }

  public synchronized MapOutput get(int shuffleId, long mapId) {
    return outputs.get(new Task(shuffleId, mapId));
  }

  /** Deletes the map outputs of a shuffle. */
  public synchronized void delete(int shuffleId) throws IOException {
    for (Map.Entry<Task, MapOutput> output : outputs.entrySet()) {
      if (output.getKey().shuffleId() == shuffleId) {
        Files.deleteIfExists(output.getValue().dataFile());
      }
    }
    outputs.keySet().removeIf(task -> task.shuffleId() == shuffleId);
  }

  /** Removes its recorded checksums. */
  public synchronized void forgetSums(long mapId) {
    MapOutput with = get(0, mapId);
    long[] offsets = new long[with.partitions() + 1];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = with.offset(i);
    }
    add(0, mapId, new MapOutput(with.dataFile(), offsets, null));
  }

  /** Changes one byte in the file, so that its checksum is wrong. */
  public synchronized void corrupt(long mapId, int at) throws IOException {
    try (FileChannel file = FileChannel.open(get(0, mapId).dataFile(), StandardOpenOption.WRITE)) {
      byte changed = (byte) (contents.get(new Task(0, mapId))[at] + 1);
      file.write(ByteBuffer.wrap(new byte[] {changed}), at);
    }
  }

  /** The expected bytes of a block. */
  public synchronized byte[] expected(BlockRange block) {
    MapOutput output = get(block.shuffleId(), block.mapId());
    int from = (int) output.offset(block.startReduceId());
    int to = (int) output.offset(block.endReduceId());
    byte[] bytes = contents.get(new Task(block.shuffleId(), block.mapId()));
    return Arrays.copyOfRange(bytes, from, to);
  }

  /** Number of times that a map output was read from its files. */
  public synchronized int opened() {
    return opened;
  }

  /** Delays each opening of a map output until the latch opens, as a hanging disk does. */
  public synchronized CountDownLatch blockUntil(long mapId) {
    blockedMapId = mapId;
    blocked = new CountDownLatch(1);
    return blocked;
  }

  /** Runs this while the next map output is opened. */
  public synchronized void duringNextOpen(Runnable during) {
    duringOpen = during;
  }

  @Override
  public MapOutput open(int shuffleId, long mapId) throws IOException {
    Runnable during;
    synchronized (this) {
      during = duringOpen;
      duringOpen = () -> {};
    }
    during.run();
    CountDownLatch waitFor;
    synchronized (this) {
      waitFor = mapId == blockedMapId ? blocked : new CountDownLatch(0);
    }
    try {
      waitFor.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    synchronized (this) {
      opened++;
      return get(shuffleId, mapId);
    }
  }

  @Override
  public int checksumKind() {
    return CRC32C_KIND;
  }
}
