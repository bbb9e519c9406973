// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Threads that may be created on a task's thread, in a process that has no others yet. */
@Timeout(60)
class SessionLoaderTest {
  @Test
  void shouldKeepTheClassLoaderOfASessionInNoThread() throws Exception {
    Process process =
        new ProcessBuilder(JvmCommand.of(Task.class, List.of())).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output)
        .contains("other threads: [")
        .contains("CompletableFutureDelayScheduler", "rdma-control")
        .contains("with the loader: []");
  }

  /** The process. */
  static final class Task {
    private Task() {}

    public static void main(String[] args) throws Exception {
      URLClassLoader session = new URLClassLoader(new URL[0]);
      Thread.currentThread().setContextClassLoader(session);
      ControlThread control = new ControlThread();
      control.start();
      try (DirectoryClient client = new ScriptedDriver().client(control)) {
        client.find("7").join();
        List<Thread> others =
            Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread != Thread.currentThread())
                .toList();
        System.out.println("other threads: " + names(others));
        System.out.println(
            "with the loader: "
                + names(
                    others.stream()
                        .filter(thread -> thread.getContextClassLoader() == session)
                        .toList()));
      }
      control.shutdownNow();
    }

    private static List<String> names(List<Thread> threads) {
      return threads.stream().map(Thread::getName).toList();
    }
  }
}
