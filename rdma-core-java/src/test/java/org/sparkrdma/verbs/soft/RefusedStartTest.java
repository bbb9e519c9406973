// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.faults.RefusingThreads;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.spi.EngineSettings;

/** A device that is not opened is tried again each minute. */
class RefusedStartTest {
  @TempDir private Path directory;

  private SoftDevice open(ThreadFactory threads) throws Exception {
    SoftSettings settings =
        SoftSettings.of(EngineSettings.of(Map.of("soft.directory", directory.toString())));
    return SoftDevice.open(settings, HostIdentity.self(), true, threads, device -> {});
  }

  private List<Path> files() throws Exception {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> !Files.isDirectory(file)).toList();
    }
  }

  @Test
  void shouldLeaveNothingWhenTheSystemRefusesTheThread() throws Exception {
    long open = descriptors();
    for (int i = 0; i < 20; i++) {
      assertThatThrownBy(() -> open(new RefusingThreads(0))).isInstanceOf(OutOfMemoryError.class);
    }
    assertThat(files()).isEmpty();
    assertThat(descriptors()).as("file descriptors").isLessThan(open + 20);
    try (SoftDevice device = open(Thread::new)) {
      assertThat(device.info().name()).isEqualTo(SoftDevice.NAME);
      assertThat(files()).isNotEmpty();
    }
    assertThat(files()).isEmpty();
  }

  private static long descriptors() throws Exception {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }
}
