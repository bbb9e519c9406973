// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Scripts stand in for jcmd. */
@Timeout(60)
class JcmdTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  @TempDir private Path javaHome;

  @Test
  void shouldAskTheJvmForItsSummary() throws Exception {
    Path arguments = javaHome.resolve("arguments");
    Path text = javaHome.resolve("text");
    Files.writeString(text, NativeMemorySummaryTest.recorded("native-memory-jdk17.txt"));
    script("echo \"$*\" >'%s'\ncat '%s'".formatted(arguments, text));

    assertThat(new Jcmd(javaHome, LONG).committedMib(4_711)).containsEntry("Code", 7_586 / 1024.0);
    assertThat(arguments).hasContent("4711 VM.native_memory summary scale=KB");
  }

  @Test
  void shouldGiveTheFirstLineOfAFailure() throws Exception {
    script("echo 4711:\necho 'AttachNotSupportedException: no' >&2\necho at x >&2\nexit 1");

    assertThatThrownBy(() -> new Jcmd(javaHome, LONG).committedMib(4_711))
        .isInstanceOf(IOException.class)
        .hasMessage("AttachNotSupportedException: no");
  }

  @Test
  void shouldNotTakeTheOutputOfAFailureForAnAccount() throws Exception {
    script("echo 'lost the JVM'\necho '- Code (reserved=9KB, committed=8KB)'\nexit 1");

    assertThatThrownBy(() -> new Jcmd(javaHome, LONG).committedMib(4_711))
        .isInstanceOf(IOException.class)
        .hasMessage("lost the JVM");
  }

  @Test
  void shouldEndACommandThatHangs() throws Exception {
    Path pid = javaHome.resolve("pid");
    script("echo $$ >'%s'\nexec tail -f /dev/null".formatted(pid));

    assertThatThrownBy(() -> new Jcmd(javaHome, Duration.ofSeconds(5)).committedMib(4_711))
        .isInstanceOf(IOException.class)
        .hasMessage("jcmd did not end within 5.0 s");
    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(hanging -> assertThat(hanging.onExit()).succeedsWithin(LONG));
  }

  @Test
  void shouldThrowWhenTheJavaHomeHasNoJcmd() {
    assertThatThrownBy(() -> new Jcmd(javaHome, LONG).committedMib(4_711))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("bin/jcmd");
  }

  private void script(String commands) throws IOException {
    Path jcmd = Files.createDirectory(javaHome.resolve("bin")).resolve("jcmd");
    Files.writeString(jcmd, "#!/bin/sh\n" + commands + "\n");
    Files.setPosixFilePermissions(jcmd, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
