// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.PeerProcess;
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Ownership, permissions and removal of the engine's files. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SharedDirectoryTest {
  private static final Set<AccessFlag> REMOTE_READ = Set.of(AccessFlag.REMOTE_READ);

  /** Above the largest process id of Linux. */
  private static final int NO_PROCESS = (1 << 22) + 1;

  @TempDir Path base;
  @TempDir Path data;
  private Path user;

  @BeforeEach
  void nameTheUsersDirectory() throws IOException {
    user = base.resolve("sparkrdma-soft-" + HostIdentity.self().userId());
  }

  private VerbsEngine load() throws VerbsException {
    return new SoftProvider().load(EngineSettings.of(Map.of("soft.directory", base.toString())));
  }

  private EngineUnderTest underTest() {
    return new EngineUnderTest(
        "soft",
        Map.of("soft.directory", base.toString()),
        java.net.InetAddress.getLoopbackAddress(),
        null,
        user,
        Map.of(),
        1,
        Deviation.OF_SOFT);
  }

  private static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void shouldKeepItsFilesPrivateAndRemoveThemAtClose() throws Exception {
    try (VerbsEngine engine = load();
        Device device = engine.open("soft0")) {
      device.allocate(1000);
      Path directory = list(user).get(0);
      assertThat(mode(user)).isEqualTo("rwx------");
      assertThat(mode(directory)).isEqualTo("rwx------");
      assertThat(list(directory)).hasSize(3);
      for (Path file : list(directory)) {
        assertThat(mode(file)).isEqualTo("rw-------");
      }
    }
    assertThat(list(user)).isEmpty();
  }

  @Test
  void shouldRefuseADirectoryThatIsOpenToOthers() throws Exception {
    Files.createDirectory(user);
    Files.setPosixFilePermissions(user, PosixFilePermissions.fromString("rwxrwxrwx"));
    try (VerbsEngine engine = load()) {
      assertThatThrownBy(() -> engine.open("soft0"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("not private")
          .hasMessageContaining("rwxrwxrwx");
    }
  }

  @Test
  void shouldRefuseASymbolicLinkInPlaceOfItsDirectory() throws Exception {
    Files.createSymbolicLink(user, data);
    try (VerbsEngine engine = load()) {
      assertThatThrownBy(() -> engine.open("soft0"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("not private");
    }
  }

  @Test
  void shouldRefuseAPeersDirectoryThatIsNotPrivate() throws Exception {
    HostIdentity host = HostIdentity.self();
    try (var mine = SharedDirectory.create(base, host, ProcessIdentity.self());
        var peers = SharedDirectory.create(base, host, ProcessIdentity.self())) {
      assertThatThrownBy(() -> mine.peer(peers.name())).hasMessageContaining("table");
      Path table = Files.write(peers.path().resolve("table"), new byte[10]);
      Files.setPosixFilePermissions(table, PosixFilePermissions.fromString("rw-r--r--"));
      assertThatThrownBy(() -> mine.peer(peers.name())).hasMessageContaining("rw-r--r--");
      Files.setPosixFilePermissions(table, PosixFilePermissions.fromString("rw-------"));
      assertThat(mine.peer(peers.name())).isEqualTo(peers.path());
      Files.setPosixFilePermissions(peers.path(), PosixFilePermissions.fromString("rwxr-x---"));
      assertThatThrownBy(() -> mine.peer(peers.name())).hasMessageContaining("rwxr-x---");
    }
  }

  @Test
  void shouldRefuseNamesOutsideTheDirectory() throws Exception {
    try (var mine = SharedDirectory.create(base, HostIdentity.self(), ProcessIdentity.self())) {
      for (String name :
          List.of(
              "..",
              "../x",
              "",
              "1-2",
              "1-2-0123456789abcdef/..",
              "99999999999-1-0123456789abcdef")) {
        assertThatThrownBy(() -> mine.peer(name))
            .as(name)
            .hasMessageContaining("not the name of a shared directory");
      }
    }
  }

  @Test
  void shouldRemoveOnlyTheFilesOfAKilledProcess() throws Exception {
    Path file = Files.write(data.resolve("map.data"), new byte[1000]);
    Path stranger = Files.createDirectories(user.resolve("something else"));
    Files.setPosixFilePermissions(user, PosixFilePermissions.fromString("rwx------"));
    try (VerbsEngine engine = load();
        Device living = engine.open("soft0")) {
      living.allocate(1000);
      try (PeerProcess peer = PeerProcess.start(underTest(), Map.of())) {
        peer.memory(1000, 1);
        peer.file(file, 0, 1000);
        assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(2);
        assertThat(list(user)).hasSize(3);
        peer.kill();
      }
      assertThat(list(user)).hasSize(3);
      try (Device next = engine.open("soft0")) {
        assertThat(next.info().name()).isEqualTo("soft0");
        assertThat(list(user)).hasSize(3).contains(stranger);
      }
      assertThat(list(user)).hasSize(2).contains(stranger);
      assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);
      assertThat(Files.isRegularFile(file)).isTrue();
    }
  }

  /** Opens files until it can open no more, then prints whether it counts as alive. */
  static final class WithoutDescriptors {
    public static void main(String[] args) throws IOException {
      ProcessIdentity self = ProcessIdentity.self();
      assertThat(self.isAlive()).isTrue();
      List<FileChannel> open = new ArrayList<>();
      try {
        for (int i = 0; i < 10_000; i++) {
          open.add(FileChannel.open(Path.of("/dev/null")));
        }
      } catch (IOException tooManyOpenFiles) {
        System.out.println("alive=" + self.isAlive() + " " + tooManyOpenFiles.getMessage());
      }
    }
  }

  @Test
  void shouldNotTakeAMissingDescriptorForTheDeathOfAProcess() throws Exception {
    Process process =
        PeerProcess.java(
            List.of("sh", "-c", "ulimit -n 100; exec \"$@\"", "sh"),
            WithoutDescriptors.class,
            List.of());
    assertThat(process.inputReader().lines())
        .containsExactly("alive=true /dev/null: Too many open files");
  }

  /** Containers of one user may share /dev/shm. */
  @Test
  void shouldRemoveTheFilesOfAnotherPidNamespaceOnlyWhenTheirOwnerHasEnded() throws Exception {
    String unshare = "unshare --map-current-user --pid --mount-proc --fork --kill-child ";
    assumeTrue(
        new ProcessBuilder("sh", "-c", unshare + "true").start().onExit().join().exitValue() == 0,
        "users may make no PID namespace here");
    try (VerbsEngine engine = load()) {
      engine.open("soft0");
      engine.open("soft0");
      List<Path> own = list(user);
      try (PeerProcess peer =
          PeerProcess.start(List.of(unshare.split(" ")), underTest(), Map.of())) {
        assertThat(list(user)).as("removed by the other namespace").containsAll(own).hasSize(3);
        engine.open("soft0").close();
        assertThat(list(user)).as("removed by this namespace").containsAll(own).hasSize(3);
        peer.kill();
      }
      // The kernel ends the other process of the namespace a little later; the test's limit bounds
      // it.
      while (list(user).size() > 2) {
        engine.open("soft0").close();
      }
      assertThat(list(user)).containsAll(own);
    }
  }

  @Test
  void shouldRemoveItsFilesOnSigterm() throws Exception {
    Path file = Files.write(data.resolve("map.data"), new byte[1000]);
    try (PeerProcess peer = PeerProcess.start(underTest(), Map.of())) {
      peer.memory(1000, 1);
      peer.file(file, 0, 1000);
      peer.terminate();
    }
    assertThat(list(user)).isEmpty();
    assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);
  }

  @Test
  void shouldLinkAFileOnceForAllItsWindows() throws Exception {
    Path file = Files.write(data.resolve("map.data"), new byte[1000]);
    try (VerbsEngine engine = load();
        Device device = engine.open("soft0");
        var domain = device.allocateProtectionDomain()) {
      var first = domain.registerFile(file, 0, 500, REMOTE_READ);
      var second = domain.registerFile(file, 500, 500, REMOTE_READ);
      assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(2);
      first.close();
      assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(2);
      second.close();
      assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);
    }
  }

  /** Devices that are opened together find the same leftovers, and each of them opens. */
  @Test
  void shouldOpenWhileOthersRemoveTheSameLeftovers() throws Exception {
    try (VerbsEngine engine = load();
        Device first = engine.open("soft0")) {
      assertThat(first.info().name()).isEqualTo("soft0");
      var threads = java.util.concurrent.Executors.newFixedThreadPool(4);
      for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 5; i++) {
          Path leftover = privateDirectory(user, new ProcessIdentity(NO_PROCESS, 1));
          Files.write(leftover.resolve("f0"), new byte[1]);
          Files.write(leftover.resolve("table"), new byte[1]);
        }
        var opened =
            threads.invokeAll(
                java.util.Collections.<java.util.concurrent.Callable<Device>>nCopies(
                    4, () -> engine.open("soft0")));
        for (var device : opened) {
          device.get().close();
        }
      }
      threads.shutdown();
      assertThat(list(user)).hasSize(1);
    }
  }

  @Test
  void shouldNotTakeTheLossOfItsDirectoryForAWantOfMemory() throws Exception {
    try (VerbsEngine engine = load();
        Device device = engine.open("soft0")) {
      Path directory = list(user).get(0);
      Path moved = Files.move(directory, data.resolve("moved"));
      assertThatThrownBy(() -> device.allocate(1000))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.NO_ERRNO));
      Files.move(moved, directory);
    }
  }

  @Test
  void shouldRemoveWhatAProcessHasLeftThatWasKilledBeforeItNamedItsDirectory() throws Exception {
    var killed = new ProcessIdentity(NO_PROCESS, 1);
    try (var mine = SharedDirectory.create(base, HostIdentity.self(), ProcessIdentity.self())) {
      Path fresh = Files.createDirectory(user.resolve("new-" + SharedDirectory.newName(killed)));
      Path locked = Files.createDirectory(user.resolve("new-" + SharedDirectory.newName(killed)));
      Files.write(locked.resolve("lock"), new byte[0]);
      Path empty = Files.createDirectory(user.resolve("new-" + SharedDirectory.newName(killed)));
      for (Path old : List.of(locked, empty)) {
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
      }
      SharedDirectory.create(base, HostIdentity.self(), ProcessIdentity.self()).close();
      assertThat(list(user)).containsExactlyInAnyOrder(mine.path(), fresh);
    }
  }

  private static Path privateDirectory(Path parent, ProcessIdentity owner) throws IOException {
    Path directory = Files.createDirectory(parent.resolve(SharedDirectory.newName(owner)));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    return directory;
  }

  @Test
  void shouldFollowNoLinkOutOfItsDirectories() throws Exception {
    Path precious = Files.write(data.resolve("precious"), new byte[10]);
    HostIdentity host = HostIdentity.self();
    try (var mine = SharedDirectory.create(base, host, ProcessIdentity.self())) {
      Files.createSymbolicLink(mine.path().resolve("f0"), precious);
    }
    assertThat(Files.exists(precious)).isTrue();
    assertThat(list(user)).isEmpty();
  }
}
