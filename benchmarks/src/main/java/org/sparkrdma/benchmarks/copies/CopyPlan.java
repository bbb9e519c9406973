// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The copies of one round in their order: each block of all files once, the blocks of a file in a
 * random order. Immutable.
 */
final class CopyPlan {
  private final int[] files;
  private final int[] offsets;

  /** Index behind the last copy of each batch. */
  private final int[] ends;

  private CopyPlan(List<int[]> copies, List<Integer> ends) {
    files = copies.stream().mapToInt(copy -> copy[0]).toArray();
    offsets = copies.stream().mapToInt(copy -> copy[1]).toArray();
    this.ends = ends.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * @param blockBytes a part of {@code fileBytes} without a rest
   */
  static CopyPlan of(CopyBatch batch, int fileBytes, int blockBytes, Random random) {
    int blocks = fileBytes / blockBytes;
    List<List<Integer>> order = new ArrayList<>();
    for (int file = 0; file < batch.files(); file++) {
      List<Integer> all = new ArrayList<>(IntStream.range(0, blocks).boxed().toList());
      Collections.shuffle(all, random);
      order.add(all);
    }
    List<int[]> copies = new ArrayList<>();
    List<Integer> ends = new ArrayList<>();
    if (batch == CopyBatch.MANY_FILES) {
      for (int i = 0; i < blocks; i++) {
        for (int file = 0; file < batch.files(); file++) {
          copies.add(new int[] {file, order.get(file).get(i) * blockBytes});
        }
        ends.add(copies.size());
      }
    } else {
      for (int file = 0; file < batch.files(); file++) {
        for (int i = 0; i < blocks; i++) {
          copies.add(new int[] {file, order.get(file).get(i) * blockBytes});
          if ((i + 1) % CopyBatch.MAX_COPIES == 0 || i == blocks - 1) {
            ends.add(copies.size());
          }
        }
      }
    }
    return new CopyPlan(copies, ends);
  }

  int copies() {
    return files.length;
  }

  int batches() {
    return ends.length;
  }

  int end(int batch) {
    return ends[batch];
  }

  int file(int copy) {
    return files[copy];
  }

  int offset(int copy) {
    return offsets[copy];
  }
}
