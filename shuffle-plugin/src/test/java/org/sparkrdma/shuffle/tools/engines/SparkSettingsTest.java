// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparkSettingsTest {
  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n\n",
        "# only\n   ! comments",
        "spark.a 1\nspark.b=2\r\nspark.c : 3\rspark.d\n",
        "spark.a one, \\\n    two\nspark.b \\\\\nspark.c x",
        "# ends in a backslash \\\nspark.a 1",
        "spark.a x \\\n# part of the value\nspark.b 1",
        "spark.a \\\n\nspark.b 1",
        "\\\n\nspark.b 1",
        "spark.\\u0061 \\u00e9\\\n",
        "a\\ b c\nx\\:y=z",
        "spark.a 1\nspark.a 2\nspark.a 3"
      })
  void shouldReadWhatJavaReads(String text) throws IOException {
    Properties java = new Properties();
    java.load(new StringReader(text));
    Map<String, String> ofSpark = new TreeMap<>();
    for (String key : java.stringPropertyNames()) {
      if (key.startsWith("spark.")) {
        ofSpark.put(key, java.getProperty(key));
      }
    }
    assertThat(read(text).values()).isEqualTo(ofSpark);
  }

  @Test
  void shouldReplaceWrongBytesAsSparkDoesAndLeaveOutKeysThatSparkIgnores() throws IOException {
    Path file = directory.resolve("latin");
    Files.write(file, "spark.b \u00e9\nother 1\n".getBytes(StandardCharsets.ISO_8859_1));
    SparkSettings read = SparkSettings.read(file, new Properties());
    assertThat(read.values()).isEqualTo(Map.of("spark.b", "\ufffd"));
    assertThat(read.isUnknown()).isFalse();
    assertThat(SparkSettings.read(null, new Properties()).isUnknown()).isTrue();
  }

  private SparkSettings read(String text) throws IOException {
    return SparkSettings.read(Files.writeString(directory.resolve("c"), text), new Properties());
  }
}
