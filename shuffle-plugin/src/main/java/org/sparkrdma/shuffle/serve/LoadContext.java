// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located;

/**
 * How a server serves map outputs, and what its loads have in common.
 *
 * @param registers whether files are registered
 * @param waitsForWindows whether a block waits for its window, and is not copied meanwhile
 * @param copies whether blocks are copied, and not only those whose checksums are computed
 * @param checksumKind of its answers
 * @param computeSums whether checksums that are not recorded are computed
 */
record LoadContext(
    MapOutputs source,
    CopyMemory memory,
    DiskWork work,
    int chunkBytes,
    boolean registers,
    boolean waitsForWindows,
    boolean copies,
    int checksumKind,
    boolean computeSums) {
  /** A checksum is computed for each cell of a block; it fits into a chunk of any size in use. */
  private static final int CELL_BYTES = 256 << 10;

  static LoadContext of(ServerParameters server, CopyMemory memory, DiskWork work) {
    ServeSettings settings = server.settings();
    MapOutputs source = server.outputs();
    DeviceFitness fitness = server.fitness();
    boolean onlyWindows = settings.mode() == Mode.WINDOW;
    boolean registers = fitness.registersFiles(settings);
    boolean recorded = source.checksumKind() != Located.NO_CHECKSUM;
    return new LoadContext(
        source,
        memory,
        work,
        settings.chunkBytes(),
        registers,
        registers && (onlyWindows || fitness.pagesOnDemand(settings)),
        !onlyWindows,
        settings.computeSums() && !recorded ? Located.CRC32C_KIND : source.checksumKind(),
        settings.computeSums());
  }

  /** Whether the checksums of a block are computed from the bytes that are served. */
  boolean computes(boolean freshSums, MapOutput map) {
    return computeSums && (freshSums || map.needsSums());
  }

  int cellBytes() {
    return Math.min(CELL_BYTES, chunkBytes);
  }
}
