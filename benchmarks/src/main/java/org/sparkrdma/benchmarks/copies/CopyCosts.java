// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.MappedByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Measures the CPU time of its thread for copies of all blocks of some files into memory: by
 * positioned reads, out of mappings that were read before, and out of new mappings. Each round
 * begins with another way. Confined to one thread; closed by its creator.
 */
final class CopyCosts implements AutoCloseable {
  private static final int WAYS = 3;
  private static final double NS_PER_US = 1e3;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final CopyFiles files;
  private final MappedByteBuffer memory;
  private final CopyGuard guard;
  private final List<MappedByteBuffer> readBefore;

  /**
   * @param memory at least as long as all files together
   */
  CopyCosts(CopyFiles files, MappedByteBuffer memory, CopyGuard guard) throws IOException {
    this.files = files;
    this.memory = memory;
    this.guard = guard;
    readBefore = files.map();
    readBefore.forEach(MemorySum::of);
  }

  /** Measures rounds of one length, after some that are not measured. */
  List<CopyRound> rounds(CopyBatch batch, int blockBytes, int warmUps, int rounds, Random random)
      throws IOException {
    List<CopyRound> measured = new ArrayList<>();
    for (int i = -warmUps; i < rounds; i++) {
      CopyPlan plan = CopyPlan.of(batch, files.fileBytes(), blockBytes, random);
      CopyRound round = round(plan, blockBytes, Math.floorMod(i, WAYS));
      if (i >= 0) {
        measured.add(round);
      }
    }
    return measured;
  }

  private CopyRound round(CopyPlan plan, int blockBytes, int first) throws IOException {
    long readNs = 0;
    long mappedNs = 0;
    NewMapping mapping = null;
    for (int i = 0; i < WAYS; i++) {
      corrupt(plan, blockBytes);
      switch ((first + i) % WAYS) {
        case 0 -> readNs = read(plan, blockBytes);
        case 1 -> mappedNs = copy(plan, blockBytes, readBefore);
        default -> mapping = copyOutOfNewMappings(plan, blockBytes);
      }
      requireSum(plan, blockBytes);
    }
    double copies = plan.copies() * NS_PER_US;
    double mappings = readBefore.size() * NS_PER_US;
    return new CopyRound(
        readNs / copies,
        mappedNs / copies,
        mapping.copyNs() / copies,
        mapping.mapNs() / mappings,
        mapping.unmapNs() / mappings);
  }

  private record NewMapping(long mapNs, long copyNs, long unmapNs) {}

  private long nowNs() {
    return threads.getCurrentThreadCpuTime();
  }

  private long read(CopyPlan plan, int blockBytes) throws IOException {
    long startNs = nowNs();
    for (int i = 0; i < plan.copies(); i++) {
      int at = i * blockBytes;
      memory.limit(at + blockBytes).position(at);
      if (files.channel(plan.file(i)).read(memory, plan.offset(i)) != blockBytes) {
        throw new EOFException("file ended early: file=" + plan.file(i));
      }
    }
    long tookNs = nowNs() - startNs;
    memory.clear();
    return tookNs;
  }

  private long copy(CopyPlan plan, int blockBytes, List<MappedByteBuffer> mappings)
      throws IOException {
    long startNs = nowNs();
    int copy = 0;
    for (int batch = 0; batch < plan.batches(); batch++) {
      int begin = copy;
      for (; copy < plan.end(batch); copy++) {
        memory.put(copy * blockBytes, mappings.get(plan.file(copy)), plan.offset(copy), blockBytes);
      }
      guard.raisePendingError();
      for (int i = begin; i < copy; i++) {
        if (i == begin || plan.file(i) != plan.file(i - 1)) {
          guard.requireSize(files.channel(plan.file(i)), files.fileBytes());
        }
      }
    }
    return nowNs() - startNs;
  }

  private NewMapping copyOutOfNewMappings(CopyPlan plan, int blockBytes) throws IOException {
    long startNs = nowNs();
    List<MappedByteBuffer> mappings = files.map();
    long mappedNs = nowNs();
    long copyNs = copy(plan, blockBytes, mappings);
    long copiedNs = nowNs();
    mappings.forEach(Unmapping::unmap);
    return new NewMapping(mappedNs - startNs, copyNs, nowNs() - copiedNs);
  }

  /** Changes each block, so that one that is not copied makes the sum wrong. */
  private void corrupt(CopyPlan plan, int blockBytes) {
    for (int i = 0; i < plan.copies(); i++) {
      memory.putLong(i * blockBytes, i);
    }
  }

  private void requireSum(CopyPlan plan, int blockBytes) throws IOException {
    if (MemorySum.of(memory.slice(0, plan.copies() * blockBytes)) != files.sum()) {
      throw new IOException("wrong bytes were copied: blockBytes=" + blockBytes);
    }
  }

  @Override
  public void close() {
    readBefore.forEach(Unmapping::unmap);
  }
}
