// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.environment.MachineFacts;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.ReportOption;
import org.sparkrdma.launch.RunDirectory;
import org.sparkrdma.launch.UserCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench copies}: compares positioned reads of files with copies out of
 * mappings of them. The script's help describes the options.
 */
@Command(name = "copies")
public final class CopiesCommand implements Callable<Integer> {
  private static final long SEED = 20_261_125;
  private static final DataSize MAX_TOTAL = new DataSize(1L << 30);
  private static final int MAX_FILES = CopyBatch.MANY_FILES.files();

  @Option(
      names = "--sizes",
      split = ",",
      defaultValue = "4k,64k,1m",
      converter = DataSize.Converter.class)
  private List<DataSize> sizes;

  @Option(names = "--rounds", defaultValue = "15")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "3")
  private int warmUps;

  @Option(names = "--total", defaultValue = "64m", converter = DataSize.Converter.class)
  private DataSize total;

  @Mixin private ReportOption report;

  @Mixin private LaunchOptions options;

  @Spec private CommandSpec spec;

  private final String command;

  private CopiesCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine(
        "bench copies", new CopiesCommand(UserCommand.of("copies", arguments)));
  }

  @Override
  public Integer call() throws IOException, LaunchException {
    check();
    if (options.checkOnly()) {
      return 0;
    }
    MachineFacts facts = MachineFacts.now();
    Files.createDirectories(options.workDirectory());
    Path directory = Files.createTempDirectory(options.workDirectory(), "copies");
    CopiesReport measured;
    try {
      measured = new CopiesReport(Files.getFileStore(directory).type(), measure(directory));
    } finally {
      RunDirectory.deleteTree(directory);
    }
    System.out.println();
    System.out.print(CopiesTable.of(measured.cases()));
    report.write(new RecordedReport<>(command, facts, measured));
    return 0;
  }

  private List<CopyCase> measure(Path directory) throws IOException {
    ProgressLog progress = options.progress();
    Random random = new Random(SEED);
    List<CopyCase> cases = new ArrayList<>();
    int allCases = CopyBatch.values().length * sizes.size();
    try (SharedMemory memory = new SharedMemory((int) total.bytes())) {
      for (CopyBatch batch : CopyBatch.values()) {
        int fileBytes = (int) (total.bytes() / batch.files());
        try (CopyFiles files = new CopyFiles(directory, batch.files(), fileBytes, random);
            CopyCosts costs = new CopyCosts(files, memory.bytes(), new CopyGuard(1))) {
          for (DataSize size : sizes) {
            int blockBytes = (int) size.bytes();
            cases.add(
                CopyCase.of(
                    batch,
                    fileBytes,
                    blockBytes,
                    costs.rounds(batch, blockBytes, warmUps, rounds, random)));
            progress.step(
                "copies", new ProgressLine(batch.toString(), cases.size(), allCases, "cases"));
          }
        }
      }
    }
    return cases;
  }

  private void check() {
    new NumberLimits(spec).checkRounds(rounds, warmUps);
    if (total.bytes() > MAX_TOTAL.bytes()) {
      throw misuse("--total is '%s': give at most %s".formatted(total, MAX_TOTAL));
    }
    for (DataSize size : sizes) {
      if (total.bytes() % (MAX_FILES * size.bytes()) != 0) {
        throw misuse(
            "--total is '%s': give a multiple of %d times %s, because blocks of that size are in %d files"
                .formatted(total, MAX_FILES, size, MAX_FILES));
      }
    }
    report.check();
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}
