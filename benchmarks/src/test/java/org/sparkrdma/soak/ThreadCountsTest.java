// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThreadCountsTest {
  @TempDir private Path tasks;

  @Test
  void shouldCountSparksStoragePoolApart() throws Exception {
    List<String> names =
        List.of(
            "java",
            "block-manager-s",
            "block-manager-a",
            "block-manager-f",
            "block-manager-s",
            "rdma-tcp-fallba",
            "block-manager-s");
    for (int i = 0; i < names.size(); i++) {
      name(Files.createDirectory(tasks.resolve(Integer.toString(100 + i))), names.get(i));
    }
    assertThat(ThreadCounts.of(tasks)).isEqualTo(new ThreadCounts(3, 4));
  }

  @Test
  void shouldLeaveOutAThreadThatEndsMeanwhile() throws Exception {
    Files.createDirectory(tasks.resolve("100"));
    name(Files.createDirectory(tasks.resolve("101")), "rdma-agent-1");
    assertThat(ThreadCounts.of(tasks)).isEqualTo(new ThreadCounts(0, 1));
  }

  @Test
  void shouldThrowWhenTheProcessHasEnded() {
    assertThatThrownBy(() -> ThreadCounts.of(tasks.resolve("gone")))
        .isInstanceOf(IOException.class);
  }

  @Test
  void shouldRecogniseAThreadOfThatPoolByItsNameInTheKernel() throws Exception {
    ThreadCounts before = ThreadCounts.of(Path.of("/proc/self/task"));
    ThreadCounts[] during = new ThreadCounts[1];
    Thread thread =
        new Thread(
            () -> during[0] = own(), "block-manager-storage-async-thread-pool-" + before.storage());
    thread.start();
    thread.join();
    assertThat(during[0].storage()).isEqualTo(before.storage() + 1);
  }

  private static ThreadCounts own() {
    try {
      return ThreadCounts.of(Path.of("/proc/self/task"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void name(Path thread, String name) throws IOException {
    Files.writeString(thread.resolve("comm"), name + "\n");
  }
}
