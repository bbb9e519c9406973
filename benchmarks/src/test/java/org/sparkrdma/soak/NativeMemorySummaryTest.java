// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts that jcmd printed about a small JVM: of OpenJDK 17.0.15 and of Temurin 25.0.3. */
class NativeMemorySummaryTest {
  private static final double KIB = 1 / 1024.0;

  @Test
  void shouldReadTheCategoriesOfJava17() throws Exception {
    assertThat(NativeMemorySummary.committedMib(recorded("native-memory-jdk17.txt")))
        .hasSize(17)
        .containsEntry("Class", 200 * KIB)
        .containsEntry("Code", 7_586 * KIB)
        .containsEntry("Native Memory Tracking", 69 * KIB)
        .containsEntry("Object Monitors", 1 * KIB);
  }

  @Test
  void shouldReadTheCategoriesOfJava25() throws Exception {
    assertThat(NativeMemorySummary.committedMib(recorded("native-memory-jdk25.txt")))
        .hasSize(17)
        .containsEntry("Class", 184 * KIB)
        .containsEntry("Internal", 1_232 * KIB)
        .containsEntry("Shared class space", 13_908 * KIB)
        .containsEntry("String Deduplication", 1 * KIB);
  }

  @ParameterizedTest
  @CsvSource({"native-memory-jdk17.txt, 127860", "native-memory-jdk25.txt, 129606"})
  void shouldMissNoCategoryOfTheJvmsTotalButTheHeap(String file, int totalKib) throws Exception {
    Map<String, Double> committed = NativeMemorySummary.committedMib(recorded(file));
    double sum = committed.values().stream().mapToDouble(Double::doubleValue).sum();

    // Each amount is rounded to a KiB.
    assertThat(sum).isCloseTo((totalKib - 65_536) * KIB, within(committed.size() * KIB));
    assertThat(committed).doesNotContainKey("Java Heap");
  }

  @Test
  void shouldGiveTheReasonWhenTheJvmKeepsNoAccount() {
    assertThatThrownBy(
            () ->
                NativeMemorySummary.committedMib("23774:\nNative memory tracking is not enabled\n"))
        .isInstanceOf(IOException.class)
        .hasMessage("Native memory tracking is not enabled");
    assertThatThrownBy(() -> NativeMemorySummary.committedMib("23774:\n"))
        .isInstanceOf(IOException.class)
        .hasMessage("jcmd printed nothing");
  }

  static String recorded(String file) throws IOException {
    try (InputStream text = NativeMemorySummaryTest.class.getResourceAsStream(file)) {
      assertThat(text).as(file).isNotNull();
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
