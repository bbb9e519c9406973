// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(120)
class CopiesCommandTest {

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench copies", CopiesCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --sizes=2m                     | --total is '64 MiB': give a multiple of 64 times 2 MiB,
          --sizes=x                      | 'x'
          --rounds=0                     | --rounds is '0': give a whole number from 1 to 1000
          --warm-ups=-1                  | --warm-ups is '-1': give a whole number from 0 to 1000
          --total=2g                     | --total is '2 GiB': give at most 1 GiB
          --total=100k                   | --total is '100 KiB': give a multiple of 64 times 4 KiB,
          --report=/dev/null/copies.json | --report is '/dev/null/copies.json': give a file
          """)
  void shouldRefuseMisuseBeforeAnythingIsMeasured(String option, String sentence) {
    assertThat(Refusal.of(CopiesCommand.commandLine(), arguments(option))).contains(sentence);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldReportEachCaseAndLeaveNothingElseBehind() throws Exception {
    Path report = directory.resolve("copies.json");

    int exit =
        execute("--sizes=4k,8k", "--total=1m", "--rounds=2", "--warm-ups=1", "--report=" + report);

    assertThat(exit).isZero();
    assertThat(directory.resolve("work")).isEmptyDirectory();
    JsonNode json = new ObjectMapper().readTree(report.toFile());
    assertThat(json.at("/command").asText())
        .isEqualTo("./bench copies --sizes=4k,8k --total=1m --rounds=2 --warm-ups=1");
    assertThat(json.at("/environment/host").asText()).contains(" processors, ");
    assertThat(json.at("/results/fileSystem").asText()).isNotEmpty();
    JsonNode cases = json.at("/results/cases");
    assertThat(cases).hasSize(4);
    for (JsonNode one : cases) {
      for (String figure :
          List.of(
              "readUs",
              "mappedUs",
              "mappedRatio",
              "newMappedUs",
              "newMappedRatio",
              "mapUs",
              "unmapUs")) {
        assertThat(one.at("/" + figure + "/median").asDouble()).as(figure).isPositive();
      }
    }
    assertThat(cases.at("/0/batch").asText()).isEqualTo("of 64 files");
    assertThat(cases.at("/0/copies").asInt()).isEqualTo(256);
    assertThat(cases.at("/3/batch").asText()).isEqualTo("of one file");
    assertThat(cases.at("/3/copies").asInt()).isEqualTo(128);
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindWrongBytes(CopyBatch batch) throws Exception {
    int fileBytes = 8 << 10;
    try (SharedMemory memory = new SharedMemory(batch.files() * fileBytes);
        CopyFiles files = new CopyFiles(directory, batch.files(), fileBytes, new Random(1));
        CopyCosts costs = new CopyCosts(files, memory.bytes(), new CopyGuard(1))) {
      assertThat(costs.rounds(batch, 4 << 10, 0, 1, new Random(2))).hasSize(1);

      write(directory.resolve("copies-1.data"), 5_000);

      assertThatThrownBy(() -> costs.rounds(batch, 4 << 10, 0, 1, new Random(2)))
          .hasMessage("wrong bytes were copied: blockBytes=4096");
    }
    assertThat(directory).isEmptyDirectory();
  }

  private static void write(Path file, long offset) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(100), offset);
    }
  }

  @Test
  void shouldFindATruncatedFileAndAllocateByTheRuntime() throws Exception {
    CopyGuard guard = new CopyGuard(2);
    guard.raisePendingError();
    assertThat(guard.arrays()).isEqualTo(2);
    Path file = Files.write(directory.resolve("short"), new byte[10]);
    try (FileChannel channel = FileChannel.open(file)) {
      guard.requireSize(channel, 10);
      assertThatThrownBy(() -> guard.requireSize(channel, 11))
          .isInstanceOf(EOFException.class)
          .hasMessage("file was truncated: bytes=10");
    }
  }

  @Test
  void shouldPrintTheRatioBesideEachMapping() {
    CopyCase one =
        CopyCase.of(
            CopyBatch.ONE_FILE,
            8192,
            4096,
            List.of(
                new CopyRound(1, 0.5, 0.25, 30, 7),
                new CopyRound(1.2, 0.5, 0.3, 31, 8),
                new CopyRound(1.4, 0.5, 0.35, 32, 9)));
    assertThat(CopiesTable.rows(List.of(one)).get(1))
        .containsExactly(
            "of one file",
            "4 KiB",
            "1.20",
            "0.50 (2.40, 2.00..2.80)",
            "0.30 (4.00, 4.00..4.00)",
            "31.0",
            "8.00");
  }

  private int execute(String... options) {
    String[] all = arguments(options);
    return CopiesCommand.commandLine(all).execute(all);
  }

  private String[] arguments(String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("--project", "p", "--work-dir", directory + "/work"));
    arguments.addAll(List.of(options));
    return arguments.toArray(new String[0]);
  }
}
