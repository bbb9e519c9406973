// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.StubDevice;
import org.sparkrdma.verbs.VerbsException;

class WritePinsTest {
  @TempDir private Path root;
  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "6.1.192, nfs4, true",
    "6.1.0-44-amd64, nfs, true",
    "5.14.0-570.el9.x86_64, nfs4, true",
    "6.2.0, nfs4, false",
    "6.12.117, nfs4, false",
    "10.0.1, nfs4, false",
    "7.0, nfs, false",
    "6.1.192, ext4, true",
    "5.15.0-91-generic, overlay, true",
    "6.2.0, ext4, false",
    "6.1.192, tmpfs, false",
    "6.1.192, ramfs, false",
    "unknown, nfs4, false"
  })
  void shouldObjectToDisksOnKernelsThatPinForWriting(
      String release, String fileSystem, boolean expected) throws IOException {
    WritePins pins = pins(null, release, "22 1 0:18 / / rw - " + fileSystem + " server:/export rw");
    assertThat(pins.objection(Path.of("/data")).isPresent()).isEqualTo(expected);
  }

  @Test
  void shouldFindNfsBelowAnAutomount() throws IOException {
    WritePins pins =
        pins(
            null,
            "6.1.192",
            "22 1 0:18 / / rw - tmpfs none rw",
            "30 22 0:40 / /shared rw - autofs systemd-1 rw,fd=50",
            "31 30 0:41 / /shared rw - nfs4 server:/export rw,vers=4.2");
    assertThat(pins.objection(Path.of("/shared/b")).orElseThrow())
        .startsWith("Linux 6.1.192 would write registered files of nfs4 again, by its version");
    assertThat(pins.objection(Path.of("/shares"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/a\\040b, /a b",
    "/a\\011b, '/a\tb'",
    "/a\\012b, '/a\nb'",
    "/a\\134b, /a\\b",
    "/a\\134040b, /a\\040b",
    "/\u00c3\u00a9, /\u00e9"
  })
  void shouldDecodeThePathsOfMounts(String written, String path) throws IOException {
    WritePins pins =
        pins(null, "6.1.192", "31 22 0:41 / " + written + " rw - nfs server:/export rw");
    assertThat(pins.objection(Path.of(path, "c"))).isPresent();
  }

  /** Vendors change older kernels, and a newer one might go back. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 5.14.0-570.el9.x86_64, ext4, false",
    "14, 0, 5.14.0-570.el9.x86_64, ext4, true",
    "14, 0, 6.12.117, overlay, true",
    "0, 0, 6.12.117, xfs, false",
    // Any other answer leaves it to the version.
    "14, 14, 6.12.117, fuse, false",
    "14, 14, 6.1.192, fuse, true",
    "95, 95, 6.12.117, ext4, false",
    "12, 0, 6.1.192, ext4, true",
    // A mapping that can be written is not tried on NFS.
    "14, 0, 6.12.117, nfs4, false",
    "14, 0, 6.1.192, nfs4, true",
    "0, 0, 6.1.192, nfs4, false"
  })
  void shouldBelieveATrialMoreThanTheVersion(
      int readOnly, int writable, String release, String type, boolean expected)
      throws IOException {
    Trials domain = new Trials(readOnly, writable);
    WritePins pins = pins(domain, release, "22 1 0:18 / / rw - " + type + " /dev/sda1 rw");
    assertThat(pins.objection(directory).isPresent()).isEqualTo(expected);
    pins.objection(directory);
    assertThat(domain.calls.get(0)).isEqualTo("read-only");
    assertThat(domain.calls).doesNotHaveDuplicates();
    assertThat(directory).isEmptyDirectory();
    if (type.startsWith("nfs")) {
      assertThat(domain.calls).hasSize(1);
    }
  }

  @Test
  void shouldTryTheNextDirectoryWhereFilesCannotBeWrittenInTheFirst() throws IOException {
    Trials domain = new Trials(0, 0);
    WritePins pins = pins(domain, "5.14.0-570.el9.x86_64", "22 1 0:18 / / rw - xfs /dev/sda1 rw");
    Path missing = directory.resolve("missing");
    assertThat(pins.objection(missing).orElseThrow())
        .contains(", by its version: no file can be written: ");
    assertThat(pins.permission(missing)).isEmpty();
    assertThat(pins.objection(directory)).isEmpty();
    assertThat(pins.permission(directory))
        .contains(
            "Linux 5.14.0-570.el9.x86_64 does not write registered files of xfs again, as a trial"
                + " shows");
  }

  @Test
  void shouldSayWhatWasTried() throws IOException {
    WritePins pins = pins(new Trials(14, 0), "6.12.117", "22 1 0:18 / / rw - ext4 /dev/sda1 rw");
    assertThat(pins.objection(directory))
        .contains(
            "Linux 6.12.117 would write registered files of ext4 again, as a trial shows: refused by"
                + " the test");
    assertThat(pins.permission(directory)).isEmpty();
  }

  @Test
  void shouldTryNothingInMemory() throws IOException {
    Trials domain = new Trials(14, 0);
    assertThat(pins(domain, "6.1.192", "22 1 0:18 / / rw - tmpfs none rw").objection(directory))
        .isEmpty();
    assertThat(domain.calls).isEmpty();
  }

  /** Answers of a device, as errno; 0 for success. */
  private static final class Trials implements ProtectionDomain {
    private final int readOnly;
    private final int writable;
    private final List<String> calls = new ArrayList<>();

    Trials(int readOnly, int writable) {
      this.readOnly = readOnly;
      this.writable = writable;
    }

    private void answer(String call, int errno) throws VerbsException {
      calls.add(call);
      if (errno != 0) {
        throw new VerbsException("ibv_reg_mr", errno, "refused by the test", null);
      }
    }

    @Override
    public boolean testReadOnlyFile(Path file, long lengthBytes) throws VerbsException {
      answer("read-only", readOnly);
      return true;
    }

    @Override
    public MemoryRegion registerFile(
        Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
      answer("writable", writable);
      return new StubDevice().registerFile(file, offset, lengthBytes, access);
    }

    @Override
    public MemoryRegion register(
        HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  /**
   * @param domain null for one of an engine that cannot try
   */
  private WritePins pins(ProtectionDomain domain, String release, String... mounts)
      throws IOException {
    write("proc/sys/kernel/osrelease", release + "\n");
    String text = String.join("\n", mounts) + "\n";
    Path file = root.resolve("proc/self/mountinfo");
    Files.createDirectories(file.getParent());
    Files.write(file, text.getBytes(StandardCharsets.ISO_8859_1));
    return WritePins.of(new SystemFiles(root), domain == null ? new StubDevice() : domain);
  }

  private void write(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), text);
  }
}
