// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.launch.DataSize;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of commands that fetch blocks of several lengths. Confined to the main thread. */
public final class FetchOptions {
  /** Limit of bytes in flight; a larger block would not fit in one request. */
  public static final DataSize LARGEST_BLOCK = new DataSize(FetchPlan.MAX_BYTES_IN_FLIGHT);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--sizes",
      split = ",",
      defaultValue = "4k,64k,1m,16m",
      converter = DataSize.Converter.class)
  private List<DataSize> sizes;

  @Option(names = "--jfr")
  private Path flightRecordings;

  /** Used by picocli. */
  public FetchOptions() {}

  /**
   * @throws ParameterException when a block is too large
   */
  public void check() {
    for (DataSize size : sizes) {
      if (size.bytes() > LARGEST_BLOCK.bytes()) {
        throw new ParameterException(
            spec.commandLine(),
            "--sizes has '%s': give sizes of at most %s".formatted(size, LARGEST_BLOCK));
      }
    }
  }

  /** The lengths of blocks in bytes, each once. */
  public List<Integer> blockBytes() {
    return sizes.stream().distinct().map(size -> Math.toIntExact(size.bytes())).toList();
  }

  /** Directory of flight recordings, which is created; null for none. */
  public Path recordingDirectory() throws IOException {
    return flightRecordings == null ? null : Files.createDirectories(flightRecordings).toRealPath();
  }
}
