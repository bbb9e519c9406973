// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsFileTest {
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
    assertThat(read(text).values()).isEqualTo(java);
  }

  @Test
  void shouldNameTheLinesOfAKeyThatIsSetTwiceOrMore() throws IOException {
    SettingsFile file =
        read(
            """
            # of this cluster
            spark.a  1
            spark.b  one, \\
                     two
            spark.a  2
            spark.b  three
            spark.c  1
            spark.a  3
            """);
    assertThat(file.values()).containsEntry("spark.a", "3").containsEntry("spark.b", "three");
    assertThat(file.remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly(
            "spark.a is set 3 times, in lines 2, 5 and 8; the last one counts.",
            "spark.b is set twice, in lines 3 and 6; the last one counts.");
  }

  @Test
  void shouldSayThatACommentAfterAValueIsPartOfTheValue() throws IOException {
    SettingsFile file =
        read("spark.a  1 # one\nspark.b  x#y\nspark.c\t# none\nspark.d  secret\t#word\n");
    assertThat(file.values()).containsEntry("spark.a", "1 # one");
    assertThat(file.remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly(
            "spark.a in line 1: a # after a value is part of the value.",
            "spark.c in line 3: a # after a value is part of the value.",
            "spark.d in line 4: a # after a value is part of the value.");
  }

  @Test
  void shouldReplaceWrongBytesAsSparkDoesAndNameTheLines() throws IOException {
    Path file = directory.resolve("latin");
    Files.write(
        file, "spark.a 1\n# caf\u00e9\nspark.b \u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
    SettingsFile read = SettingsFile.read(file);
    assertThat(read.values()).containsEntry("spark.a", "1").containsEntry("spark.b", "\ufffd");
    assertThat(read.remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly(
            "Lines 2 and 3 have bytes that are not UTF-8; Spark replaces them by \ufffd.");
  }

  @Test
  void shouldAcceptOtherLettersInUtf8() throws IOException {
    assertThat(read("# caf\u00e9 \ufffd\nspark.b \u00e9\n").remarks()).isEmpty();
  }

  @Test
  void shouldSayThatAFileSetsNothing() throws IOException {
    assertThat(read("# spark.a 1\n\n").remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly("The file of --conf sets nothing: it has only comments or is empty.");
    assertThat(read("spark.a 1\n").remarks()).isEmpty();
  }

  @Test
  void shouldNameAByteOrderMark() throws IOException {
    SettingsFile file = read("\ufeffspark.a 1\nspark.b 2\n");
    assertThat(file.values()).containsOnlyKeys("\ufeffspark.a", "spark.b");
    assertThat(file.foreignKeys()).isEmpty();
    assertThat(file.remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly(
            "Line 1 begins with a byte order mark (U+FEFF). Spark takes it as part of the first"
                + " key, so that the key has no effect.");
  }

  @Test
  void shouldNameTheFirstLinesOfMany() throws IOException {
    assertThat(read("spark.a 1\n".repeat(49)).remarks())
        .extracting(SettingsFile.Remark::text)
        .containsExactly(
            "spark.a is set 49 times, in lines 1, 2, 3, 4, 5, ... (49 in all); the last one counts.");
  }

  @Test
  void shouldRefuseAFileThatIsTooLargeForSettings() throws IOException {
    Path huge = directory.resolve("huge");
    try (RandomAccessFile file = new RandomAccessFile(huge.toFile(), "rw")) {
      file.setLength(3L << 30);
    }
    assertThatThrownBy(() -> SettingsFile.read(huge))
        .isInstanceOf(IOException.class)
        .hasMessage("it has more than 16 MiB, so it is no file of settings");
  }

  @Test
  void shouldNameTheLineOfAWrongEscape() {
    assertThatThrownBy(() -> read("spark.a 1\nspark.b \\u00g1\n"))
        .isInstanceOf(IOException.class)
        .hasMessage("line 2: Malformed \\uxxxx encoding.");
  }

  @Test
  void shouldRefuseANamedPipeWithoutWaitingForAWriter() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () ->
            assertThatThrownBy(() -> SettingsFile.read(pipe))
                .isInstanceOf(IOException.class)
                .hasMessage("it is neither a regular file nor /dev/stdin or /dev/fd/NUMBER"));
    assertThatThrownBy(() -> SettingsFile.read(Path.of("/dev/null")))
        .hasMessageContaining("neither a regular file");
  }

  private SettingsFile read(String text) throws IOException {
    return SettingsFile.read(Files.writeString(directory.resolve("c"), text));
  }
}
