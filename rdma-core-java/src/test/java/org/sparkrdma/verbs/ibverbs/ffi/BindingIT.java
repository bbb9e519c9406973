// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.leak.LeakRecord;

/** Calls of C in the packaged jar, on each Java version. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BindingIT {
  private static final int ENOENT = 2;
  private static final int LENGTH = 1 << 16;

  @TempDir private Path directory;

  @Test
  void shouldReportTheErrnoOfAFailedCall() throws Exception {
    try (NativeArena arena = new NativeArena()) {
      long function = Symbols.ofC().get("chdir");
      long path = arena.allocate("/no/such/directory".getBytes(StandardCharsets.UTF_8), 1);

      assertThat(SetUpCalls.callInt(function, path)).isEqualTo(-1);
      Thread other = new Thread(() -> Libc.setNonBlocking(-1));
      other.start();
      other.join();
      assertThat(SetUpCalls.errno()).as("of this thread").isEqualTo(ENOENT);
    }
  }

  @Test
  void shouldCallWithEveryNumberOfArguments() {
    try (NativeArena arena = new NativeArena()) {
      long text = arena.allocate(64);
      long format = arena.allocate("%ld %ld %ld".getBytes(StandardCharsets.UTF_8), 1);
      Symbols libc = Symbols.ofC();

      assertThat(SetUpCalls.callInt(libc.get("getpagesize"))).isEqualTo(Libc.pageBytes());
      assertThat(SetUpCalls.call(libc.get("labs"), Long.MIN_VALUE + 1)).isEqualTo(Long.MAX_VALUE);
      assertThat(SetUpCalls.call(libc.get("strchr"), format, 'l')).isEqualTo(format + 1);
      assertThat(Native.callThree(libc.get("memset"), text, 'x', 3)).isEqualTo((int) text);
      assertThat(Native.string(text)).isEqualTo("xxx");
      assertThat(SetUpCalls.callInt(libc.get("snprintf"), text, 64, format, 1, -1L << 40, 7))
          .isEqualTo(Native.string(text).length());
      assertThat(Native.string(text)).isEqualTo("1 -1099511627776 7");
      long wider = arena.allocate("%ld %ld %ld %ld".getBytes(StandardCharsets.UTF_8), 1);
      assertThat(
              SetUpCalls.callInt(libc.get("snprintf"), text, 64, wider, 1, -1L << 40, 7, 1L << 40))
          .isEqualTo(Native.string(text).length());
      assertThat(Native.string(text)).isEqualTo("1 -1099511627776 7 1099511627776");
      assertThat(Native.pollCq(libc.get("memcmp"), text, (int) text, 0)).isZero();
    }
  }

  @Test
  void shouldSetAVariableOfTheEnvironmentUnlessItIsSet() {
    try (NativeArena arena = new NativeArena()) {
      String name = "SPARKRDMA_BINDING_IT";
      long getenv = Symbols.ofC().get("getenv");
      long nameAt = arena.allocate(name.getBytes(StandardCharsets.UTF_8), 1);
      assertThat(SetUpCalls.call(getenv, nameAt)).isZero();

      Libc.setEnvironment(name, "first");
      Libc.setEnvironment(name, "second");

      assertThat(Native.string(SetUpCalls.call(getenv, nameAt))).isEqualTo("first");
    }
  }

  @Test
  void shouldNameTheMissingFunction() {
    assertThatThrownBy(() -> Symbols.ofC().get("no_such_function"))
        .isInstanceOf(LinkageError.class)
        .hasMessageContaining("no_such_function");
    assertThat(Symbols.ofC().findOrZero("no_such_function")).isZero();
    assertThatThrownBy(() -> Symbols.open("libnosuchlibrary.so.1"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldMapAFile() throws Exception {
    Path file = directory.resolve("äfile");
    byte[] bytes = new byte[3 * Libc.pageBytes()];
    bytes[Libc.pageBytes() + 5] = 7;
    Files.write(file, bytes);
    int fd = Libc.openFile(file, true);
    assertThat(Libc.fileBytes(fd)).isEqualTo(bytes.length);

    long address = Libc.mapFile(fd, Libc.pageBytes(), Libc.pageBytes(), true);
    Libc.close(fd);

    assertThat(Native.getByte(address + 5)).isEqualTo(7);
    Native.putByte(address, 9);
    Libc.unmap(address, Libc.pageBytes());
    assertThat(Libc.openFile(directory.resolve("missing"), true)).as("ENOENT").isEqualTo(-2);
    assertThat(Files.readAllBytes(file)[Libc.pageBytes()]).isEqualTo((byte) 9);
  }

  @Test
  void shouldAskForHugePagesAndKeepThemFromChildren() throws Exception {
    long length = (4L << 20) + 4096;
    long address = Libc.map(length);
    try {
      assertThat(Native.getLong(address + length - 8)).isZero();
      // Huge pages are wanted, and child processes have no copy, see proc_pid_smaps(5).
      String flags = flagsOf(address);
      assertThat(flags).contains(" dc");
      if (Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage"))) {
        assertThat(flags).contains(" hg");
      }
    } finally {
      Libc.unmap(address, length);
    }
  }

  /** Flags of the mapping that has the address; the kernel may join neighbours with equal flags. */
  private static String flagsOf(long address) throws IOException {
    boolean found = false;
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        String[] range = line.split("[- ]", 3);
        found =
            Long.parseUnsignedLong(range[0], 16) <= address
                && Long.parseUnsignedLong(range[1], 16) > address;
      } else if (found && line.startsWith("VmFlags:")) {
        return line;
      }
    }
    throw new AssertionError("no mapping of the address");
  }

  @Test
  void shouldNeverFaultWhenABufferIsUsedAfterClose() {
    AddressRange range = new AddressRange(Libc.map(LENGTH), LENGTH);
    ByteBuffer slice = range.slice(0, LENGTH).put(0, (byte) 7);
    range.close();
    range.close();

    assertThatThrownBy(() -> range.slice(0, 1)).isInstanceOf(IllegalStateException.class);
    assertThat(slice.get(0)).isZero();
  }

  @Test
  void shouldKeepAnAbandonedRangeForItsBuffers() {
    AddressRange range = new AddressRange(Libc.map(LENGTH), LENGTH);
    ByteBuffer slice = range.slice(0, LENGTH).put(0, (byte) 7);

    range.abandon();

    assertThat(slice.get(0)).isEqualTo((byte) 7);
  }

  @Test
  void shouldReportAnArenaThatIsNotClosed() {
    int before = LeakRecord.outstanding().size();
    NativeArena arena = new NativeArena();
    arena.allocate(1);
    assertThat(LeakRecord.outstanding()).hasSize(before + 1);

    arena.close();
    arena.close();

    assertThat(LeakRecord.outstanding()).hasSize(before);
  }
}
