// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/** Map outputs whose partitions have one length. */
record VirtualOutputs(Path file, int partitions, int blockBytes) implements MapOutputs {
  @Override
  public MapOutput open(int shuffleId, long mapId) {
    return new MapOutput(
        file,
        partitions,
        (long) partitions * blockBytes,
        false,
        new MapOutput.Source() {
          @Override
          public long[] offsets(int first, int count) {
            return LongStream.rangeClosed(first, first + count)
                .map(partition -> partition * blockBytes)
                .toArray();
          }

          @Override
          public long[] sums(int first, int count) {
            return null;
          }
        });
  }

  @Override
  public List<Path> directories() {
    return List.of();
  }
}
