// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.shuffle.output.SparkMapOutputs;

/**
 * The local directories of an executor that has ended, as the shuffle service names them.
 *
 * @param names in the order of that executor
 * @param disks for each the index of a directory of this executor on the same mount; negative
 *     without one
 */
record OwnerDirectories(List<String> names, List<Integer> disks) {
  OwnerDirectories {
    names = List.copyOf(names);
    disks = List.copyOf(disks);
  }

  /**
   * Index of the own directory whose disk and rules a file has.
   *
   * @throws IllegalStateException without one
   */
  int disk(String fileName) {
    int disk = disks.get(SparkMapOutputs.directoryOf(fileName, names.size()));
    if (disk < 0) {
      throw new IllegalStateException("not on a disk of this executor: file=" + fileName);
    }
    return disk;
  }

  int disk(Path file) {
    return disk(file.getFileName().toString());
  }
}
